#include "oracle/rope/measured/positions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "oracle/rope/measured/numbers.h"
#include "oracle/rope/measured/position_functions.h"
#include "reference/base/count_text.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {
namespace {

// Accidents must be rarer than 1 in 2^10. Fewer than 2^8 functions without a constant are tried.
constexpr double kSpareBits = 10, kBitsOfForms = 8;

using Rank = PositionRank;
using enum PositionRank;

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
    // The token with the fewest candidates; of several, that with the largest position.
    const size_t t = *std::ranges::min_element(wrong_, {}, [&](size_t i) {
      const size_t count = seen_.candidates[i].size();
      return std::pair(count == 0 ? std::numeric_limits<size_t>::max() : count,
                       -std::abs(RightOf(i)));
    });
    const bool is_sure = bits >= std::log2(2 * seen_.most) + kBitsOfForms + kSpareBits;
    for (const double q : is_sure ? seen_.candidates[t] : std::vector<double>()) {
      FormsWithConstants(RightOf(t), q);
    }
    if (is_sure) FormsWithModulus();
    FormsByIndexFromATokenOn();
    FormsOfStillTokens();
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
  void Try(Rank rank, std::string name, std::string sentence, const PositionOf& of) {
    if (rank > best_) return;
    PositionForm form{std::move(name), std::move(sentence), {}};
    for (size_t i = 0; i < seen_.right.size(); ++i)
      form.position.push_back(of(seen_.right[i], i / seen_.length, i % seen_.length));
    for (size_t t = 0; t < seen_.token_of.size(); ++t) {
      const double q = form.position[seen_.token_of[t]];
      if (!std::isfinite(q) || std::abs(q) > kLargestInteger || !seen_.acts_as(t, q)) return;
    }
    form.sentence += Count(form);
    if (rank < best_) forms_.clear();
    best_ = rank;
    const bool known =
        std::ranges::any_of(forms_, [&](const auto& f) { return f.name == form.name; });
    if (!known) forms_.push_back(std::move(form));
  }

  // One constant, from a token at p that acts as q.
  void FormsWithConstants(double p0, double q) {
    const Rank rank = IsUsual(q) ? kUsualNumber : kAnyNumber;
    Try(q == 0 ? kNothing : rank, q == 0 ? "position_zero" : "position_constant",
        Phrase("every token acts as position ", q), [q](double, size_t, size_t) { return q; });
    Try(rank, "position_clamped", Phrase("positions above ", q, " act as ", q),
        [q](double p, size_t, size_t) { return std::min(p, q); });
    Try(q == 0 ? kNothing : rank, "position_clamped_below",
        Phrase("positions below ", q, " act as ", q),
        [q](double p, size_t, size_t) { return std::max(p, q); });
    const double c = q - p0;
    const Rank shift = IsUsual(c) ? kUsualNumber : kAnyNumber;
    Try(std::abs(c) == 1 ? kNothing : shift, "position_shifted",
        Phrase("every token acts as its position ", c < 0 ? "- " : "+ ", std::abs(c)),
        [c](double p, size_t, size_t) { return p + c; });
    Try(shift, "negative_position_shifted", Phrase("negative positions act as ", c, " more"),
        [c](double p, size_t, size_t) { return p < 0 ? p + c : p; });
    FormsFromAPositionOn(c, shift);
    if (q == 0 || p0 == 0) return;
    const double n = std::floor(p0 / q);  // also p0 = n q + remainder
    for (const double by : {n, n - 1, n + 1}) {
      if (by < 2) continue;
      Try(kUsualNumber, "position_divided",
          Phrase("positions are divided by ", by, " and rounded down"),
          [by](double p, size_t, size_t) { return std::floor(p / by); });
    }
  }

  // The wrong tokens have the largest positions, and differ by the same constant.
  void FormsFromAPositionOn(double c, Rank rank) {
    double least = kInfinity, most = -kInfinity;
    for (const size_t t : wrong_) least = std::min(least, RightOf(t));
    for (const double p : seen_.right) {
      if (p < least) most = std::max(most, p);
    }
    Try(std::max(rank, kUsualNumber), "position_shifted_from",
        Phrase("positions from ", least, " on act as ", std::abs(c), c < 0 ? " less" : " more",
               std::isinf(most) ? "" : Phrase("; those up to ", most, " are right")),
        [=](double p, size_t, size_t) { return p >= least ? p + c : p; });
    Try(kUsualNumber, "position_negated_from",
        Phrase("positions from ", least, " on turn in the other direction",
               std::isinf(most) ? "" : Phrase("; those up to ", most, " are right")),
        [=](double p, size_t, size_t) { return p >= least ? -p : p; });
  }

  // p - q is a multiple of the modulus for every wrong token.
  void FormsWithModulus() {
    int64_t common = 0;
    for (const size_t t : wrong_) {
      if (seen_.candidates[t].size() == 1)
        common = std::gcd(common, static_cast<int64_t>(RightOf(t) - seen_.candidates[t][0]));
    }
    for (int64_t turns = 1; turns <= 64; ++turns) {
      if (common == 0 || common % turns != 0) continue;
      const auto size = static_cast<double>(common / turns);
      Try(IsUsual(size) ? kUsualNumber : kAnyNumber, "position_wrapped",
          Phrase("positions start again at 0 after ", size - 1, ": modulo ", size),
          [size](double p, size_t, size_t) { return p < 0 ? p : std::fmod(p, size); });
      Try(IsUsual(size) ? kUsualNumber : kAnyNumber, "position_wrapped_both_ways",
          Phrase("positions act as their remainder modulo ", size),
          [size](double p, size_t, size_t) { return p - std::floor(p / size) * size; });
    }
    for (double n = 2; n <= 64; ++n) {
      Try(kUsualNumber, "position_of_block",
          Phrase("positions act as the multiple of ", n, " below"),
          [n](double p, size_t, size_t) { return std::floor(p / n) * n; });
      Try(kUsualNumber, "position_of_block",
          Phrase("positions act as the multiple of ", n, " above"),
          [n](double p, size_t, size_t) { return std::ceil(p / n) * n; });
    }
  }

  void FormsByIndexFromATokenOn() {
    size_t first = seen_.length;
    for (const size_t t : wrong_) first = std::min(first, seen_.token_of[t] % seen_.length);
    const auto at = [this](size_t b, size_t s) { return seen_.right[b * seen_.length + s]; };
    Try(kUsualNumber, "position_starts_again",
        Phrase("positions start again at 0 from token ", first, " on"),
        [=](double p, size_t, size_t s) { return s < first ? p : static_cast<double>(s - first); });
    Try(kAnyNumber, "position_stands_still",
        Phrase("from token ", first, " on every token has the position before it"),
        [=](double p, size_t b, size_t s) {
          return s < first || first == 0 ? p : at(b, first - 1);
        });
  }

  // Tokens that are not rotated: from a token on, or from a sequence of the batch on.
  void FormsOfStillTokens() {
    size_t token = seen_.length, batch = seen_.right.size();
    for (const size_t t : wrong_) {
      token = std::min(token, seen_.token_of[t] % seen_.length);
      batch = std::min(batch, seen_.token_of[t] / seen_.length);
    }
    if (token > 0)
      Try(kNothing, "tokens_not_rotated",
          Phrase("tokens from ", token, " on of every sequence are not rotated: position 0"),
          [=](double p, size_t, size_t s) { return s < token ? p : 0; });
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
