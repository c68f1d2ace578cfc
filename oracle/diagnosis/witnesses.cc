#include "oracle/diagnosis/witnesses.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/diagnosis/prediction.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

// At least kFewestWitnessSlices slices, if the case can be cut, so that some are left for the test.
constexpr size_t kFewestWitnessSlices = 64, kMostSliceElements = 128;
// The witnesses have at most this many slices of each kind.
constexpr size_t kFailing = 16, kConforming = 8;

size_t ElementsOfCase(const Case& c) {
  size_t count = 0;
  for (const TensorSpec& output : c.info().signature.outputs) count += CountOf(c.ShapeOf(output));
  return count;
}

// The error of the answer: at least that of the right one, and that of a number of its size that is
// rounded once. Without a finite permitted error, an element cannot be compared.
double UnitOf(double permitted, double right, double answer, DType dtype) {
  const double largest = std::isfinite(answer) ? std::max(std::abs(right), std::abs(answer)) : 0;
  const double unit = permitted + largest * UnitRoundoffOf(dtype);
  return unit > 0 && std::isfinite(unit) ? unit : kNaN;
}

}  // namespace

Witness WitnessOf(const Observation& seen, const Slice& slice) {
  Witness witness{slice, {}, {}};
  for (size_t o = 0; o < seen.permitted.size(); ++o) {
    const TensorSpec& spec = seen.c.info().signature.outputs[o];
    Tensor<double>& answer = witness.answer.emplace_back(Shape{0});
    Tensor<double>& units = witness.units.emplace_back(Shape{0});
    const auto at = std::ranges::find(seen.answer, spec.name, &NamedTensor::name);
    if (at == seen.answer.end()) continue;
    answer = ExtractSlice(at->values, spec, slice);
    units = ExtractSlice(seen.permitted[o].error, spec, slice);
    const Tensor<double> right = ExtractSlice(seen.golden[o].high, spec, slice);
    for (size_t i = 0; i < answer.data.size(); ++i) {
      const double error = std::abs(answer.data[i] - right.data[i]), permitted = units.data[i];
      units.data[i] = UnitOf(permitted, right.data[i], answer.data[i], at->dtype);
      if (!std::isnan(units.data[i]) && error > 0) witness.distance += error / units.data[i];
      if (std::isnan(right.data[i]) || !std::isfinite(permitted) || error <= permitted) continue;
      ++witness.failing;
      witness.worst =
          std::max(witness.worst, std::isnan(error) ? kInfinity : error / units.data[i]);
    }
  }
  return witness;
}

namespace {

// The same, but only of the elements with these permitted errors: NaN leaves one out.
Witness WitnessWith(const Observation& seen, const std::vector<PermittedTensor>& permitted) {
  return WitnessOf(WithPermitted(seen, permitted, {}), {});
}

// Of a case that cannot be cut: one witness with every second row that fails, and one with all
// other rows. Each is evaluated as the whole case.
Witnesses RowWitnesses(const Observation& seen) {
  const AnsweredSlice whole = AnsweredSliceOf(seen, {});
  std::vector<PermittedTensor> fit = seen.permitted, test = seen.permitted;
  Witnesses chosen;
  for (size_t o = 0; o < fit.size(); ++o) {
    const auto& failing = whole.failing[o];
    const Shape& shape = fit[o].error.shape;
    const auto width = static_cast<ptrdiff_t>(shape.empty() ? 1 : shape.back());
    for (auto row = failing.begin(); row != failing.end(); row += width) {
      const auto count = static_cast<size_t>(std::count(row, row + width, 1));
      chosen.failing_elements += count;
      chosen.failing_slices += count > 0;
      const bool is_fitted = count > 0 && chosen.failing_slices % 2 == 1;
      auto& others = (is_fitted ? test : fit)[o].error.data;
      std::fill_n(others.begin() + (row - failing.begin()), width, kNaN);
    }
  }
  if (chosen.failing_slices == 0) return chosen;
  chosen.fit.push_back(WitnessWith(seen, fit));
  if (chosen.failing_slices > 1) chosen.test.push_back(WitnessWith(seen, test));
  chosen.failing_slices = std::min(chosen.failing_slices, kFailing);
  return chosen;
}

}  // namespace

Witnesses WitnessesOf(const Observation& seen, size_t elements) {
  if (elements == 0)
    elements =
        std::clamp<size_t>(ElementsOfCase(seen.c) / kFewestWitnessSlices, 1, kMostSliceElements);
  const std::vector<Slice> slices = CutCase(seen.c, elements);
  if (slices.size() == 1) return RowWitnesses(seen);
  Witnesses chosen;
  std::vector<std::pair<double, size_t>> failing;  // the worst error, and the index of the slice
  for (size_t i = 0; i < slices.size(); ++i) {
    Witness witness = WitnessOf(seen, slices[i]);
    if (witness.failing > 0) {
      failing.emplace_back(witness.worst, i);
    } else if (i * kConforming / slices.size() >= chosen.test.size()) {
      chosen.test.push_back(std::move(witness));
    }
  }
  std::ranges::stable_sort(failing, std::greater(), &std::pair<double, size_t>::first);
  // The worst half and others over the whole range.
  const size_t worst = std::min(failing.size(), kFailing / 2);
  for (size_t j = 0; j < std::min(failing.size(), kFailing); ++j) {
    const size_t rest = failing.size() - worst;
    const size_t i = j < worst ? j : worst + (j - worst) * rest / (kFailing - worst);
    Witness witness = WitnessOf(seen, slices[failing[i].second]);
    chosen.failing_elements += witness.failing;
    ++chosen.failing_slices;
    (j % 2 == 0 ? chosen.fit : chosen.test).push_back(std::move(witness));
  }
  return chosen;
}

std::vector<double> ResidualsOf(const Observation& seen, const Hypothesis& model,
                                const Witness& witness) {
  std::vector<double> residuals;
  Tensors predicted;
  try {
    predicted = EvaluateByRecipe({seen.c, model.inputs.Readers(), model.recipe, *model.operation},
                                 witness.slice);
  } catch (const Error&) {  // the formula is not defined for its inputs: a token beyond the table
    return {kInfinity};
  }
  for (size_t o = 0; o < predicted.size(); ++o) {
    for (size_t i = 0; i < witness.answer[o].data.size(); ++i) {
      const double unit = witness.units[o].data[i];
      if (std::isnan(unit)) continue;
      const double got = witness.answer[o].data[i], expected = predicted[o].values.data[i];
      const double residual = SameNumber(got, expected) ? 0 : (got - expected) / unit;
      residuals.push_back(std::isnan(residual) ? kInfinity : residual);
    }
  }
  return residuals;
}

double DistanceOf(const Observation& seen, const Hypothesis& model, const Witness& witness) {
  double sum = 0;
  for (const double residual : ResidualsOf(seen, model, witness)) sum += std::abs(residual);
  return sum;
}

double DistanceOf(const Observation& seen, const Hypothesis& model,
                  std::span<const Witness> witnesses, double limit) {
  double sum = 0;
  for (const Witness& witness : witnesses) {
    sum += DistanceOf(seen, model, witness);
    if (sum > limit) break;
  }
  return sum;
}

}  // namespace sextant::oracle
