#include "oracle/catalog/pairs.h"

#include <algorithm>
#include <numeric>

#include "oracle/catalog/catalog.h"
#include "oracle/diagnosis/prediction.h"

namespace sextant::oracle {
namespace {

// So many defects are tried as the first of a pair: those that predict most.
constexpr size_t kFirst = 4;

// The question that an implementation with one deviation answers.
struct ChangedQuestion {
  const Defect& defect;
  Case c;
  SharedInputs inputs;
};

// The case whose formula is `operation`.
Case CaseOf(const Case& c, const Operation& operation) {
  std::vector<std::string> words;
  const std::vector<Attribute> before = c.operation().Attributes(), after = operation.Attributes();
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i].text != before[i].text) words.push_back(after[i].name + "=" + after[i].text);
  }
  return words.empty() ? c : c.With(words);
}

// Not of a defect of the precision: an honest one and a defect with little effect are no pair.
std::optional<Hypothesis> ButAPrecision(const Observation& seen, const Defect& defect,
                                        const Case& c, const Tensors& inputs) {
  auto hypothesis = defect.hypothesis(c, inputs, seen.recipe);
  if (hypothesis && hypothesis->recipe.steps != seen.recipe.steps) hypothesis.reset();
  return hypothesis;
}

std::vector<ChangedQuestion> FirstsOf(const Observation& seen, Evidence& evidence) {
  std::vector<Candidate> candidates;
  std::vector<const Defect*> defects;
  for (const Defect& defect : CatalogEntryOf(seen.c.name()).defects) {
    if (defect.unmutated) continue;  // a second one would replace its formula
    defects.push_back(&defect);
    candidates.push_back({[&] { return ButAPrecision(seen, defect, seen.c, seen.inputs); },
                          defect.is_across_slices});
  }
  const std::vector<size_t> near = evidence.NearOf(candidates);
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return near[i]; });
  order.resize(std::min(order.size(), kFirst));
  std::vector<ChangedQuestion> firsts;
  for (const size_t i : order) {
    if (near[i] == 0) continue;
    const Hypothesis hypothesis = *candidates[i].make();
    firsts.push_back({*defects[i], CaseOf(seen.c, *hypothesis.operation), hypothesis.inputs});
  }
  return firsts;
}

std::vector<Cause> BothOf(const Defect& first, const Cause& second) {
  return {{first.name, first.why + "; together with " + second.name},
          {second.name, second.why + "; together with " + first.name, second.is_measured}};
}

std::vector<Cause> ListedSeconds(const ChangedQuestion& first, const Observation& seen,
                                 Evidence& evidence) {
  const std::vector<Defect>& defects = CatalogEntryOf(seen.c.name()).defects;
  std::vector<Candidate> candidates;
  for (const Defect& defect : defects) {
    candidates.push_back({[&] { return ButAPrecision(seen, defect, first.c, first.inputs); },
                          defect.is_across_slices});
  }
  const std::vector<Fit> fits = evidence.FitsOf(candidates);
  std::vector<size_t> explaining;
  for (size_t i = 0; i < fits.size(); ++i) {
    const auto alone =
        fits[i].explains ? ButAPrecision(seen, defects[i], seen.c, seen.inputs) : std::nullopt;
    if (alone && evidence.HasEffect(*alone)) explaining.push_back(i);
  }
  if (explaining.empty()) return {};
  const auto distance = [&](size_t i) { return fits[i].distance; };
  const Defect& defect = defects[*std::ranges::min_element(explaining, {}, distance)];
  return BothOf(first.defect, {defect.name, defect.why});
}

// What the measurements say if the first deviation is taken for right: it is proven for them again.
std::vector<Cause> MeasuredSeconds(const ChangedQuestion& first, const Observation& seen,
                                   Evidence& evidence, const ProveOptions& options) {
  const std::vector<Measurement>& measurements = CatalogEntryOf(seen.c.name()).measurements;
  if (measurements.empty()) return {};
  const auto [golden, permitted] =
      Enclose(first.c.operation(), first.c, first.inputs, seen.recipe, options);
  const Observation changed{.c = first.c,
                            .inputs = first.inputs,
                            .recipe = seen.recipe,
                            .golden = golden,
                            .permitted = permitted,
                            .answer = seen.answer,
                            .evaluations_left = seen.evaluations_left};
  // A first deviation by which more elements are wrong is none: the second would undo it.
  if (AnsweredSliceOf(changed, {}).failing_elements > evidence.failing()) return {};
  for (const Measurement& measure : measurements) {
    for (const auto& [name, sentence, model] : measure(changed)) {
      if (model.operation && evidence.FitOf(model).explains)
        return BothOf(first.defect, {name, sentence, true});
    }
  }
  return {};
}

}  // namespace

std::vector<Cause> PairCauses(const Observation& seen, Evidence& evidence,
                              const ProveOptions& options) {
  const std::vector<ChangedQuestion> firsts = FirstsOf(seen, evidence);
  for (const ChangedQuestion& first : firsts) {
    std::vector<Cause> causes = ListedSeconds(first, seen, evidence);
    if (causes.empty()) causes = MeasuredSeconds(first, seen, evidence, options);
    if (!causes.empty()) return causes;
  }
  return {};
}

}  // namespace sextant::oracle
