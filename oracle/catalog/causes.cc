#include "oracle/catalog/causes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/defect.h"
#include "reference/base/parallel.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"

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

Part PartOf(const Observation& seen, const Slice& slice) {
  const auto& [c, inputs, recipe, golden, permitted, answer, subject] = seen;
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

// Progress is complete after the proof; here it only serves to cancel.
void MayCancel(const ProveOptions& options, std::mutex& mutex) {
  if (!options.progress) return;
  const std::lock_guard lock(mutex);
  options.progress(1);
}

struct Parts {
  std::vector<Part> whole;    // the whole case, or the slices in the budget
  std::vector<Part> sampled;  // the slices where the answer is farthest from the recipe's
  double whole_distance = 0, sampled_distance = 0;  // of the recipe's answer
};

Parts PartsOf(const Observation& seen, const ProveOptions& options) {
  const auto& [c, inputs, recipe, golden, permitted, answer, subject] = seen;
  const Hypothesis correct{c.operation().Clone(), inputs, recipe};
  const std::vector<Slice> slices = SlicesInBudget(c, kSliceElements);
  std::vector<std::pair<double, size_t>> distances(slices.size());
  std::mutex mutex;
  InParallel(slices.size(), options.threads, [&](size_t i) {
    distances[i] = {Distance(correct, seen.c, PartOf(seen, slices[i])), i};
    MayCancel(options, mutex);
  });
  std::ranges::sort(distances, std::greater());
  Parts parts;
  size_t elements = 0;
  for (const auto& [distance, i] : distances) {
    parts.whole_distance += distance;
    if (HasBudget()) parts.whole.push_back(PartOf(seen, slices[i]));
    if (distance == 0 || elements >= kSampleElements) continue;
    parts.sampled.push_back(PartOf(seen, slices[i]));
    parts.sampled_distance += distance;
    elements += ElementsOf(parts.sampled.back());
  }
  if (!HasBudget()) parts.whole.push_back(PartOf(seen, {}));
  return parts;
}

// The distance from all parts; stops when it exceeds `limit`.
double Distance(const Hypothesis& hypothesis, const Case& c, const std::vector<Part>& parts,
                double limit) {
  double sum = 0;
  for (const Part& part : parts) {
    sum += Distance(hypothesis, c, part);
    if (sum > limit) break;
  }
  return sum;
}

// The distances of all defects; infinite for those that are farther than the recipe / kFarther.
std::vector<double> Distances(const std::vector<Defect>& defects, const Case& c,
                              const Tensors& inputs, const Recipe& recipe, const Parts& parts,
                              const ProveOptions& options) {
  const bool has_budget = HasBudget();
  const double sampled_limit = parts.sampled_distance / kFarther;
  const double whole_limit = parts.whole_distance / kFarther;
  std::vector<double> distances(defects.size(), kInfinity);
  std::mutex mutex;
  InParallel(defects.size(), options.threads, [&](size_t i) {
    const bool is_across = defects[i].is_across_slices;
    if (is_across && has_budget) return;
    const auto hypothesis = defects[i].hypothesis(c, inputs, recipe);
    if (!hypothesis) return;
    if (!is_across && Distance(*hypothesis, c, parts.sampled, sampled_limit) > sampled_limit)
      return;
    const double distance = Distance(*hypothesis, c, parts.whole, whole_limit);
    if (distance <= whole_limit) distances[i] = distance;
    MayCancel(options, mutex);
  });
  return distances;
}

bool Explains(const Hypothesis& hypothesis, const Observation& seen, const Parts& parts) {
  return std::ranges::all_of(parts.whole, [&](const Part& part) {
    return Explains(hypothesis, seen.c, seen.recipe, seen.answer, part.slice);
  });
}

std::vector<Cause> ListedCauses(const Observation& seen, const Parts& parts,
                                const ProveOptions& options) {
  const auto& [c, inputs, recipe, golden, permitted, answer, subject] = seen;
  const std::vector<Defect>& defects = CatalogEntryOf(c.name()).defects;
  const auto distances = Distances(defects, c, inputs, recipe, parts, options);
  size_t elements = 0;
  for (const Part& part : parts.whole) elements += ElementsOf(part);
  std::vector<size_t> order(defects.size()), explaining;
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return distances[i]; });
  // Defects with little effect in this case are infinitely far: they would explain any other bug.
  // `farthest` drops defects whose effect resembles that of the nearest one.
  double farthest = std::numeric_limits<double>::max();
  std::mutex mutex;
  for (const size_t i : order) {
    if (distances[i] > farthest) break;
    const auto hypothesis = defects[i].hypothesis(c, inputs, recipe);
    MayCancel(options, mutex);
    if (!Explains(*hypothesis, seen, parts)) continue;
    if (explaining.empty())
      farthest = std::max(kFarther * distances[i], kNoise * static_cast<double>(elements));
    explaining.push_back(i);
  }
  const double near = explaining.empty() ? 0 : kFarther * distances[explaining.front()];
  std::ranges::sort(explaining, {}, [&](size_t i) { return std::pair(distances[i] > near, i); });
  std::vector<Cause> causes;
  for (const size_t i : explaining) causes.push_back({defects[i].name, defects[i].why});
  return causes;
}

}  // namespace

std::vector<Cause> CausesOf(const Observation& seen, const ProveOptions& options) {
  const Parts parts = PartsOf(seen, options);
  if (parts.whole_distance == 0) return {};
  std::vector<Cause> causes = ListedCauses(seen, parts, options);
  if (!causes.empty()) return causes;
  for (const Measurement& measure : CatalogEntryOf(seen.c.name()).measurements) {
    for (const auto& [name, sentence, model] : measure(seen)) {
      const double limit = parts.whole_distance / kFarther;
      if (Distance(model, seen.c, parts.whole, limit) <= limit && Explains(model, seen, parts))
        causes.push_back({name, sentence});
    }
  }
  return causes;
}

}  // namespace sextant::oracle
