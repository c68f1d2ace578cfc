#include "oracle/diagnosis/recipe/recipe_verdict.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "oracle/diagnosis/answer/scattered_elements.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/recipe/own_errors.h"
#include "oracle/diagnosis/recipe/recipe_witness.h"
#include "oracle/diagnosis/work.h"
#include "oracle/judge/sliced_judge.h"
#include "reference/base/parallel.h"
#include "reference/prove/budget.h"

namespace sextant::oracle {
namespace {

// Elements that are looked at first of a case that has more: enough to meet rows of all kinds, an
// eighth of a small case, of a large one as many as have 1/16 of the work of a search; in slices of
// kInSlice elements.
constexpr size_t kFewest = 4096, kMost = size_t{1} << 15, kInSlice = 1024;
constexpr size_t kPartOfCase = 8, kPartOfWork = 16;
// Of a recipe that says little, so many times as many elements are compared then: as many further
// ones as were looked at.
constexpr size_t kLarger = 2;

Verdict VerdictBy(const JudgedAnswer& answer, const Recipe& recipe, const ProveOptions& options) {
  const auto& [c, inputs, outputs, judge, verdict] = answer;
  constexpr auto kHow = Judge::Grading::kPassOrFail;
  const auto is_enclosed = [](double radius) { return radius < 0; };
  const bool proven = std::ranges::none_of(judge.golden(), [&](const GoldenTensor& golden) {
    return std::ranges::any_of(golden.radius.data, is_enclosed);
  });
  // Values that are proven need not be proven again.
  if (proven) return Judge(c, inputs, recipe, judge.golden(), options, kHow).Evaluate(outputs);
  // An answer that conforms needs no reference values of the whole case.
  auto in_slices = JudgeInSlices(c, ReadersOf(inputs), recipe, options, ReadersOf(outputs));
  if (in_slices) return *std::move(in_slices);
  return Judge(c, inputs, recipe, options, kHow).Evaluate(outputs);
}

// About so many elements of the case, conforming if the recipe permits all errors there; else
// empty. Unlike a judgement, this copies nothing, and ends at the first error that is not
// permitted.
std::optional<Verdict> PermittedInPart(const JudgedAnswer& answer, const Recipe& recipe,
                                       size_t elements, const ProveOptions& options) {
  const ScopedBudget within(Budget{.elements = elements});
  const std::vector<Slice> slices = SlicesInBudget(answer.c, kInSlice);
  std::atomic<bool> permits = true;
  std::atomic<size_t> judged = 0;
  std::mutex mutex;
  InParallel(slices.size(), options.threads, [&](size_t i) {
    if (!permits) return;
    if (options.progress) {  // may cancel
      const std::lock_guard lock(mutex);
      options.progress(1);
    }
    const auto count = PermittedIn(answer, slices[i], recipe);
    if (count) judged += *count;
    if (!count) permits = false;
  });
  if (!permits) return std::nullopt;
  Verdict verdict;
  verdict.sample = SampleIn(answer.c);
  verdict.tensors.emplace_back().judged = judged;
  return verdict;
}

// True if it says little that the recipe permits the errors, so that a part says enough of it.
bool SaysLittle(const std::string& recipe, const JudgedAnswer& answer) {
  return (IsLarge(answer.c) && PermitsZeros(recipe, answer)) ||
         HasOtherErrors(recipe, {&answer, 1});
}

// Judges about so many elements; empty if the answer fails.
std::optional<Verdict> VerdictOnPart(const JudgedAnswer& answer, const Recipe& recipe,
                                     size_t elements, const ProveOptions& options) {
  const ScopedBudget within(Budget{.elements = elements});
  Verdict verdict = VerdictBy(answer, recipe, options);
  if (verdict.status == Verdict::Status::kFails) return std::nullopt;
  verdict.sample = SampleIn(answer.c);
  return verdict;
}

}  // namespace

size_t JudgedElements(const Verdict& verdict) {
  size_t count = 0;
  for (const TensorVerdict& tensor : verdict.tensors) count += tensor.judged;
  return count;
}

size_t JudgedBefore(const Verdict& verdict, const std::optional<Sample>& sample) {
  const size_t judged = JudgedElements(verdict);
  return sample ? judged * sample->elements / sample->all_elements : judged;
}

bool HasOutliers(const JudgedAnswer& answer, const std::string& start) {
  const auto& [c, inputs, outputs, judge, verdict] = answer;
  const Recipe recipe = ParseRecipe(start, c.dtype());
  const Observation seen{c, inputs, recipe, judge.golden(), judge.permitted(), outputs};
  const auto& specs = c.info().signature.outputs;
  bool some = false;  // fail end to end
  for (const TensorVerdict& of : verdict.tensors) {
    if (of.failed > kMostFew) return false;
    if (of.failed == 0) continue;
    some = true;
    const auto at = std::ranges::find(specs, of.name, &TensorSpec::name) - specs.begin();
    const auto tensor = AnsweredTensorOf(seen, static_cast<size_t>(at));
    if (!tensor || !AreOutliers(*tensor)) return false;
  }
  return some;
}

std::optional<Verdict> ConformingVerdict(const JudgedAnswer& answer, const std::string& recipe,
                                         const RecipeSearch& search) {
  const Case& c = answer.c;
  const Recipe parsed = ParseRecipe(recipe, c.dtype());
  size_t elements = 0;
  for (const NamedTensor& output : answer.outputs) elements += output.values.data.size();
  const size_t first = std::min(std::clamp(elements / kPartOfCase, kFewest, kMost),
                                ElementsInWork(c, MostWork(c) / kPartOfWork));
  if (!HasBudget() && first < elements) {
    const bool decides = Decides(c, recipe);
    if (!decides && !PermittedInPart(answer, parsed, first, search.prove)) return std::nullopt;
    size_t most = ElementsInWork(c, MostWork(c));
    if (search.in_part && !decides && SaysLittle(recipe, answer)) {
      most = std::min(most, kLarger * first);
      // The trace of intermediates is part of a judgement alone.
      if (answer.verdict.trace.empty()) return PermittedInPart(answer, parsed, most, search.prove);
    }
    if (search.in_part && most < elements) return VerdictOnPart(answer, parsed, most, search.prove);
  }
  Verdict verdict = VerdictBy(answer, parsed, search.prove);
  if (verdict.status == Verdict::Status::kFails) return std::nullopt;
  return verdict;
}

}  // namespace sextant::oracle
