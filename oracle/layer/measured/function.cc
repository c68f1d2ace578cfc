#include "oracle/layer/measured/function.h"

#include <ranges>

#include "oracle/layer/measured/shared_range.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

constexpr int kCoarse = 8, kFine = 60;  // halvings of a range

double Predicted(const Function& f, const Pair& pair) {
  return pair.weight * ValueOf(f, pair.x, pair.x);
}

constexpr size_t kFewPairs = 12;

// Those of a value that implementations have.
std::vector<Constant> Factors() { return {{2, "2"}, {0.5, "1/2"}, {-1, "-1"}}; }

// Which constant is measured.
enum class Free { kNothing, kConstant, kFactor, kOffset };

Function With(Function f, Free free, double constant) {
  (free == Free::kConstant ? f.c : free == Free::kFactor ? f.a : f.b) = constant;
  return f;
}

Range AllowedBy(const Function& f, Free free, const Pair& pair, int halvings) {
  if (free == Free::kConstant) {
    const auto at = [&](double c) { return Predicted(With(f, free, c), pair); };
    return Solutions(at, FactsOf(f.curve).constants, pair.y, pair.error, halvings);
  }
  if (free == Free::kOffset) return Quotient(pair.y - Predicted(f, pair), pair.error, pair.weight);
  return Quotient(pair.y, pair.error, Predicted(With(f, free, 1), pair));
}

// Most functions fit few of the first pairs, which is quickly seen.
bool FitsHalf(const Function& f, const std::vector<Pair>& pairs) {
  const size_t few = std::min(pairs.size(), kFewPairs);
  const auto fits = [&](const Pair& pair) { return Fits(f, pair); };
  return 2 * std::ranges::count_if(pairs | std::views::take(few), fits) >=
         static_cast<ptrdiff_t>(few);
}

bool FitsAll(const Function& f, const std::vector<Pair>& pairs) {
  return std::ranges::all_of(pairs, [&](const Pair& pair) { return Fits(f, pair); });
}

// A limit of x above 0 (side 1) or below (side -1), from the pairs on that side that do not fit:
// the farthest from 0 of the roots L of weight f(L) = y that they have in common.
std::optional<Range> LimitFrom(const Function& f, const std::vector<Pair>& pairs, double side) {
  double nearest = kInfinity;
  std::vector<Pair> misfits;
  for (const Pair& pair : pairs) {
    if (pair.x * side <= 0 || Fits(f, pair)) continue;
    misfits.push_back(pair);
    nearest = std::min(nearest, std::abs(pair.x));
  }
  if (misfits.empty()) return std::nullopt;
  constexpr int kSteps = 64;
  for (int step = kSteps; step > 0; --step) {
    const double from = side * nearest * (step - 1) / kSteps, to = side * nearest * step / kSteps;
    const Range part{std::min(from, to), std::max(from, to)};
    const auto shared = [&](int halvings) {
      Range all = part;
      for (const Pair& pair : misfits) {
        const auto at = [&](double limit) { return pair.weight * ValueOf(f, limit, limit); };
        all.Intersect(Solutions(at, part, pair.y, pair.error, halvings));
        if (all.IsEmpty()) break;
      }
      return all;
    };
    if (shared(kCoarse).IsEmpty()) continue;
    const Range all = shared(kFine);
    if (!all.IsEmpty()) return all;
  }
  return std::nullopt;
}

class FunctionFitter {
 public:
  FunctionFitter(const std::vector<Pair>& pairs, const Function& right)
      : pairs_(pairs), right_(right) {}

  // Fits each curve, with the factors, signs and limits of `like`.
  void TryCurves(const Function& like, Free free, const std::vector<Pair>& inner,
                 std::vector<FunctionFit>& fits) const {
    for (const CurveFacts& facts : Curves()) {
      Function f = like;
      if (facts.curve != right_.curve) f.curve = facts.curve, f.c = facts.usual;
      if (const auto fit = Fit(f, free, inner)) fits.push_back(*fit);
    }
  }

  // Fits a function with one free constant to `inner`, and then limits to all pairs.
  std::optional<FunctionFit> Fit(Function f, Free free, const std::vector<Pair>& inner) const {
    FunctionFit fit;
    std::string constant;
    if (free != Free::kNothing) {
      const auto shared_by = [&](const auto& pairs, int halvings) {
        std::vector<Range> allowed;
        for (const Pair& pair : pairs) allowed.push_back(AllowedBy(f, free, pair, halvings));
        return MostShared(allowed);
      };
      // Few curves have a constant that half of the first pairs share.
      const auto few = inner | std::views::take(kFewPairs);
      if (2 * shared_by(few, kCoarse).count < std::ranges::ssize(few)) return std::nullopt;
      const Range shared = shared_by(inner, kFine).range;
      if (!shared.IsBounded()) return std::nullopt;
      double& measured = free == Free::kConstant ? f.c : free == Free::kFactor ? f.a : f.b;
      const double usual = measured;
      if (shared.Contains(usual)) return std::nullopt;  // the fit without a free constant
      const auto found = ConstantsIn(shared, NamedOf(f.curve, free));
      measured = found.front().value;
      constant = TextOf(found);
      fit.deviations.Count(found.front());
    }
    if (!FitsHalf(f, inner)) return std::nullopt;
    fit.function = f;
    Deviations limits;
    const bool is_table = f.table.kind != Table::Kind::kNone;
    if (!is_table && !SetLimits(fit.function, limits)) return std::nullopt;
    if (!FitsAll(fit.function, pairs_)) return std::nullopt;
    Describe(free, constant, f, fit.deviations);
    if (is_table) DescribeTable(f.table, fit.deviations);
    fit.deviations.Add(limits);
    return fit;
  }

 private:
  std::vector<Constant> NamedOf(Curve curve, Free free) const {
    if (free == Free::kFactor) return Factors();
    if (free == Free::kOffset) return {};
    std::vector<Constant> named = FactsOf(curve).named;
    if (curve == right_.curve && right_.c != 0) {
      named.push_back({1 / right_.c, "1 / " + PrintValue(right_.c)});
      named.push_back({right_.c * right_.c, PrintValue(right_.c) + "^2"});
    }
    return named;
  }

  void Describe(Free free, const std::string& constant, const Function& f,
                Deviations& found) const {
    const CurveFacts& facts = FactsOf(f.curve);
    const CurveFacts& right = FactsOf(right_.curve);
    const bool other = facts.name != right.name;
    if (other) {
      std::string text = "the function is " + facts.name + ", " + facts.formula;
      if (free != Free::kConstant) text += " with c = " + PrintValue(facts.usual);
      if (free == Free::kConstant) text += " with c = " + constant;
      found.Add("function_is_" + facts.name, text + ", expected " + right.name);
      if (free == Free::kConstant) ++found.count;  // an unusual constant of another function
    } else if (free == Free::kConstant) {
      const double expected = facts.curve == right_.curve ? right_.c : facts.usual;
      found.Add(facts.name + "_constant", "the function is " + facts.formula + " with c = " +
                                              constant + ", expected " + PrintValue(expected));
    }
    if (f.negated) found.Add("argument_negated", "the function is taken at -x");
    if (f.a != right_.a)
      found.Add("value_multiplied", "the value of the function is multiplied by " +
                                        (free == Free::kFactor ? constant : PrintValue(f.a)));
    if (f.b != right_.b) found.Add("value_offset", constant + " is added to the value");
  }

  static void DescribeTable(const Table& table, Deviations& found) {
    const bool is_linear = table.kind == Table::Kind::kLinear;
    const std::string which = is_linear                             ? "interpolated"
                              : table.kind == Table::Kind::kNearest ? "the nearest entry"
                                                                    : "the entry below";
    found.bits += std::log2(static_cast<double>(FunctionTables().size()));
    found.Add(is_linear ? "table_interpolated" : "table",
              "the function is read from a table with entries at " + PrintValue(table.origin) +
                  " + i * " + PrintValue(table.step) + ": " + which);
  }

  // Keeps the limits of the right function, or drops or measures them if pairs do not fit.
  bool SetLimits(Function& f, Deviations& deviations) const {
    for (const double side : {1.0, -1.0}) {
      const double expected = side > 0 ? right_.high : right_.low;
      double& limit = side > 0 ? f.high : f.low;
      limit = expected;
      if (SideFits(f, side)) continue;
      limit = side * kInfinity;
      const auto range = LimitFrom(f, pairs_, side);
      const std::string place = side > 0 ? " above" : " below";
      if (!range && !SideFits(f, side)) return false;
      if (!range) {
        deviations.Add("limit_missing", "the argument is not limited" + place + ", expected " +
                                            PrintValue(expected));
        continue;
      }
      const Constant found = ConstantsIn(*range, {}).front();
      limit = found.value;
      deviations.Count(found);
      deviations.Add(side > 0 ? "limited_above" : "limited_below",
                     "the argument is limited to " + found.text + place +
                         (std::isinf(expected) ? "" : ", expected " + PrintValue(expected)));
    }
    return true;
  }
  bool SideFits(const Function& f, double side) const {
    return std::ranges::all_of(
        pairs_, [&](const Pair& pair) { return pair.x * side <= 0 || Fits(f, pair); });
  }

  const std::vector<Pair>& pairs_;
  const Function& right_;
};

// The function at -x, and with usual factors.
std::vector<Function> OtherSigns(const Function& right) {
  std::vector<Function> all;
  for (const Constant& factor : Factors()) {
    all.push_back(right);
    all.back().a = factor.value;
    all.push_back(all.back());
    all.back().negated = true;
  }
  all.push_back(right);
  all.back().negated = true;
  return all;
}

// The pairs whose arguments are the smaller half: beyond them the argument may be limited.
std::vector<Pair> InnerPairs(std::vector<Pair> pairs) {
  const auto middle = pairs.begin() + static_cast<ptrdiff_t>(pairs.size() / 2);
  std::nth_element(pairs.begin(), middle, pairs.end(),
                   [](const Pair& a, const Pair& b) { return std::abs(a.x) < std::abs(b.x); });
  pairs.erase(middle, pairs.end());
  return pairs;
}

}  // namespace

Pair PairOf(double x, double weight, const Sample& sample, const Recipe& recipe) {
  const StepRule& rule = recipe.steps[static_cast<size_t>(Step::kActivation)];
  const DType format = rule.exact ? DType::kF64 : rule.format;
  const double largest = std::max(std::abs(sample.y), std::abs(x * weight));
  const double error = std::max(sample.error, 8 * UlpOf(format, largest));
  return {x, weight, sample.y, error, std::abs(sample.y - sample.right) / error};
}

double MostBetween(const Pair& a, const Pair& b) {
  constexpr double kSteepest = 4;
  return kSteepest * (1 + std::abs(b.x)) * (b.x - a.x) + ErrorOf(a) + ErrorOf(b);
}

bool Fits(const Function& function, const Pair& pair) {
  return std::abs(Predicted(function, pair) - pair.y) <= pair.error;
}

std::vector<FunctionFit> FitFunctions(const std::vector<Pair>& pairs, const Function& right) {
  const FunctionFitter fitter(pairs, right);
  std::vector<FunctionFit> fits;
  for (const auto& inner : {pairs, InnerPairs(pairs)}) {
    for (const Free free : {Free::kNothing, Free::kConstant, Free::kFactor})
      fitter.TryCurves(right, free, inner, fits);
    if (!fits.empty()) break;
  }
  KeepSimplest(fits);
  return fits;
}

std::vector<FunctionFit> FitMoreFunctions(const std::vector<Pair>& pairs, const Function& right) {
  const FunctionFitter fitter(pairs, right);
  std::vector<FunctionFit> fits;
  for (const Function& like : OtherSigns(right)) {
    for (const Free free : {Free::kNothing, Free::kConstant})
      fitter.TryCurves(like, free, pairs, fits);
  }
  fitter.TryCurves(right, Free::kOffset, pairs, fits);
  KeepSimplest(fits);
  return fits;
}

std::vector<FunctionFit> FitTables(const std::vector<Pair>& pairs, const Function& right) {
  const FunctionFitter fitter(pairs, right);
  std::vector<FunctionFit> fits;
  for (const Table& table : FunctionTables()) {
    Function tabulated = right;
    tabulated.table = table;
    if (const auto fit = fitter.Fit(tabulated, Free::kNothing, pairs)) fits.push_back(*fit);
  }
  KeepSimplest(fits);
  return fits;
}

}  // namespace sextant::oracle
