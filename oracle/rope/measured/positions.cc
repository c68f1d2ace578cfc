#include "oracle/rope/measured/positions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "oracle/diagnosis/vocabulary/index_maps.h"
#include "oracle/rope/measured/numbers.h"
#include "oracle/rope/measured/position_functions.h"
#include "reference/base/count_text.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {
namespace {

// Accidents must be rarer than 1 in 2^10. Fewer than 2^10 functions without a number are tried.
constexpr double kSpareBits = 10, kBitsOfForms = 10;

using Rank = PositionRank;
using enum PositionRank;

const std::vector<NamedIndexMap> kPositionMapsOfTokens = {
    {&kConstant, "position_constant"},
    {&kClamped, "position_clamped"},
    {&kClampedBelow, "position_clamped_below"},
    {&kShifted, "position_shifted"},
    {&kDivided, "position_divided"},
    {&kWrapped, "position_wrapped"}};

bool IsUsual(double x) { return IsNearPowerOfTwo(x) || HasFewDigits(x, 2); }

class PositionNaming {
 public:
  explicit PositionNaming(const MeasuredPositions& seen) : seen_(seen) {
    for (size_t t = 0; t < seen.token_of.size(); ++t) {
      if (!seen.acts_as(t, RightOf(t))) wrong_.push_back(t);
    }
  }

  std::vector<PositionForm> Run() {
    const double bits = seen_.bits * static_cast<double>(wrong_.size());
    if (wrong_.empty() || bits < kBitsOfForms + kSpareBits) return {};
    for (const PositionFunction& one : UsualPositionFunctions(seen_.right, seen_.length))
      Try(one.rank, one.name, one.sentence, one.of);
    if (bits >= std::log2(2 * seen_.most) + kBitsOfForms + kSpareBits) FormsWithNumbers();
    FormsFromATokenOn();
    return forms_;
  }
  std::vector<PositionForm> RunTokenByToken() {
    if (!wrong_.empty()) TokenByToken();
    return forms_;
  }

 private:
  double RightOf(size_t t) const { return seen_.right[seen_.token_of[t]]; }
  // " (5 of 5 such tokens)": those whose position changes; empty if all do.
  std::string Count(const PositionForm& form) const {
    const auto count = static_cast<size_t>(std::ranges::count_if(
        seen_.token_of, [&](size_t i) { return form.position[i] != seen_.right[i]; }));
    if (count == seen_.token_of.size()) return "";
    return Phrase(" (", count, " of ", count, " such tokens)");
  }

  // Adds a function if every measured token acts so, and if nothing simpler does.
  void Try(Rank rank, const std::string& name, const std::string& sentence, const PositionOf& of) {
    if (rank > best_) return;
    const auto at = [&](size_t i) {
      return of(seen_.right[i], i / seen_.length, i % seen_.length);
    };
    for (size_t t = 0; t < seen_.token_of.size(); ++t) {
      const double q = at(seen_.token_of[t]);
      if (!std::isfinite(q) || std::abs(q) > kLargestInteger || !seen_.acts_as(t, q)) return;
    }
    if (rank < best_) forms_.clear();
    best_ = rank;
    if (std::ranges::find(forms_, name, &PositionForm::name) != forms_.end()) return;
    PositionForm form{name, sentence, {}};
    for (size_t i = 0; i < seen_.right.size(); ++i) form.position.push_back(at(i));
    form.sentence += Count(form);
    forms_.push_back(std::move(form));
  }
  void Try(const NamedIndexMap& one, const std::vector<double>& numbers) {
    const auto& [map, name] = one;
    for (const double n : numbers) {
      const bool is_plain =
          (map == &kShifted && std::abs(n) == 1) || (map == &kClampedBelow && n == 0);
      Try(is_plain     ? kNothing
          : IsUsual(n) ? kUsualNumber
                       : kAnyNumber,
          name, map->Sentence("positions", n),
          [&, n](double p, size_t, size_t) { return map->of(p, n); });
    }
  }

  // One number, from the token with the fewest candidates; of several, that with the largest
  // position.
  void FormsWithNumbers() {
    std::vector<ActingIndex> seen(1);
    for (const size_t t : wrong_)
      if (seen_.candidates[t].size() == 1) seen.push_back({RightOf(t), seen_.candidates[t][0]});
    const size_t t = *std::ranges::min_element(wrong_, {}, [&](size_t i) {
      const size_t count = seen_.candidates[i].size();
      return std::pair(count == 0 ? std::numeric_limits<size_t>::max() : count,
                       -std::abs(RightOf(i)));
    });
    for (const double q : seen_.candidates[t]) {
      seen[0] = {RightOf(t), q};
      for (const NamedIndexMap& one : kPositionMapsOfTokens) Try(one, one.first->fitted(seen));
      FormsOfSome(q - RightOf(t));
    }
  }

  // Some positions differ by the same constant: the negative ones, or the largest.
  void FormsOfSome(double c) {
    const Rank rank = IsUsual(c) ? kUsualNumber : kAnyNumber;
    Try(rank, "negative_position_shifted", Phrase("negative positions act as ", c, " more"),
        [c](double p, size_t, size_t) { return p < 0 ? p + c : p; });
    double least = kInfinity, most = -kInfinity;
    for (const size_t t : wrong_) least = std::min(least, RightOf(t));
    for (const double p : seen_.right) {
      if (p < least) most = std::max(most, p);
    }
    if (std::isinf(most)) return;  // all positions do
    const std::string rest = Phrase("; those up to ", most, " are right");
    Try(rank, "position_shifted_from",
        Phrase("positions from ", least, " on act as ", std::abs(c), c < 0 ? " less" : " more",
               rest),
        [=](double p, size_t, size_t) { return p >= least ? p + c : p; });
    Try(kUsualNumber, "position_negated_from",
        Phrase("positions from ", least, " on turn in the other direction", rest),
        [=](double p, size_t, size_t) { return p >= least ? -p : p; });
  }

  // From a token of every sequence on, or from a sequence of the batch on.
  void FormsFromATokenOn() {
    const size_t S = seen_.length;
    size_t token = S, batch = seen_.right.size();
    for (const size_t t : wrong_) {
      token = std::min(token, seen_.token_of[t] % S);
      batch = std::min(batch, seen_.token_of[t] / S);
    }
    Try(kUsualNumber, "position_starts_again",
        Phrase("positions start again at 0 from token ", token, " on"),
        [=](double p, size_t, size_t s) { return s < token ? p : static_cast<double>(s - token); });
    if (token > 0) {
      Try(kAnyNumber, "position_stands_still",
          Phrase("from token ", token, " on every token has the position before it"),
          [=, this](double p, size_t b, size_t s) {
            return s < token ? p : seen_.right[b * S + token - 1];
          });
      Try(kNothing, "tokens_not_rotated",
          Phrase("tokens from ", token, " on of every sequence are not rotated: position 0"),
          [=](double p, size_t, size_t s) { return s < token ? p : 0; });
    }
    if (batch > 0)
      Try(kNothing, "tokens_not_rotated",
          Phrase("sequences from ", batch, " on of the batch are not rotated: position 0"),
          [=](double p, size_t b, size_t) { return b < batch ? p : 0; });
  }

  // Every token by itself; only if each has one position, and most tokens were measured. The others
  // (something else may explain them) keep theirs.
  void TokenByToken() {
    if (2 * seen_.token_of.size() < seen_.right.size()) return;
    if (seen_.bits < std::log2(2 * seen_.most) + kSpareBits) return;
    PositionForm form{"positions_differ", "", seen_.right};
    std::string examples;
    size_t shown = 0;
    std::map<double, double> acts_as;  // by the right position: what differs there is no function
    for (const size_t t : wrong_) {
      if (seen_.candidates[t].size() != 1) return;
      if (!acts_as.emplace(RightOf(t), seen_.candidates[t][0]).second &&
          acts_as[RightOf(t)] != seen_.candidates[t][0])
        return;
      const double q = form.position[seen_.token_of[t]] = seen_.candidates[t][0];
      if (++shown <= 3) examples += Phrase(shown == 1 ? "" : ", ", RightOf(t), " as ", q);
    }
    form.sentence =
        Phrase("tokens act as other positions: ", examples, shown > 3 ? " ..." : "", Count(form));
    forms_.push_back(form);
  }

  const MeasuredPositions& seen_;
  std::vector<size_t> wrong_;
  Rank best_ = kAnyNumber;
  std::vector<PositionForm> forms_;
};

}  // namespace

std::vector<PositionForm> NamePositions(const MeasuredPositions& seen) {
  return PositionNaming(seen).Run();
}
std::vector<PositionForm> ListPositions(const MeasuredPositions& seen) {
  return PositionNaming(seen).RunTokenByToken();
}

}  // namespace sextant::oracle
