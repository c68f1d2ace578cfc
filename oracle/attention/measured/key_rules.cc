#include "oracle/attention/measured/key_rules.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "oracle/attention/measured/least_squares.h"
#include "oracle/attention/measured/score_fit.h"
#include "oracle/attention/measured/score_sums.h"
#include "oracle/diagnosis/measured_number.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// The numbers of so many keys are solved for, with about so many products.
constexpr size_t kFewestKeys = 4, kMostKeys = 128, kMostProducts = size_t{1} << 27;
// A part of the variance of log weights that a fit may leave; what it says is verified on the
// answer.
constexpr double kMostLeftByKeys = 1e-3;

// Successive keys with one number.
struct KeyRun {
  size_t first, last;
  MeasuredNumber number;
};

class KeyRules {
 public:
  KeyRules(const PlainAttention& plain, const AskedWeights& weights, DType dtype)
      : plain_(plain), n_(plain.sizes()), weights_(weights), unit_(4 * UnitRoundoffOf(dtype)) {}

  std::optional<QueryRule> Run() const {
    if (n_.T < kFewestKeys || n_.T > kMostKeys) return std::nullopt;
    if (plain_.IsProportional()) {
      if (auto rule = RuleOf(true)) return rule;
    }
    return RuleOf(false);
  }

 private:
  // Adds the equations of a row: its log weights, less that of its largest weight. Returns the sum
  // of their squares.
  double AddRow(size_t row, bool of_factors, LeastSquares& squares, size_t& equations) const {
    const auto weight = weights_.RowOf(row);
    const std::vector<double> scores = plain_.ScoresOf(row, plain_.KeyHeadOf(row / n_.S % n_.H));
    const std::vector<char> shown = ShownKeys(plain_, weights_, row);
    size_t largest = n_.T;
    for (size_t t = 0; t < n_.T; ++t)
      if (shown[t] && (largest == n_.T || weight[t] > weight[largest])) largest = t;
    double sum = 0;
    std::vector<double> equation(n_.T);
    for (size_t t = 0; t < n_.T; ++t) {
      if (!shown[t] || t == largest) continue;
      const double log = std::log(weight[t] / weight[largest]);
      equation[t] = of_factors ? scores[t] : 1;
      equation[largest] = of_factors ? -scores[largest] : -1;
      squares.Add(equation, of_factors ? log : log - (scores[t] - scores[largest]));
      equation[t] = equation[largest] = 0;
      sum += log * log, ++equations;
    }
    return sum;
  }

  // The number of each key; an infinite bar where nothing says it. Empty if they do not give the
  // weights.
  std::vector<MeasuredNumber> Numbers(bool of_factors) const {
    const size_t most = std::max<size_t>(1, kMostProducts / (n_.T * n_.T * n_.T));
    const size_t step = (n_.rows() + most - 1) / most;
    LeastSquares squares(n_.T);
    size_t equations = 0;
    double total = 0;
    for (size_t row = 0; row < n_.rows(); row += step)
      total += AddRow(row, of_factors, squares, equations);
    if (equations < 4 * n_.T) return {};
    const auto [x, bar, rms] = squares.Solve();
    if (!(rms * rms * static_cast<double>(equations) <= kMostLeftByKeys * total)) return {};
    std::vector<MeasuredNumber> numbers;
    for (size_t t = 0; t < n_.T; ++t) numbers.push_back({x[t], kDeviations * bar[t] * rms + unit_});
    if (!of_factors) Center(numbers);
    return numbers;
  }
  // A number that all keys have changes no weight: the one in the middle is 0.
  static void Center(std::vector<MeasuredNumber>& numbers) {
    std::vector<double> sorted;
    double bar = 0;
    for (const MeasuredNumber& one : numbers) sorted.push_back(one.value);
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    for (const MeasuredNumber& one : numbers)
      if (std::isfinite(one.bar)) bar = std::max(bar, one.bar);
    // The key that the others are compared with has no bar of its own.
    for (MeasuredNumber& one : numbers)
      one = {one.value - *middle, std::isfinite(one.bar) ? one.bar : bar};
  }

  static std::vector<KeyRun> RunsOf(const std::vector<MeasuredNumber>& numbers, double right) {
    std::vector<KeyRun> runs;
    for (size_t t = 0; t < numbers.size(); ++t) {
      const MeasuredNumber& one = numbers[t];
      if (!std::isfinite(one.bar) || one.MayBe(right)) continue;
      const bool goes_on =
          !runs.empty() && runs.back().last + 1 == t &&
          std::abs(runs.back().number.value - one.value) <= runs.back().number.bar + one.bar;
      if (!goes_on) {
        runs.push_back({t, t, one});
        continue;
      }
      MeasuredNumber& mean = runs.back().number;
      const auto count = static_cast<double>(t - runs.back().first);
      mean = {(mean.value * count + one.value) / (count + 1), std::min(mean.bar, one.bar)};
      runs.back().last = t;
    }
    return runs;
  }

  std::optional<QueryRule> RuleOf(bool of_factors) const {
    constexpr size_t kShown = 6;
    const double right = of_factors ? 1 : 0;
    const std::vector<KeyRun> runs = RunsOf(Numbers(of_factors), right);
    if (runs.empty()) return std::nullopt;
    std::vector<double> of_key(n_.T, right);
    std::string listed;
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto& [first, last, measured] = runs[i];
      const double number = ShortNumber(measured).value_or(measured.value);
      for (size_t t = first; t <= last; ++t) of_key[t] = number;
      if (i >= kShown) continue;
      listed += (i > 0 ? ", " : "") +
                (first == last ? "key " + std::to_string(first)
                               : "keys " + std::to_string(first) + " to " + std::to_string(last)) +
                (of_factors ? " by " : ": ") + ShortText(number);
    }
    if (runs.size() > kShown) listed += " ...";
    const auto shared = std::make_shared<const std::vector<double>>(of_key);
    const OfKey of = [shared](size_t, size_t, size_t, size_t t) { return (*shared)[t]; };
    if (of_factors)
      return QueryRule{"scale_of_keys", "scores are multiplied by a number of each key: " + listed,
                       [of](MeasuredParts& parts) { parts.factors = of; }};
    return QueryRule{"bias_of_keys", "a number of each key is added to its scores: " + listed,
                     [of](MeasuredParts& parts) { parts.added = of; }};
  }

  const PlainAttention& plain_;
  const AttentionSizes n_;
  const AskedWeights& weights_;
  const double unit_;
};

}  // namespace

std::optional<QueryRule> KeyRuleOf(const PlainAttention& plain, const AskedWeights& weights,
                                   DType dtype) {
  return KeyRules(plain, weights, dtype).Run();
}

}  // namespace sextant::oracle
