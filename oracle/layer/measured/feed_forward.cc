#include "oracle/layer/measured/feed_forward.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/feed_forward_formula.h"
#include "oracle/layer/measured/feed_forward_rows.h"
#include "oracle/layer/measured/weights.h"
#include "oracle/property/changed_inputs.h"
#include "reference/base/value_text.h"
#include "reference/layer/gated.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostFeedForwardDeviations = 2;  // of one answer
constexpr size_t kManyProductsOfRow = size_t{1}
                                      << 20;  // of a row: then one deviation of the weights

struct FeedForwardFit {
  HiddenFormula formula;
  Tensors inputs;
  Deviations deviations;
};

using ProjectedRows = std::vector<ProjectedRow>;

class FeedForwardFitter {
 public:
  FeedForwardFitter(const Observation& seen, ErrorBar bar) : seen_(seen), rows_(seen, bar) {
    for (const Attribute& attribute : seen.c.operation().Attributes()) {
      GateKind kind{};
      if (attribute.name == "kind") ParseValue(attribute.text, kind);
      right_ = FunctionOf(ActivationOf(kind), 1);
    }
  }

  std::vector<FeedForwardFit> All() {
    if (!rows_.IsAnswered() || CountOf(seen_.inputs[0].values.shape) == 0) return {};
    const Shape& shape = InputNamed(seen_.inputs, "gate").shape;
    FeedForwardFit right{{right_}, seen_.inputs, {}};
    Try(right);
    const bool is_large = CountOf(shape) > kManyProductsOfRow;
    if (!is_large) TryRows(right);
    const std::vector<Change> changes = WeightChanges(seen_.inputs);
    for (size_t i = 0; i < changes.size(); ++i) {
      const FeedForwardFit one = Changed(right, changes[i]);
      Try(one);
      for (size_t j = i + 1; j < changes.size() && !is_large; ++j) Try(Changed(one, changes[j]));
    }
    if (!is_large) {
      measures_constants_ = false;  // there are many orders
      for (const Change& change : OrderChanges(seen_.inputs)) Try(Changed(right, change));
    }
    KeepSimplest(fits_);
    EraseAccidents(fits_, rows_.Distances());
    return fits_;
  }

 private:
  static FeedForwardFit Changed(FeedForwardFit fit, const Change& change) {
    change.apply(fit.inputs);
    fit.deviations.Add(change.name, change.sentence);
    return fit;
  }

  void TryRows(const FeedForwardFit& right) {
    for (const int shift : {-1, 1}) {
      for (const bool of_gate : {true, false}) {
        FeedForwardFit fit = right;
        (of_gate ? fit.formula.gate_shift : fit.formula.up_shift) = shift;
        const std::string which = of_gate ? "gate" : "up";
        fit.deviations.Add(which + "_of_other_row", which + " is that of the row " +
                                                        (shift < 0 ? "before" : "after") +
                                                        " each, around the end");
        Try(fit);
        measures_constants_ = false;
        for (const Change& change : OrderChanges(fit.inputs)) Try(Changed(fit, change));
        measures_constants_ = true;
      }
    }
  }

  void Try(const FeedForwardFit& weights) {
    const ProjectedRows rows = rows_.ProjectedBy(weights.inputs, weights.formula);
    for (const auto& [combination, name, sentence] : Combinations()) {
      FeedForwardFit fit = weights;
      fit.formula.combination = combination;
      if (!name.empty()) fit.deviations.Add(name, sentence);
      TryFunctions(fit, rows);
    }
  }
  void TryFunctions(const FeedForwardFit& start, const ProjectedRows& rows) {
    if (start.deviations.count > kMostFeedForwardDeviations) return;
    if (rows_.FitsAll(start.formula, start.inputs, rows)) fits_.push_back(start);
    if (start.deviations.count < kMostFeedForwardDeviations) TryAnyFunction(start, rows);
    if (start.deviations.count == 0) TryProjections(start, rows);
    if (start.deviations.count == 0) TryHidden(start, rows);
    if (start.deviations.count == kMostFeedForwardDeviations ||
        start.formula.combination == Combination::kNotActivated) {
      return;
    }
    for (const CurveFacts& facts : Curves()) {
      FeedForwardFit fit = start;
      fit.formula.function = {.curve = facts.curve, .c = facts.usual};
      if (facts.name != FactsOf(right_.curve).name) TryCurve(fit, facts, rows);
      const bool is_named = facts.name == FactsOf(right_.curve).name;
      if (measures_constants_ && (is_named || facts.curve == Curve::kSwish))
        TryConstant(fit, facts, rows);
    }
  }

  // What needs no number (HiddenChange). Of those with one name the first.
  void TryHidden(const FeedForwardFit& start, const ProjectedRows& right) {
    const auto changes = HiddenChanges(right_, InputNamed(start.inputs, "gate").shape[0]);
    constexpr double kUsual = 16;  // choices of a deviation (IsEvident)
    const double more = std::max(1.0, static_cast<double>(changes.size()) / kUsual);
    for (const auto& [name, sentence, apply] : changes) {
      if (!fits_.empty() && fits_.back().deviations.name == name) continue;
      HiddenFormula formula = start.formula;
      apply(formula);
      const ProjectedRows rows =
          formula.ReadsOtherRows() ? rows_.ProjectedBy(start.inputs, formula) : right;
      if (!rows_.FitsAll(formula, start.inputs, rows)) continue;
      FeedForwardFit fit = start;
      fit.formula = formula;
      fit.deviations.Add(name, sentence);
      fit.deviations.bits += std::log2(more);
      fits_.push_back(std::move(fit));
    }
  }

  // The usual constant of another curve.
  void TryCurve(FeedForwardFit fit, const CurveFacts& facts, const ProjectedRows& rows) {
    fit.deviations.Add("function_is_" + facts.name, "the function is " + facts.name + ", " +
                                                        facts.formula +
                                                        " with c = " + PrintValue(facts.usual));
    if (rows_.FitsAll(fit.formula, fit.inputs, rows)) return fits_.push_back(fit);
    if (fit.deviations.count < kMostFeedForwardDeviations) TryAnyFunction(fit, rows);
  }

  // A deviation besides the function.
  void TryAnyFunction(const FeedForwardFit& start, const ProjectedRows& rows) {
    TryResidual(start, rows);
    TryFactor(start, rows);
    TryHiddenColumns(start, rows);
    TryLimit(start, rows);
    if (start.deviations.count + 1 == kMostFeedForwardDeviations) return;
    FeedForwardFit residual = start;
    residual.formula.residual = 1;
    residual.deviations.Add("residual_added", "x is added to y");
    TryHiddenColumns(residual, rows);
    TryFactor(residual, rows);
  }

  // x is added to y, once or another number of times.
  void TryResidual(FeedForwardFit fit, const ProjectedRows& rows) {
    const auto number = [](const Rest& r) { return Quotient(r.rest, r.error, r.x); };
    const auto found = ConstantOf(fit, rows, number, 0);
    if (!found) return;
    fit.formula.residual = found->value;
    fit.deviations.Count(*found);
    fit.deviations.Add("residual_added", found->text + " x is added to y");
    fits_.push_back(std::move(fit));
  }
  void TryFactor(FeedForwardFit fit, const ProjectedRows& rows) {
    const auto number = [](const Rest& r) {
      return Quotient(r.rest + r.product, r.error, r.product);
    };
    const auto found = ConstantOf(fit, rows, number, 1);
    if (!found) return;
    fit.formula.factor = found->value;
    fit.deviations.Count(*found);
    fit.deviations.Add("hidden_multiplied", "the hidden tensor is multiplied by " + found->text);
    fits_.push_back(std::move(fit));
  }
  // The number that all elements allow; none if that is the usual one.
  template <class NumberOf>
  std::optional<Constant> ConstantOf(const FeedForwardFit& fit, const ProjectedRows& rows,
                                     const NumberOf& number, double usual) const {
    Range range;
    for (const ProjectedRow& row : rows) {
      for (const Rest& rest : rows_.RestsOf(fit.formula, fit.inputs, row))
        range.Intersect(number(rest));
      if (range.IsEmpty()) return std::nullopt;
    }
    if (!range.IsBounded() || range.Contains(usual)) return std::nullopt;
    return ConstantsIn(range, {{1, "1"}, {2, "2"}, {0.5, "0.5"}, {-1, "-1"}}).front();
  }

  // Some hidden columns are lost in y, or counted twice.
  void TryHiddenColumns(const FeedForwardFit& start, const ProjectedRows& rows) {
    std::vector<Products> all = rows_.HiddenProducts(start.formula, start.inputs, rows);
    if (all.empty()) return;
    for (const Columns& columns : FitColumns(all)) {
      FeedForwardFit fit = start;
      Tensor<double>& down = InputNamed(fit.inputs, "down");
      for (size_t i = 0; i < down.data.size(); ++i)
        down.data[i] *= columns.TimesOf(i % down.shape[1]);
      if (!rows_.FitsAll(fit.formula, fit.inputs, rows)) continue;
      Describe(columns, down.shape[1], "hidden columns", fit.deviations);
      fits_.push_back(std::move(fit));
    }
  }

  void TryConstant(FeedForwardFit fit, const CurveFacts& facts, const ProjectedRows& rows) {
    const Range range = rows_.Measured(
        fit.formula, fit.inputs, rows.front(),
        [](HiddenFormula& f) -> double& { return f.function.c; }, facts.constants);
    if (range.IsEmpty() || range.Contains(facts.usual)) return;
    const auto found = ConstantsIn(range, facts.named);
    fit.formula.function.c = found.front().value;
    if (!rows_.FitsAll(fit.formula, fit.inputs, rows)) return;
    fit.deviations.Count(found.front());
    fit.deviations.Add(facts.name == FactsOf(right_.curve).name ? facts.name + "_constant"
                                                                : "function_is_" + facts.name,
                       "the function is " + facts.formula + " with c = " + TextOf(found) +
                           ", expected " + FactsOf(right_.curve).name +
                           " with c = " + PrintValue(right_.c));
    fits_.push_back(fit);
  }
  // The hidden tensor is limited on both sides.
  void TryLimit(FeedForwardFit fit, const ProjectedRows& rows) {
    double largest = 0;
    ProjectedRow with_largest;  // of the chosen rows the one that shows a limit best
    for (const ProjectedRow& row : rows) {
      for (size_t f = 0; f < row.gate.size(); ++f) {
        const double size = std::abs(fit.formula(f, row.gate[f], row.up[f]));
        if (size > largest) largest = size, with_largest = row;
      }
    }
    if (largest == 0) return;
    const auto limit = [](HiddenFormula& f) -> double& { return f.limit; };
    const Range range = rows_.Measured(fit.formula, fit.inputs, with_largest, limit, {0, largest});
    if (range.IsEmpty() || !(range.low > 0)) return;
    const Constant found = ConstantsIn(range, {}).front();
    fit.formula.limit = found.value;
    if (!rows_.FitsAll(fit.formula, fit.inputs, rows)) return;
    fit.deviations.Count(found);
    fit.deviations.Add("hidden_limited",
                       "the hidden tensor is limited to " + found.text + " and -" + found.text);
    fits_.push_back(fit);
  }
  // A limit of gate or up, or a number added to one of them.
  void TryProjections(const FeedForwardFit& start, const ProjectedRows& rows) {
    if (rows.empty() || rows[0].gate.empty()) return;
    constexpr double kMostAdded = 4;
    const ProjectedRow& worst = *std::ranges::max_element(rows, {}, [&](const ProjectedRow& row) {
      return SquaresOf(rows_.RestsOf(start.formula, start.inputs, row));
    });
    const auto largest = [](const std::vector<double>& x) {
      return std::ranges::max(x, {}, [](double one) { return std::abs(one); });
    };
    const double gate = std::abs(largest(worst.gate)), up = std::abs(largest(worst.up));
    for (const auto& [kind, of_gate, name, text, in] : ProjectionNumbers()) {
      using enum ProjectionNumber::Kind;
      const double most = kind == kAdded ? kMostAdded : of_gate ? gate : up;
      const Range domain{kind == kMost ? 0 : -most, kind == kLeast ? 0 : most};
      FeedForwardFit fit = start;
      const Range range = rows_.Measured(fit.formula, fit.inputs, worst, in, domain);
      if (range.IsEmpty() || !range.IsBounded() || range.high - range.low > gate + up) continue;
      const Constant found = ConstantsIn(range, {}).front();
      in(fit.formula) = found.value;
      if (fit.formula.up_added == 1) continue;  // a combination
      if (!rows_.FitsAll(fit.formula, fit.inputs, rows)) continue;
      std::string sentence = text;
      fit.deviations.Count(found);
      fit.deviations.Add(name, sentence.replace(sentence.find('#'), 1, found.text));
      fits_.push_back(std::move(fit));
    }
  }
  const Observation& seen_;
  Function right_;
  ForwardRows rows_;
  bool measures_constants_ = true;
  std::vector<FeedForwardFit> fits_;
};

std::vector<Explanation> MeasureFeedForward(const Observation& seen) {
  std::vector<Explanation> explanations;
  for (const auto& [formula, inputs, found] :
       SimplestFits([&](ErrorBar bar) { return FeedForwardFitter(seen, bar).All(); }))
    explanations.push_back(
        {found.name,
         found.sentence,
         {WithHiddenFormula(seen.c, formula), inputs, seen.recipe, formula.ReadsOtherRows()}});
  return explanations;
}

}  // namespace

std::vector<Measurement> FeedForwardMeasurements() { return {MeasureFeedForward}; }

}  // namespace sextant::oracle
