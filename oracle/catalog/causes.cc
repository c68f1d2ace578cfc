#include "oracle/catalog/causes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/defect.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/parallel.h"

namespace sextant::oracle {
namespace {

// A cause is dropped if its distance from the answer exceeds kFarther times that of the nearest
// cause and kNoise per element. Correct answers with different summation orders differ by up to
// kNoise times the permitted error on average.
constexpr double kFarther = 2, kNoise = 0.125;
constexpr size_t kSliceElements = 256, kSampleElements = 1024;

// A slice of the answer. `units` are the smaller of the permitted and the likely errors. Both have
// one tensor per output of the signature, which is empty if the output was not answered.
struct Part {
  Slice slice;
  std::vector<Tensor<double>> values, units;
};

Part PartOf(const Case& c, const Slice& slice, const std::vector<PermittedTensor>& permitted,
            const Tensors& answer) {
  Part part{slice, {}, {}};
  for (size_t o = 0; o < permitted.size(); ++o) {
    const TensorSpec& spec = c.info().signature.outputs[o];
    part.values.emplace_back();
    part.units.emplace_back();
    const auto at = std::ranges::find(answer, spec.name, &NamedTensor::name);
    if (at == answer.end()) continue;
    part.values.back() = ExtractSlice(at->values, spec, slice);
    part.units.back() = ExtractSlice(permitted[o].error, spec, slice);
    const Tensor<double> likely = ExtractSlice(permitted[o].likely, spec, slice);
    for (size_t i = 0; i < likely.data.size(); ++i)
      part.units.back().data[i] = std::min(part.units.back().data[i], likely.data[i]);
  }
  return part;
}

size_t ElementsOf(const Part& part) {
  size_t count = 0;
  for (const Tensor<double>& values : part.values) count += values.data.size();
  return count;
}

// Sum over all elements of min(1, |answer - prediction| / unit).
double Distance(const Hypothesis& hypothesis, const Case& c, const Part& part) {
  const Tensors predicted =
      EvaluateByRecipe(*hypothesis.operation, c, hypothesis.inputs, hypothesis.recipe, part.slice);
  double sum = 0;
  for (size_t o = 0; o < predicted.size(); ++o) {
    for (size_t i = 0; i < part.values[o].data.size(); ++i) {
      const double got = part.values[o].data[i], expected = predicted[o].values.data[i];
      if (SameNumber(got, expected)) continue;
      const double distance = std::abs(got - expected) / part.units[o].data[i];
      sum += distance < 1 ? distance : 1;  // 1 for NaN too
    }
  }
  return sum;
}

// The slices where the answer is farthest from the recipe's, and the recipe's distances.
struct Sample {
  std::vector<Part> parts;
  double distance = 0, whole_distance = 0;
};

Sample SampleOf(const Case& c, const Hypothesis& correct,
                const std::vector<PermittedTensor>& permitted, const Tensors& answer,
                const ProveOptions& options) {
  const std::vector<Slice> slices = CutCase(c, kSliceElements);
  std::vector<std::pair<double, size_t>> distances(slices.size());
  InParallel(slices.size(), options.threads, [&](size_t i) {
    distances[i] = {Distance(correct, c, PartOf(c, slices[i], permitted, answer)), i};
  });
  std::ranges::sort(distances, std::greater());
  Sample sample;
  size_t elements = 0;
  for (const auto& [distance, i] : distances) {
    sample.whole_distance += distance;
    if (distance == 0 || elements >= kSampleElements) continue;
    sample.parts.push_back(PartOf(c, slices[i], permitted, answer));
    sample.distance += distance;
    elements += ElementsOf(sample.parts.back());
  }
  return sample;
}

// True if the hypothesis is at most half as far from the sampled slices as the recipe.
bool IsNearSample(const Hypothesis& hypothesis, const Case& c, const Sample& sample) {
  double sum = 0;
  return std::ranges::all_of(sample.parts, [&](const Part& part) {
    sum += Distance(hypothesis, c, part);
    return sum <= sample.distance / kFarther;
  });
}

}  // namespace

std::vector<Cause> CausesOf(const Case& c, const Tensors& inputs, const Recipe& recipe,
                            const std::vector<PermittedTensor>& permitted, const Tensors& answer,
                            const ProveOptions& options) {
  const Sample sample =
      SampleOf(c, {c.operation().Clone(), inputs, recipe}, permitted, answer, options);
  if (sample.whole_distance == 0) return {};
  const std::vector<Defect>& defects = CatalogEntryOf(c.name()).defects;
  const Part whole = PartOf(c, {}, permitted, answer);
  std::vector<double> distances(defects.size(), kInfinity);
  std::mutex mutex;
  InParallel(defects.size(), options.threads, [&](size_t i) {
    const auto hypothesis = defects[i].hypothesis(c, inputs, recipe);
    if (hypothesis && (defects[i].is_across_slices || IsNearSample(*hypothesis, c, sample)))
      distances[i] = Distance(*hypothesis, c, whole);
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    options.progress(1);  // may cancel
  });
  // The first limit drops defects that have little effect in this case: they would explain any
  // other bug. The second drops defects whose effect resembles that of the nearest one.
  double farthest = sample.whole_distance / kFarther;
  std::vector<size_t> order(defects.size()), explaining;
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return distances[i]; });
  for (const size_t i : order) {
    if (distances[i] > farthest) break;
    if (!Explains(*defects[i].hypothesis(c, inputs, recipe), c, recipe, answer)) continue;
    if (explaining.empty())
      farthest = std::min(farthest, std::max(kFarther * distances[i],
                                             kNoise * static_cast<double>(ElementsOf(whole))));
    explaining.push_back(i);
  }
  std::ranges::sort(explaining);
  std::vector<Cause> causes;
  for (const size_t i : explaining) causes.push_back({defects[i].name, defects[i].why});
  return causes;
}

}  // namespace sextant::oracle
