#include "oracle/layer/measured/function_numbers.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFew = 48;        // pairs to which numbers are fitted; all test them
constexpr size_t kDeviations = 2;  // of one answer

// a and b, and the sum of squares of the errors that are left, in units of the error bars.
struct Line {
  double a = 0, b = 0, rest = kInfinity;
};

class FunctionNumberFitter {
 public:
  FunctionNumberFitter(const std::vector<Pair>& pairs, const Function& right)
      : pairs_(pairs), right_(right) {
    for (size_t i = 0; i < std::min(kFew, pairs.size()); ++i)
      few_.push_back(pairs[i * pairs.size() / std::min(kFew, pairs.size())]);
  }

  std::vector<NumbersFit> All() {
    if (pairs_.size() < kFew) return {};
    for (const CurveFacts& facts : Curves()) {
      function_ = right_;
      function_.curve = facts.curve;
      const double usual = facts.curve == right_.curve ? right_.c : facts.usual;
      Try(facts, {usual, PrintValue(usual)}, usual);
      if (const auto c = ConstantOf(facts)) Try(facts, *c, usual);
    }
    KeepSimplest(fits_);
    return std::move(fits_);
  }

 private:
  double Value(const Pair& pair, double c) {
    function_.c = c;
    return pair.weight * ValueOf(function_, pair.x, pair.x);
  }
  Line LineFor(double c) {
    double ff = 0, f1 = 0, s1 = 0, fy = 0, sy = 0, yy = 0;
    for (const Pair& pair : few_) {
      const double f = Value(pair, c), w = 1 / (pair.error * pair.error);
      ff += w * f * f, f1 += w * f, s1 += w, fy += w * f * pair.y, sy += w * pair.y;
      yy += w * pair.y * pair.y;
    }
    const double determinant = ff * s1 - f1 * f1;
    if (!(determinant > 1e-12 * ff * s1)) return {};
    const double a = (fy * s1 - sy * f1) / determinant, b = (sy * ff - fy * f1) / determinant;
    double rest = 0;
    for (const Pair& pair : few_) {
      const double left = (pair.y - a * Value(pair, c) - b) / pair.error;
      rest += left * left;
    }
    return {a, b, rest};
  }

  // The constant with the least rest; none if some pair does not fit it.
  std::optional<Constant> ConstantOf(const CurveFacts& facts) {
    constexpr int kSteps = 48, kRefinements = 60;
    const double high = facts.constants.high, low = std::max(facts.constants.low, high / 1000);
    const double ratio = std::pow(high / low, 1.0 / kSteps);
    double best = low, least = kInfinity, width = ratio - 1;
    for (double c = low; c <= high; c *= ratio)
      if (const double rest = LineFor(c).rest; rest < least) least = rest, best = c;
    for (int i = 0; i < kRefinements; ++i, width *= 0.65) {
      for (const double c : {best * (1 - width), best * (1 + width)})
        if (const double rest = LineFor(c).rest; rest < least) least = rest, best = c;
    }
    // An error of one bar in every pair.
    if (!(least <= static_cast<double>(few_.size()))) return std::nullopt;
    // How far it may be off: up to where the rest grows by the same.
    double bar = std::abs(best) * 0x1p-40;
    while (bar < best && LineFor(best + bar).rest <= least + static_cast<double>(few_.size()))
      bar *= 2;
    return ConstantsIn({best - bar, best + bar}, facts.named).front();
  }

  void Try(const CurveFacts& facts, const Constant& c, double usual) {
    const Line line = LineFor(c.value);
    if (!(line.rest <= 4 * static_cast<double>(few_.size()))) return;
    Range factor, added;
    for (const Pair& pair : pairs_)
      factor.Intersect(Quotient(pair.y - line.b, pair.error * 2, Value(pair, c.value)));
    if (factor.IsEmpty() || !factor.IsBounded()) return;
    const Constant a = ConstantsIn(factor, {{1, "1"}, {2, "2"}, {0.5, "0.5"}, {-1, "-1"}}).front();
    for (const Pair& pair : pairs_) {
      const double rest = pair.y - a.value * Value(pair, c.value);
      added.Intersect({rest - pair.error, rest + pair.error});
    }
    if (added.IsEmpty()) return;
    const Constant b = added.Contains(0) ? Constant{0, "0"} : ConstantsIn(added, {}).front();
    function_.c = c.value;
    NumbersFit fit{function_, b.value, {}};
    fit.function.a = a.value * right_.a;
    Describe(facts, {c, a, b}, usual, fit.deviations);
    const auto is_same = [&](const NumbersFit& other) {
      return other.function == fit.function && other.added == fit.added;
    };
    if (fit.deviations.count == kDeviations && std::ranges::none_of(fits_, is_same))
      fits_.push_back(std::move(fit));
  }

  struct Numbers {
    Constant c, a, b;
  };
  void Describe(const CurveFacts& facts, const Numbers& numbers, double usual,
                Deviations& found) const {
    const std::string& right = FactsOf(right_.curve).name;
    const bool is_other = facts.name != right, has_constant = numbers.c.value != usual;
    if (has_constant) found.Count(numbers.c);
    const std::string formula = facts.formula + " with c = " + numbers.c.text;
    if (is_other)
      found.Add("function_is_" + facts.name,
                "the function is " + facts.name + ", " + formula + ", expected " + right);
    if (is_other && has_constant) ++found.count;
    if (!is_other && has_constant)
      found.Add(facts.name + "_constant",
                "the function is " + formula + ", expected " + PrintValue(usual));
    if (numbers.a.value != 1) {
      found.Count(numbers.a);
      found.Add("value_multiplied", "the value of the function is multiplied by " + numbers.a.text);
    }
    if (numbers.b.value != 0) {
      found.Count(numbers.b);
      found.Add("output_offset", numbers.b.text + " is added to y");
    }
  }

  const std::vector<Pair>& pairs_;
  std::vector<Pair> few_;
  const Function& right_;
  Function function_;
  std::vector<NumbersFit> fits_;
};

}  // namespace

std::vector<NumbersFit> FitNumbers(const std::vector<Pair>& pairs, const Function& right) {
  return FunctionNumberFitter(pairs, right).All();
}

}  // namespace sextant::oracle
