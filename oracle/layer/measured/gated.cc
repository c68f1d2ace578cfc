#include "oracle/layer/measured/gated.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <utility>

#include "oracle/layer/measured/altered_function.h"
#include "oracle/layer/measured/function.h"
#include "oracle/layer/measured/function_numbers.h"
#include "oracle/layer/measured/gated_layouts.h"
#include "oracle/layer/measured/model.h"
#include "oracle/layer/measured/unknown_function.h"
#include "oracle/layer/tensor_places.h"
#include "reference/layer/gated.h"

namespace sextant::oracle {
namespace {

constexpr size_t kGatedElements = 512;  // that are looked at
constexpr double kMostSteps = 0.6;
constexpr size_t kMostLayouts = 8;

// How the function and the product are combined.
enum class GateForm { kProduct, kOfProduct, kGateAlone, kSum };

struct MeasuredGated : Gated {
  Function function;
  GateForm form = GateForm::kProduct;
  double up_low = -kInfinity, up_high = kInfinity, added = 0;
  double output_added = 0;  // to y

  double Limited(double up) const { return std::clamp(up, up_low, up_high); }
  template <class Real>
  Real Activated(double at, const Real& x) const {
    const ScopedStep step(Step::kActivation);
    return ValueOf(function, at, x);
  }
  template <class Real>
  void operator()(const Tensor<double>& gate, const Tensor<double>& up, Tensor<Real>& y) const {
    for (size_t i = 0; i < y.data.size(); ++i) {
      const double g = gate.data[i], u = Limited(up.data[i]);
      const Real other = added == 0 ? Real(u) : Real(u) + Real(added);
      if (form == GateForm::kOfProduct) {
        y.data[i] = Activated(g * (u + added), Real(g) * other);
      } else {
        const Real activated = Activated(g, Real(g));
        const ScopedStep step(Step::kGate);
        y.data[i] = form == GateForm::kGateAlone ? activated
                    : form == GateForm::kSum     ? activated + other
                                                 : activated * other;
      }
      if (output_added != 0) y.data[i] = y.data[i] + Real(output_added);
    }
  }
};

using FunctionFits = std::vector<FunctionFit> (*)(const std::vector<Pair>&, const Function&);

struct GatedFit {
  MeasuredGated model;
  const GateLayout* layout;
  Deviations deviations;
};

class GatedFitter {
 public:
  GatedFitter(const Observation& seen, ErrorBar bar)
      : recipe_(seen.recipe),
        op_(dynamic_cast<const TypedOperation<Gated>&>(seen.c.operation()).op()),
        samples_(Samples(seen, 0, bar).Chosen(kGatedElements)) {
    right_.function = FunctionOf(ActivationOf(op_.kind), op_.Beta());
    right_.added = op_.plus_one ? 1 : 0;
    if (!op_.limit) return;
    right_.function.high = right_.up_high = *op_.limit;
    right_.up_low = -*op_.limit;
  }

  // Of a second deviation (Observation) only those of usual functions of the right inputs.
  std::vector<GatedFit> All(const std::vector<GateLayout>& layouts, bool is_second) {
    for (const GatedFit& start : StartsOf(layouts.front())) TryLimits(start);
    if (!is_second) TryMore(layouts);
    KeepSimplest(fits_);
    std::vector<double> distances;
    for (const Sample& sample : samples_)
      distances.push_back(std::abs(sample.y - sample.right) / sample.error);
    EraseAccidents(fits_, distances);
    return fits_;
  }

  // y beside the right up, as a function of the gate.
  std::optional<std::string> Unknown(const GateLayout& right) const {
    return UnknownFunctionText(PairsFor({right_, &right, {}}, samples_), right_.function);
  }

 private:
  void TryMore(const std::vector<GateLayout>& layouts) {
    // Of other layouts those for which y is the most like a function: each takes long to fit.
    std::vector<std::pair<double, GatedFit>> others;
    for (const GateLayout& layout : layouts | std::views::drop(1)) {
      for (const GatedFit& start : StartsOf(layout)) {
        const double steps = StepsOf(start);
        if (steps <= kMostSteps) others.emplace_back(steps, start);
      }
    }
    std::ranges::stable_sort(others, {}, [](const auto& one) { return one.first; });
    for (const auto& [steps, start] : others | std::views::take(kMostLayouts)) TryLimits(start);
    for (const FunctionFits others : {FitMoreFunctions, FitAlterations, FitTables}) {
      if (fits_.empty()) TryFunctions({right_, &layouts.front(), {}}, samples_, others);
    }
    if (fits_.empty()) TryNumbers(layouts);
  }

  // Several numbers of the function, with the right inputs.
  void TryNumbers(const std::vector<GateLayout>& layouts) {
    const GatedFit start{right_, &layouts.front(), {}};
    for (const auto& [function, added, found] :
         FitNumbers(PairsFor(start, samples_), right_.function)) {
      fits_.push_back(start);
      fits_.back().model.function = function;
      fits_.back().model.output_added = added;
      fits_.back().deviations = found;
    }
  }

  std::vector<GatedFit> StartsOf(const GateLayout& layout) const {
    std::vector<GatedFit> starts;
    for (const GateForm form :
         {GateForm::kProduct, GateForm::kOfProduct, GateForm::kGateAlone, GateForm::kSum})
      for (const bool other_one : {false, true}) starts.push_back(StartOf(layout, form, other_one));
    return starts;
  }

  GatedFit StartOf(const GateLayout& layout, GateForm form, bool other_one) const {
    GatedFit start{right_, &layout, {}};
    start.model.form = form;
    if (!layout.name.empty()) start.deviations.Add(layout.name, layout.sentence);
    if (form == GateForm::kOfProduct)
      start.deviations.Add("product_activated", "the product is activated instead of gate");
    if (form == GateForm::kGateAlone)
      start.deviations.Add("up_missing", "y is f(g): up is not multiplied");
    if (form == GateForm::kSum)
      start.deviations.Add("halves_added", "up is added to f(g) instead of multiplied");
    if (other_one) ExchangeOne(start);
    return start;
  }

  // y without up may be a function of the argument: then it is nearly the same for neighbouring
  // arguments. With wrong inputs nearly all neighbours differ; a wrong limit of up changes less
  // than half of the numbers. Returns the part of the neighbours that differ.
  double StepsOf(const GatedFit& fit) const {
    std::vector<Pair> pairs;
    for (const Sample& sample : samples_) {
      pairs.push_back(PairFor(fit, sample));
      if (std::abs(pairs.back().y) <= 4 * pairs.back().error || pairs.back().weight == 0)
        pairs.pop_back();
    }
    std::ranges::sort(pairs, {}, &Pair::x);
    size_t steps = 0;
    for (size_t i = 1; i < pairs.size(); ++i) {
      const Pair &a = pairs[i - 1], &b = pairs[i];
      steps += std::abs(ValueOf(b) - ValueOf(a)) > MostBetween(a, b);
    }
    return pairs.empty() ? 1 : static_cast<double>(steps) / static_cast<double>(pairs.size());
  }

  void ExchangeOne(GatedFit& fit) const {
    fit.model.added = 1 - right_.added;
    fit.deviations.Add(op_.plus_one ? "plus_one_missing" : "one_added_to_up",
                       op_.plus_one ? "1 is not added to up" : "1 is added to up");
  }

  // Limits of up: the right ones, none, or others that are measured.
  void TryLimits(const GatedFit& start) {
    const size_t before = fits_.size();
    TryFunctions(start, samples_);
    if (fits_.size() > before || start.model.form == GateForm::kGateAlone ||
        start.model.form == GateForm::kSum)
      return;
    GatedFit unlimited = start;
    unlimited.model.up_low = -kInfinity;
    unlimited.model.up_high = kInfinity;
    if (op_.limit) {
      GatedFit without = unlimited;
      without.deviations.Add("up_not_limited",
                             "up is not limited, expected " + PrintValue(*op_.limit));
      TryFunctions(without, samples_);
    }
    if (fits_.size() > before || start.model.form == GateForm::kOfProduct) return;
    TryFunctions(unlimited, InnerSamples(*start.layout));
    std::vector<GatedFit> inner(fits_.begin() + static_cast<ptrdiff_t>(before), fits_.end());
    fits_.resize(before);
    for (GatedFit& fit : inner) {
      if (SetUpLimit(fit, 1) && SetUpLimit(fit, -1) && FitsAll(fit)) fits_.push_back(fit);
    }
  }

  Pair PairFor(const GatedFit& fit, Sample sample) const {
    const double g = fit.layout->number(kGate, sample.at),
                 u = fit.model.Limited(fit.layout->number(kUp, sample.at)) + fit.model.added;
    if (fit.model.form == GateForm::kOfProduct) return PairOf(g * u, 1, sample, recipe_);
    if (fit.model.form == GateForm::kProduct) return PairOf(g, u, sample, recipe_);
    if (fit.model.form == GateForm::kSum) sample.y -= u, sample.right -= u;
    return PairOf(g, 1, sample, recipe_);
  }

  std::vector<Pair> PairsFor(const GatedFit& fit, const std::vector<Sample>& samples) const {
    std::vector<Pair> pairs;
    for (const Sample& sample : samples) pairs.push_back(PairFor(fit, sample));
    return pairs;
  }
  void TryFunctions(const GatedFit& start, const std::vector<Sample>& samples,
                    FunctionFits fits_of = FitFunctions) {
    for (const auto& [function, found] : fits_of(PairsFor(start, samples), right_.function)) {
      GatedFit fit = start;
      fit.model.function = function;
      fit.deviations.Add(found);
      fits_.push_back(fit);
    }
  }

  // Those with the smallest |up|: beyond them up may be limited.
  std::vector<Sample> InnerSamples(const GateLayout& layout) const {
    std::vector<Sample> inner = samples_;
    std::ranges::sort(
        inner, {}, [&](const Sample& sample) { return std::abs(layout.number(kUp, sample.at)); });
    inner.resize((inner.size() + 5) / 6);
    return inner;
  }

  // The limit above (side 1) or below, from the elements on that side that do not fit without one.
  bool SetUpLimit(GatedFit& fit, double side) const {
    double& limit = side > 0 ? fit.model.up_high : fit.model.up_low;
    const double expected = side > 0 ? right_.up_high : right_.up_low;
    const std::string place = side > 0 ? " above" : " below";
    Range range;
    for (const Sample& sample : samples_) {
      const Pair pair = PairFor(fit, sample);
      if (fit.layout->number(kUp, sample.at) * side <= 0 || Fits(fit.model.function, pair))
        continue;
      const double f = ValueOf(fit.model.function, pair.x, pair.x);
      const double a = (pair.y - pair.error) / f - fit.model.added,
                   b = (pair.y + pair.error) / f - fit.model.added;
      range.Intersect({std::min(a, b), std::max(a, b)});
    }
    if (range.IsEmpty()) return false;
    if (range.Contains(expected)) {
      limit = expected;
    } else if (!range.IsBounded()) {
      fit.deviations.Add("up_not_limited", "up is not limited" + place);
    } else {
      const Constant found = ConstantsIn(range, {}).front();
      limit = found.value;
      fit.deviations.Count(found);
      fit.deviations.Add(side > 0 ? "up_limited_above" : "up_limited_below",
                         "up is limited to " + found.text + place +
                             (op_.limit ? ", expected " + PrintValue(expected) : ""));
    }
    return true;
  }
  bool FitsAll(const GatedFit& fit) const {
    return std::ranges::all_of(samples_, [&](const Sample& sample) {
      return Fits(fit.model.function, PairFor(fit, sample));
    });
  }

  const Recipe& recipe_;
  const Gated& op_;
  MeasuredGated right_;
  std::vector<Sample> samples_;
  std::vector<GatedFit> fits_;
};

std::vector<Explanation> MeasureGate(const Observation& seen) {
  if (!Samples(seen, 0, ErrorBar::kLikely).IsAnswered()) return {};
  const std::vector<GateLayout> layouts = LayoutsOf(seen.inputs);
  std::vector<Explanation> explanations;
  for (const auto& [model, layout, found] : SimplestFits(
           [&](ErrorBar bar) { return GatedFitter(seen, bar).All(layouts, seen.how.is_second); })) {
    const bool is_right = layout == &layouts.front();
    explanations.push_back(
        {found.name,
         found.sentence,
         {MeasuredOperation(seen.c, model),
          is_right ? SharedInputs::Of(seen.inputs) : SharedInputs(layout->Rearranged(seen.inputs)),
          seen.recipe}});
  }
  if (!explanations.empty()) return explanations;
  if (const auto unknown = GatedFitter(seen, ErrorBar::kPermitted).Unknown(layouts.front()))
    return {{"unknown_function",
             *unknown + ", where x is the gate and y is divided by what the gate is multiplied by",
             {nullptr, SharedInputs::Of(seen.inputs), seen.recipe}}};
  return {};
}

}  // namespace

std::vector<Measurement> GatedMeasurements() { return {MeasureGate}; }

}  // namespace sextant::oracle
