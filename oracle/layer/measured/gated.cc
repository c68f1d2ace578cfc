#include "oracle/layer/measured/gated.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "oracle/layer/measured/column_order.h"
#include "oracle/layer/measured/function.h"
#include "oracle/layer/measured/model.h"
#include "reference/layer/gated.h"

namespace sextant::oracle {
namespace {

constexpr size_t kGate = 0, kUp = 1;
constexpr size_t kElements = 512;        // that are looked at
constexpr size_t kOrders = 2;            // the first layouts, which are combined with all forms
constexpr size_t kManyElements = 65536;  // of which orders of columns are not tried

// How the function and the product are combined.
enum class Form { kProduct, kOfProduct, kGateAlone, kSum };

struct MeasuredGated : Gated {
  Function function;
  Form form = Form::kProduct;
  double up_low = -kInfinity, up_high = kInfinity, added = 0;

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
      if (form == Form::kOfProduct) {
        y.data[i] = Activated(g * (u + added), Real(g) * other);
      } else {
        const Real activated = Activated(g, Real(g));
        const ScopedStep step(Step::kGate);
        y.data[i] = form == Form::kGateAlone ? activated
                    : form == Form::kSum     ? activated + other
                                             : activated * other;
      }
    }
  }
};

// The inputs that take the roles of gate and up.
struct Layout {
  std::string name, sentence;  // empty for the right one
  Tensors inputs;
};

// Element i of a row of gate and up side by side is the half and the column `place(i, F)` of it.
Tensors Rearranged(const Tensors& inputs, size_t (*place)(size_t i, size_t F)) {
  Tensors other = inputs;
  const size_t F = RowWidth(inputs[kGate].values.shape);
  for (size_t i = 0; i < inputs[kGate].values.data.size(); ++i) {
    for (const size_t half : {kGate, kUp}) {
      const size_t from = place(half * F + i % F, F);
      other[half].values.data[i] = inputs[from / F].values.data[i / F * F + from % F];
    }
  }
  return other;
}

Tensors Reordered(const Tensors& inputs, size_t half, const ColumnOrder& order) {
  Tensors other = inputs;
  const size_t F = RowWidth(inputs[half].values.shape);
  for (size_t i = 0; i < other[half].values.data.size(); ++i)
    other[half].values.data[i] = inputs[half].values.data[i / F * F + order.of(i % F)];
  return other;
}

std::vector<Layout> LayoutsOf(const Tensors& inputs) {
  const auto with = [&](size_t gate, size_t up) {
    Tensors other = inputs;
    other[kGate].values = inputs[gate].values;
    other[kUp].values = inputs[up].values;
    return other;
  };
  std::vector<Layout> layouts = {
      {"", "", inputs},
      {"gate_exchanged_with_up", "up is activated instead of gate", with(kUp, kGate)},
      {"gate_in_place_of_up", "the activated gate is multiplied by gate instead of up",
       with(kGate, kGate)},
      {"up_in_place_of_gate", "up is activated and multiplied by up", with(kUp, kUp)},
      {"halves_read_as_pairs",
       "gate and up, side by side in a row, are read as even and odd channels",
       Rearranged(inputs, [](size_t i, size_t F) { return i % F * 2 + i / F; })},
      {"pairs_read_as_halves",
       "gate and up, even and odd channels of a row, are read as its halves",
       Rearranged(inputs, [](size_t i, size_t F) { return i % 2 * F + i / 2; })}};
  if (inputs[kGate].values.data.size() > kManyElements) return layouts;
  for (const ColumnOrder& order : ColumnOrdersOf(RowWidth(inputs[kGate].values.shape))) {
    for (const size_t half : {kGate, kUp})
      layouts.push_back(
          {inputs[half].name + "_" + order.name,
           "the columns of " + inputs[half].name + " are in another order: " + order.text,
           Reordered(inputs, half, order)});
  }
  return layouts;
}

using FunctionFits = std::vector<FunctionFit> (*)(const std::vector<Pair>&, const Function&);

struct GatedFit {
  MeasuredGated model;
  const Tensors* inputs;
  Deviations deviations;
};

class Fitter {
 public:
  Fitter(const Observation& seen, ErrorBar bar)
      : recipe_(seen.recipe),
        op_(dynamic_cast<const TypedOperation<Gated>&>(seen.c.operation()).op()),
        samples_(Samples(seen, 0, bar).Chosen(kElements)) {
    right_.function = FunctionOf(ActivationOf(op_.kind), op_.Beta());
    right_.added = op_.plus_one ? 1 : 0;
    if (!op_.limit) return;
    right_.function.high = right_.up_high = *op_.limit;
    right_.up_low = -*op_.limit;
  }

  std::vector<GatedFit> All(const std::vector<Layout>& layouts) {
    for (size_t i = 0; i < layouts.size(); ++i) {
      const Layout& layout = layouts[i];
      for (const Form form : {Form::kProduct, Form::kOfProduct, Form::kGateAlone, Form::kSum}) {
        for (const bool other_one : {false, true}) {
          if (i >= kOrders && (form != Form::kProduct || other_one)) continue;
          GatedFit start{right_, &layout.inputs, {}};
          start.model.form = form;
          if (!layout.name.empty()) start.deviations.Add(layout.name, layout.sentence);
          if (form == Form::kOfProduct)
            start.deviations.Add("product_activated", "the product is activated instead of gate");
          if (form == Form::kGateAlone)
            start.deviations.Add("up_missing", "y is f(g): up is not multiplied");
          if (form == Form::kSum)
            start.deviations.Add("halves_added", "up is added to f(g) instead of multiplied");
          if (other_one) ExchangeOne(start);
          TryLimits(start);
        }
      }
    }
    for (const FunctionFits others : {FitMoreFunctions, FitTables}) {
      if (fits_.empty()) TryFunctions({right_, &layouts.front().inputs, {}}, samples_, others);
    }
    KeepSimplest(fits_);
    std::vector<double> distances;
    for (const Sample& sample : samples_)
      distances.push_back(std::abs(sample.y - sample.right) / sample.error);
    EraseAccidents(fits_, distances);
    return fits_;
  }

 private:
  void ExchangeOne(GatedFit& fit) const {
    fit.model.added = 1 - right_.added;
    fit.deviations.Add(op_.plus_one ? "plus_one_missing" : "one_added_to_up",
                       op_.plus_one ? "1 is not added to up" : "1 is added to up");
  }

  // Limits of up: the right ones, none, or others that are measured.
  void TryLimits(const GatedFit& start) {
    const size_t before = fits_.size();
    TryFunctions(start, samples_);
    if (fits_.size() > before || start.model.form == Form::kGateAlone ||
        start.model.form == Form::kSum)
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
    if (fits_.size() > before || start.model.form == Form::kOfProduct) return;
    TryFunctions(unlimited, InnerSamples(*start.inputs));
    std::vector<GatedFit> inner(fits_.begin() + static_cast<ptrdiff_t>(before), fits_.end());
    fits_.resize(before);
    for (GatedFit& fit : inner) {
      if (SetUpLimit(fit, 1) && SetUpLimit(fit, -1) && FitsAll(fit)) fits_.push_back(fit);
    }
  }

  Pair PairFor(const GatedFit& fit, Sample sample) const {
    const double g = (*fit.inputs)[kGate].values.data[sample.at],
                 u = fit.model.Limited((*fit.inputs)[kUp].values.data[sample.at]) + fit.model.added;
    if (fit.model.form == Form::kOfProduct) return PairOf(g * u, 1, sample, recipe_);
    if (fit.model.form == Form::kProduct) return PairOf(g, u, sample, recipe_);
    if (fit.model.form == Form::kSum) sample.y -= u, sample.right -= u;
    return PairOf(g, 1, sample, recipe_);
  }

  void TryFunctions(const GatedFit& start, const std::vector<Sample>& samples,
                    FunctionFits fits_of = FitFunctions) {
    std::vector<Pair> pairs;
    for (const Sample& sample : samples) pairs.push_back(PairFor(start, sample));
    for (const auto& [function, found] : fits_of(pairs, right_.function)) {
      GatedFit fit = start;
      fit.model.function = function;
      fit.deviations.Add(found);
      fits_.push_back(fit);
    }
  }

  // Those with the smallest |up|: beyond them up may be limited.
  std::vector<Sample> InnerSamples(const Tensors& inputs) const {
    std::vector<Sample> inner = samples_;
    const auto& up = inputs[kUp].values.data;
    std::ranges::sort(inner, {}, [&](const Sample& sample) { return std::abs(up[sample.at]); });
    inner.resize((inner.size() + 5) / 6);
    return inner;
  }

  // The limit above (side 1) or below, from the elements on that side that do not fit without one.
  bool SetUpLimit(GatedFit& fit, double side) const {
    double& limit = side > 0 ? fit.model.up_high : fit.model.up_low;
    const double expected = side > 0 ? right_.up_high : right_.up_low;
    const std::string place = side > 0 ? " above" : " below";
    const auto& up = (*fit.inputs)[kUp].values.data;
    Span range;
    for (const Sample& sample : samples_) {
      const Pair pair = PairFor(fit, sample);
      if (up[sample.at] * side <= 0 || Fits(fit.model.function, pair)) continue;
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
  const std::vector<Layout> layouts = LayoutsOf(seen.inputs);
  std::vector<Explanation> explanations;
  for (const auto& [model, inputs, found] :
       SimplestFits([&](ErrorBar bar) { return Fitter(seen, bar).All(layouts); })) {
    explanations.push_back(
        {found.name, found.sentence, {MeasuredOperation(seen.c, model), *inputs, seen.recipe}});
  }
  return explanations;
}

}  // namespace

std::vector<Measurement> GatedMeasurements() { return {MeasureGate}; }

}  // namespace sextant::oracle
