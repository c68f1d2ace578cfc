// The fit of a rotation to an answer: measured tables with error bars. The names are given
// elsewhere (positions.h, frequencies.h, rotation.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "oracle/rope/measured/angles.h"
#include "oracle/rope/measured/frequencies.h"
#include "oracle/rope/measured/layout.h"
#include "oracle/rope/measured/positions.h"

namespace sextant::oracle {

// The fits of pairs at tokens, and the index in [B,S] of each token.
struct TokenFits {
  PairFits fits;
  std::vector<size_t> token_of;
};

// An answer of an operation that rotates, in the form that all of them share.
struct RotaryQuestion {
  const Observation& seen;
  RotaryModel right;
  Positions positions;                    // [axes, B S]
  size_t length = 0;                      // S
  size_t heads = 1;                       // that turn by the angles of the same tokens
  bool is_configured = true;              // false: the frequencies are an input
  const Tensor<double>* given = nullptr;  // that input
  // False: `seen` is a part of a larger answer, with which no hypothesis can be compared.
  bool is_whole_answer = true;
  std::function<std::vector<Layout>()> layouts;  // the possible ones
  // All pairs of a layout; empty if some pair does not rotate.
  std::function<std::optional<TokenFits>(const RotaryModel&)> fits;
  // The same of the first or the second channels alone; null: they cannot differ.
  std::function<std::optional<TokenFits>(const RotaryModel&, ChannelSums)> fits_of_sums{};
  std::function<Hypothesis(const RotaryModel&, const Positions&)> hypothesis;
};

// One wrong factor.
struct Part {
  std::string name, sentence;
  bool is_gain = false;
};

// A model with the parts that differ from the right one.
struct RotaryCandidate {
  std::vector<Part> parts;
  RotaryModel model;
  Positions positions;  // [axes, B S]
};

// The measured angles of one layout, and what they say about the rest of a candidate.
class RotaryFit {
 public:
  // `token_of`: the index in [B,S] of each measured token.
  RotaryFit(const RotaryQuestion& question, Angles angles, std::vector<size_t> token_of)
      : question_(question), angles_(std::move(angles)), token_of_(std::move(token_of)) {}

  RotaryFit(const RotaryFit& other, Angles angles)
      : RotaryFit(other.question_, std::move(angles), other.token_of_) {}

  const Angles& angles() const { return angles_; }
  const std::vector<size_t>& token_of() const { return token_of_; }
  const RotaryQuestion& question() const { return question_; }
  const RotaryModel& right() const { return question_.get().right; }
  FrequencyList ListOf(const RotaryModel& model) const;
  double GainOf(const RotaryModel& model) const;
  // The gains of cos and of sin, if all angles of the candidate are right; empty if there is no
  // such gain.
  std::pair<LongRange, LongRange> GainsOfBoth(const RotaryCandidate& candidate) const;
  // The positions of the measured tokens, from those of all tokens.
  Positions Measured(const Positions& positions) const;
  std::vector<size_t> AllTokens() const;
  // The most tokens, those with the smallest positions, whose angles are those of some frequencies.
  std::vector<size_t> NearestTokens(const RotaryCandidate& start) const;

  // True if every pair has a frequency that fits its angles at some tokens.
  bool HaveFrequencies(const RotaryCandidate& start, const std::vector<size_t>& tokens) const;
  // True if the candidate gives all angles.
  bool FitsAll(const RotaryCandidate& candidate) const;
  // The positions of an axis, if the frequencies of the candidate are right.
  MeasuredPositions PositionsSeen(const RotaryCandidate& start, size_t axis) const;
  // Those of all axes, one after the other, as if each were further sequences of the batch.
  MeasuredPositions PositionsSeen(const RotaryCandidate& start) const;
  // The frequencies, if the positions of the candidate are right at these tokens, or
  // (`from_differences`) if they all have the same error. Refers to this object.
  MeasuredFrequencies FrequenciesSeen(const RotaryCandidate& start,
                                      const std::vector<size_t>& tokens,
                                      bool from_differences) const;

 private:
  // The frequencies of each pair that fit its angles at some tokens.
  std::vector<LongRange> FrequencyRangesOf(size_t pair, const RotaryCandidate& start,
                                           const FrequencyList& list,
                                           const std::vector<size_t>& tokens,
                                           bool from_differences) const;
  std::vector<std::vector<LongRange>> FrequencyRanges(const RotaryCandidate& start,
                                                      const std::vector<size_t>& tokens,
                                                      bool from_differences) const;
  // Bits of information in the angles of a token, on average.
  double Bits(const RotaryModel& model, size_t axis) const;

  std::reference_wrapper<const RotaryQuestion> question_;
  Angles angles_;
  std::vector<size_t> token_of_;
};

}  // namespace sextant::oracle
