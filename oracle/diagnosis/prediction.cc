#include "oracle/diagnosis/prediction.h"

#include <algorithm>
#include <cmath>

#include "reference/number/counted/counted.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

// A hypothesis explains an answer only if the right formula is so many times as far from it.
constexpr double kRightIsFarther = 2;

struct Prediction {
  Values values;
  Values bounds;  // of |answer - value|; empty: not evaluated yet
};

// The number that stands for x in comparisons: where every bit is specified, -0 differs from 0, so
// it is the negative number next to 0.
void DistinguishZeros(const GoldenTensor& golden, Tensor<double>& values) {
  if (!golden.bitwise) return;
  for (double& x : values.data)
    if (x == 0 && std::signbit(x)) x = -MinSubnormal(DType::kF64);
}

void DistinguishZeros(const Observation& seen, Values& values) {
  for (size_t o = 0; o < values.size(); ++o) DistinguishZeros(seen.golden[o], values[o]);
}

Values ValuesByRecipe(const Evaluation& evaluation, const Slice& slice) {
  Values values;
  for (NamedTensor& tensor : EvaluateByRecipe(evaluation, slice))
    values.push_back(std::move(tensor.values));
  return values;
}

// |answer - x| <= error of the recipe and |x - centre| <= drift for the exact value x.
double BoundOf(const Counted& x, double rounded) {
  return x.error() + x.drift() + std::abs(x.center().high - rounded) + std::abs(x.center().low);
}

Prediction PredictExactly(const Observation& seen, const Hypothesis& model, const Slice& slice) {
  const ScopedRecipe following(seen.recipe, seen.c.dtype());
  const TensorReaders readers = model.inputs.Readers();
  const Outputs<Counted> outputs =
      Evaluated<Counted>({seen.c, readers, seen.recipe, *model.operation}, slice);
  Prediction prediction;
  for (const Output<Counted>& output : outputs) {
    const auto choice = model.operation->ChoiceOf(prediction.values.size());
    Tensor<double>& values = prediction.values.emplace_back(output.values.shape);
    Tensor<double>& bounds = prediction.bounds.emplace_back(output.values.shape);
    for (size_t i = 0; i < values.data.size(); ++i) {
      const Counted& x = output.values.data[i];
      values.data[i] = Chosen(choice, output.dtype, x.center().high);
      bounds.data[i] = BoundOf(x, values.data[i]);
    }
  }
  return prediction;
}

Prediction Predict(const Observation& seen, const Hypothesis& model, const Slice& slice, By by) {
  if (by == By::kExactly) return PredictExactly(seen, model, slice);
  const TensorReaders readers = model.inputs.Readers();
  return {ValuesByRecipe({seen.c, readers, model.recipe, *model.operation}, slice), {}};
}

Values TwicePermitted(const Observation& seen, const Hypothesis& model, const Slice& slice) {
  Values bounds;
  for (PermittedTensor& permitted :
       PermittedErrors({seen.c, model.inputs.Readers(), seen.recipe, *model.operation}, slice)) {
    for (double& error : permitted.error.data) error *= 2;
    bounds.push_back(std::move(permitted.error));
  }
  return bounds;
}

// At most 1; 1 for NaN too.
double DistanceOf(double got, double expected, double unit) {
  if (SameNumber(got, expected)) return 0;
  const double distance = std::abs(got - expected) / unit;
  return distance < 1 ? distance : 1;
}

Comparison Distances(const AnsweredSlice& part, const Values& right, const Values& predicted,
                     bool some_fail) {
  Comparison sums;
  for (size_t o = 0; o < part.answer.size(); ++o) {
    for (size_t i = 0; i < part.answer[o].data.size(); ++i) {
      const double got = part.answer[o].data[i], unit = part.units[o].data[i];
      if (std::isnan(unit)) continue;  // left out
      const double distance = DistanceOf(got, predicted[o].data[i], unit);
      sums.distance += distance;
      sums.near_failing += part.failing[o][i] != 0 && distance < 1;
      const bool fails = part.failing[o][i] != 0;
      const double effect = DistanceOf(right[o].data[i], predicted[o].data[i], unit);
      sums.effects += effect == 1;
      if (!fails && !(some_fail ? effect == 1 : effect > 0)) continue;
      // In an answer that is far from right, errors may be larger than those of the right one.
      const double of_right = std::abs(got - right[o].data[i]);
      sums.decisive_distance +=
          DistanceOf(got, predicted[o].data[i], of_right > unit ? of_right : unit);
      sums.decisive_distance_of_right += DistanceOf(got, right[o].data[i], unit);
    }
  }
  sums.elements = part.elements;
  sums.failing = part.failing_elements;
  return sums;
}

bool IsWithin(const AnsweredSlice& part, const Values& predicted, const Values& bounds) {
  for (size_t o = 0; o < part.answer.size(); ++o) {
    for (size_t i = 0; i < part.answer[o].data.size(); ++i) {
      const double got = part.answer[o].data[i], expected = predicted[o].data[i];
      if (SameNumber(got, expected)) continue;
      if (std::isnan(part.units[o].data[i])) continue;  // left out
      const double bound = bounds[o].data[i];
      if (std::isinf(bound) || !(std::abs(got - expected) <= bound)) return false;
    }
  }
  return true;
}

}  // namespace

AnsweredSlice AnsweredSliceOf(const Observation& seen, const Slice& slice) {
  AnsweredSlice part{slice, {}, {}, {}, {}};
  for (size_t o = 0; o < seen.permitted.size(); ++o) {
    const TensorSpec& spec = seen.c.info().signature.outputs[o];
    const auto at = std::ranges::find(seen.answer, spec.name, &NamedTensor::name);
    for (Values* values : {&part.answer, &part.units, &part.exact}) values->push_back({{0}, {}});
    std::vector<char>& failing = part.failing.emplace_back();
    if (at == seen.answer.end()) continue;
    part.answer[o] = ExtractSlice(at->values, spec, slice);
    part.exact[o] = ExtractSlice(seen.golden[o].value, spec, slice);
    DistinguishZeros(seen.golden[o], part.answer[o]);
    DistinguishZeros(seen.golden[o], part.exact[o]);
    part.units[o] = ExtractSlice(seen.permitted[o].error, spec, slice);
    const Tensor<double> likely = ExtractSlice(seen.permitted[o].likely, spec, slice);
    Tensor<double> high = ExtractSlice(seen.golden[o].high, spec, slice);
    DistinguishZeros(seen.golden[o], high);
    for (size_t i = 0; i < likely.data.size(); ++i) {
      double& unit = part.units[o].data[i];
      const double got = part.answer[o].data[i], error = std::abs(got - high.data[i]);
      // An element without a value does not fail.
      const bool has_value = seen.golden[o].bitwise || !std::isnan(high.data[i]);
      failing.push_back(!SameNumber(got, high.data[i]) && has_value && std::isfinite(unit) &&
                        !(error <= unit));
      unit = std::min(unit, likely.data[i]);
      if (has_value && !std::isnan(unit))
        part.score += DistanceOf(got, part.exact[o].data[i], unit);
    }
    part.elements += failing.size();
    part.failing_elements += static_cast<size_t>(std::ranges::count(failing, 1));
  }
  return part;
}

Values RightValues(const Observation& seen, const AnsweredSlice& part, By by) {
  if (by == By::kExactly) return part.exact;
  Values values = ValuesByRecipe({seen.c, seen.inputs, seen.recipe}, part.slice);
  DistinguishZeros(seen, values);
  return values;
}

Comparison& Comparison::operator+=(const Comparison& other) {
  conforms = conforms && other.conforms;
  distance += other.distance;
  decisive_distance += other.decisive_distance;
  decisive_distance_of_right += other.decisive_distance_of_right;
  elements += other.elements;
  failing += other.failing;
  near_failing += other.near_failing;
  effects += other.effects;
  return *this;
}

bool Comparison::refutes() const {
  return !conforms || kRightIsFarther * decisive_distance > decisive_distance_of_right;
}

Comparison Compare(const Observation& seen, const AnsweredSlice& part, const Values& right,
                   const Hypothesis& hypothesis, const Comparing& how) {
  Prediction prediction;
  try {
    prediction = Predict(seen, hypothesis, part.slice, how.by);
  } catch (const Error&) {  // the formula is not defined for its inputs: a token beyond the table
    return {.conforms = false};
  }
  DistinguishZeros(seen, prediction.values);
  Comparison sums = Distances(part, right, prediction.values, how.some_fail);
  if (sums.distance == 0) return sums;
  if (how.before && (Comparison(*how.before) += sums).refutes()) return sums;
  if (prediction.bounds.empty()) prediction.bounds = TwicePermitted(seen, hypothesis, part.slice);
  sums.conforms = IsWithin(part, prediction.values, prediction.bounds);
  return sums;
}

}  // namespace sextant::oracle
