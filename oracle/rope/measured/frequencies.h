// Names for wrong frequencies: the frequency of a pair as a function of its index.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/rope/measured/angles.h"

namespace sextant::oracle {

// What was measured.
struct MeasuredFrequencies {
  RotaryModel right;
  FrequencyList right_list;
  bool is_configured = true;  // the case has a base; else the frequencies are given
  // The frequency of each pair; empty if several fit.
  std::vector<std::optional<LongRange>> of_pair;
  // All that fit, because angles are only known modulo 2 pi; empty if they are too many.
  std::vector<std::vector<LongRange>> possible;
  long double most = kInfinity;  // larger frequencies were not looked for
  size_t explained = 0;          // pairs of which something else is known: they do not count
  std::function<FrequencyList(const RotaryModel&)> list_of;
  std::function<bool(const RotaryModel&)> fits;  // all angles
  // The numbers in a range that give all angles if they multiply the right frequencies.
  std::function<std::vector<LongRange>(const LongRange&)> factors = [](const LongRange& range) {
    return std::vector{range};
  };

  // True if the frequencies of the model are those measured.
  bool Agrees(const FrequencyList& list) const;
  // True if the angles of the pair differ from those of a pair that does not turn.
  bool IsMeasurable(size_t pair) const;
  // How far rounding to bf16, the coarsest format, may change a ratio: it rounds the frequency, and
  // the exponent x of base^-x, x <= 1. Less is a matter of the recipe.
  long double Coarseness() const;
  // measured / right.
  LongRange RatioOf(size_t pair) const;
  // " (41 of 64 pairs are measurable at these positions)"; empty if all are.
  std::string MeasurableText() const;
  // ", as by the exponents (2k - 2)/32 and a factor of 0.5": an index that is shifted changes all
  // frequencies by the same ratio. Empty if the ratio is a plain number, or no such one.
  std::string ShiftedText(const LongRange& ratio) const;
  // False if base^-((2k + shift) / n) are other frequencies. Without scaling, they are compared in
  // double, whose pow is accurate to 2^-20 by far; with it, only widths that come from the case may
  // be exponents.
  bool MayBeExponent(int64_t shift, int64_t n) const;
};

struct FrequencyForm {
  std::string name, sentence;
  RotaryModel model;
};

// The simplest functions that give the frequency of every pair: several if they are equally
// simple. Empty if there is none.
std::vector<FrequencyForm> NameFrequencies(const MeasuredFrequencies& seen);

// The same of the pairs that turn, if some that should turn do not.
std::vector<FrequencyForm> NameTurningPairs(const MeasuredFrequencies& seen);

// The same with another number in the configuration: its base, or a parameter of its scaling.
std::vector<FrequencyForm> NameParameters(const MeasuredFrequencies& seen);

// The same with another ramp between the pairs that a scaling keeps and those that it divides.
// Whether the frequencies are those measured is not verified.
std::vector<FrequencyForm> NameRamps(const MeasuredFrequencies& seen);

}  // namespace sextant::oracle
