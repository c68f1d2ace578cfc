#include "oracle/layer/measured/feed_forward.h"

#include <cmath>
#include <optional>

#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/feed_forward_formula.h"
#include "oracle/layer/measured/weights.h"
#include "oracle/property/changed_inputs.h"
#include "reference/base/value_text.h"
#include "reference/layer/gated.h"

namespace sextant::oracle {
namespace {

constexpr size_t kY = 0, kHidden = 1;
constexpr size_t kRows = 4, kColumns = 64;         // of each output that are looked at
constexpr size_t kMostDeviations = 2;              // of one answer
constexpr size_t kManyProducts = size_t{1} << 20;  // of a row: then one deviation of the weights

struct FeedForwardFit {
  HiddenFormula formula;
  Tensors inputs;
  Deviations deviations;
};

struct CombinationFacts {
  Combination combination;
  std::string name, sentence;
};
const std::vector<CombinationFacts>& Combinations() {
  static const std::vector<CombinationFacts> kCombinations = {
      {Combination::kGated, "", ""},
      {Combination::kOfProduct, "product_activated", "the product of both halves is activated"},
      {Combination::kGateAlone, "up_missing", "up is ignored: an ordinary layer without a gate"},
      {Combination::kBothActivated, "both_activated", "both halves are activated"},
      {Combination::kSum, "halves_added", "the halves are added instead of multiplied"},
      {Combination::kNotActivated, "not_activated", "nothing is activated: a bilinear layer"}};
  return kCombinations;
}

// The projections of one row.
struct Row {
  size_t n;
  std::vector<double> gate, up;  // [F]
};

class Fitter {
 public:
  Fitter(const Observation& seen, ErrorBar bar)
      : seen_(seen), y_(seen, kY, bar), hidden_(seen, kHidden, bar) {
    for (const Attribute& attribute : seen.c.operation().Attributes()) {
      GateKind kind{};
      if (attribute.name == "kind") ParseValue(attribute.text, kind);
      right_ = FunctionOf(ActivationOf(kind), 1);
    }
  }

  std::vector<FeedForwardFit> All() {
    if (!y_.IsAnswered() || CountOf(seen_.inputs[0].values.shape) == 0) return {};
    const Shape& shape = InputNamed(seen_.inputs, "gate").shape;
    rows_ = y_.ChosenRows(kRows, shape[1]);
    FeedForwardFit right{{right_}, seen_.inputs, {}};
    Try(right);
    const bool is_large = CountOf(shape) > kManyProducts;
    const std::vector<Change> changes = WeightChanges(seen_.inputs);
    for (size_t i = 0; i < changes.size(); ++i) {
      const FeedForwardFit one = Changed(right, changes[i]);
      Try(one);
      for (size_t j = i + 1; j < changes.size() && !is_large; ++j) Try(Changed(one, changes[j]));
    }
    KeepSimplest(fits_);
    std::vector<double> distances;
    for (const size_t n : rows_) AddDistances(n, distances);
    EraseAccidents(fits_, distances);
    return fits_;
  }

 private:
  static FeedForwardFit Changed(FeedForwardFit fit, const Change& change) {
    change.apply(fit.inputs);
    fit.deviations.Add(change.name, change.sentence);
    return fit;
  }

  void Try(const FeedForwardFit& weights) {
    std::vector<Row> rows;
    for (const size_t n : rows_) rows.push_back(Projected(weights.inputs, n));
    for (const auto& [combination, name, sentence] : Combinations()) {
      FeedForwardFit fit = weights;
      fit.formula.combination = combination;
      if (!name.empty()) fit.deviations.Add(name, sentence);
      TryFunctions(fit, rows);
    }
  }
  void TryFunctions(const FeedForwardFit& start, const std::vector<Row>& rows) {
    if (start.deviations.count > kMostDeviations) return;
    if (FitsAll(start.formula, start.inputs, rows)) fits_.push_back(start);
    if (start.deviations.count == kMostDeviations ||
        start.formula.combination == Combination::kNotActivated) {
      return;
    }
    for (const CurveFacts& facts : Curves()) {
      FeedForwardFit fit = start;
      fit.formula.function = {.curve = facts.curve, .c = facts.usual};
      if (facts.name != FactsOf(right_.curve).name && FitsAll(fit.formula, fit.inputs, rows)) {
        fit.deviations.Add("function_is_" + facts.name, "the function is " + facts.name + ", " +
                                                            facts.formula +
                                                            " with c = " + PrintValue(facts.usual));
        fits_.push_back(fit);
      }
      const bool is_named = facts.name == FactsOf(right_.curve).name;
      if (is_named || facts.curve == Curve::kSwish) TryConstant(fit, facts, rows);
    }
  }

  // The constant of the curve for which the answer is nearest, and the range that all elements
  // allow, as they depend on it nearly linearly there.
  void TryConstant(FeedForwardFit fit, const CurveFacts& facts, const std::vector<Row>& rows) {
    double& c = fit.formula.function.c;
    const auto rests = [&](double constant) {
      HiddenFormula formula = fit.formula;
      formula.function.c = constant;
      return RestsOf(formula, fit.inputs, rows.front());
    };
    const auto size = [&](double constant) {
      double sum = 0;
      for (const auto& [rest, error] : rests(constant)) sum += rest * rest / (error * error);
      return sum;
    };
    c = Lowest(size, facts.constants);
    const double step = 1e-6 * std::max(std::abs(c), facts.usual);  // for a derivative
    const auto here = rests(c), there = rests(c + step);
    Span range = facts.constants;
    for (size_t i = 0; i < here.size(); ++i) {
      const double slope = (here[i].first - there[i].first) / step;
      if (slope == 0) continue;
      const double a = (here[i].first - here[i].second) / slope,
                   b = (here[i].first + here[i].second) / slope;
      range.Intersect({c + std::min(a, b), c + std::max(a, b)});
    }
    if (range.IsEmpty() || range.Contains(facts.usual)) return;
    const auto found = ConstantsIn(range, facts.named);
    c = found.front().value;
    if (!FitsAll(fit.formula, fit.inputs, rows)) return;
    fit.deviations.Count(found.front());
    fit.deviations.Add(facts.name == FactsOf(right_.curve).name ? facts.name + "_constant"
                                                                : "function_is_" + facts.name,
                       "the function is " + facts.formula + " with c = " + TextOf(found) +
                           ", expected " + FactsOf(right_.curve).name +
                           " with c = " + PrintValue(right_.c));
    fits_.push_back(fit);
  }
  template <class Size>
  static double Lowest(const Size& size, const Span& range) {
    constexpr int kParts = 64, kHalvings = 60;
    double best = range.low, least = kInfinity, width = (range.high - range.low) / kParts;
    for (int i = 0; i <= kParts; ++i) {
      const double at = range.low + width * i;
      if (const double value = size(at); value < least) least = value, best = at;
    }
    for (int i = 0; i < kHalvings; ++i, width *= 0.6) {
      for (const double at : {best - width, best + width}) {
        if (!range.Contains(at)) continue;
        if (const double value = size(at); value < least) least = value, best = at;
      }
    }
    return best;
  }

  static std::vector<double> Product(const Tensor<double>& weight, const Tensor<double>* bias,
                                     std::span<const double> x) {
    std::vector<double> all;
    for (size_t f = 0; f < weight.shape[0]; ++f) {
      double sum = bias ? bias->data[f] : 0;
      for (size_t m = 0; m < x.size(); ++m) sum += x[m] * weight(f, m);
      all.push_back(sum);
    }
    return all;
  }
  static const Tensor<double>* BiasOf(const Tensors& inputs, const std::string& name) {
    return HasBiases(inputs) ? &InputNamed(inputs, name + "_bias") : nullptr;
  }
  static Row Projected(const Tensors& inputs, size_t n) {
    const Tensor<double>& x = inputs[0].values;
    const auto row = std::span(x.data).subspan(n * x.shape[1], x.shape[1]);
    return {n, Product(InputNamed(inputs, "gate"), BiasOf(inputs, "gate"), row),
            Product(InputNamed(inputs, "up"), BiasOf(inputs, "up"), row)};
  }

  // What the answers of a row have in addition to the formula, and their errors.
  std::vector<std::pair<double, double>> RestsOf(const HiddenFormula& formula,
                                                 const Tensors& inputs, const Row& row) const {
    std::vector<std::pair<double, double>> rests;
    std::vector<double> hidden(row.gate.size());
    for (size_t f = 0; f < hidden.size(); ++f) hidden[f] = formula(row.gate[f], row.up[f]);
    const auto add = [&](const Samples& samples, size_t at, double value) {
      if (!samples.Has(at)) return;
      const Sample sample = samples.At(at);
      rests.emplace_back(sample.y - value, sample.error);
    };
    const size_t M = inputs[0].values.shape[1], F = hidden.size();
    if (hidden_.IsAnswered())
      for (size_t f = 0; f < F; ++f) add(hidden_, row.n * F + f, hidden[f]);
    const Tensor<double>& down = InputNamed(inputs, "down");
    const Tensor<double>* bias = BiasOf(inputs, "down");
    for (size_t m = 0; m < M; m += (M + kColumns - 1) / kColumns) {
      double sum = bias ? bias->data[m] : 0;
      for (size_t f = 0; f < F; ++f) sum += hidden[f] * down(m, f);
      add(y_, row.n * M + m, sum);
    }
    return rests;
  }
  bool FitsAll(const HiddenFormula& formula, const Tensors& inputs,
               const std::vector<Row>& rows) const {
    return std::ranges::all_of(rows, [&](const Row& row) {
      return std::ranges::all_of(RestsOf(formula, inputs, row), [](const auto& rest) {
        return std::abs(rest.first) <= rest.second;
      });
    });
  }
  void AddDistances(size_t n, std::vector<double>& distances) const {
    const size_t M = seen_.inputs[0].values.shape[1];
    for (size_t at = n * M; at < (n + 1) * M; at += (M + kColumns - 1) / kColumns) {
      if (!y_.Has(at)) continue;
      const Sample sample = y_.At(at);
      distances.push_back(std::abs(sample.y - sample.right) / sample.error);
    }
  }

  const Observation& seen_;
  Function right_;
  Samples y_, hidden_;
  std::vector<size_t> rows_;
  std::vector<FeedForwardFit> fits_;
};

std::vector<Explanation> MeasureFeedForward(const Observation& seen) {
  std::vector<Explanation> explanations;
  for (const auto& [formula, inputs, found] :
       SimplestFits([&](ErrorBar bar) { return Fitter(seen, bar).All(); }))
    explanations.push_back(
        {found.name, found.sentence, {WithHiddenFormula(seen.c, formula), inputs, seen.recipe}});
  return explanations;
}

}  // namespace

std::vector<Measurement> FeedForwardMeasurements() { return {MeasureFeedForward}; }

}  // namespace sextant::oracle
