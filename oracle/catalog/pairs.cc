#include "oracle/catalog/pairs.h"

#include <algorithm>

#include "oracle/catalog/candidates.h"
#include "oracle/catalog/catalog.h"
#include "oracle/diagnosis/deviation.h"
#include "oracle/diagnosis/prediction.h"

namespace sextant::oracle {
namespace {

// So many defects are tried as the first of a pair: those that predict most.
constexpr size_t kFirst = 4;

// The question that an implementation with one deviation answers.
struct ChangedQuestion {
  Defect defect;
  Case c;
  SharedInputs inputs;
};

std::vector<ChangedQuestion> FirstsOf(const Observation& seen, Evidence& evidence) {
  std::vector<Defect> defects = CatalogEntryOf(seen.c.name()).defects;
  // A second one would replace the formula of a mutation.
  std::erase_if(defects, [](const Defect& defect) { return defect.unmutated != nullptr; });
  const auto candidates = CandidatesButPrecisions(defects, seen.c, seen.inputs, seen.recipe);
  std::vector<ChangedQuestion> firsts;
  for (const size_t i : evidence.NearestOf(candidates, kFirst)) {
    const Hypothesis hypothesis = *candidates[i].make();
    firsts.push_back({defects[i], CaseOf(seen.c, *hypothesis.operation), hypothesis.inputs});
  }
  return firsts;
}

// True if the second, which may have several parts, has the first as one of them, which undoes it:
// "weight_reversed" and "weight_reversed+not_divided".
bool Undoes(const std::string& second, const std::string& first) {
  return ("+" + second + "+").find("+" + first + "+") != std::string::npos;
}

std::vector<Cause> BothOf(const Defect& first, const Cause& second) {
  return {{first.name, first.why + "; together with " + second.name, false, true},
          {second.name, second.why + "; together with " + first.name, second.is_measured, true}};
}

std::vector<Cause> ListedSeconds(const ChangedQuestion& first, const Observation& seen,
                                 Evidence& evidence) {
  const std::vector<Defect>& defects = CatalogEntryOf(seen.c.name()).defects;
  const std::vector<Fit> fits =
      evidence.FitsOf(CandidatesButPrecisions(defects, first.c, first.inputs, seen.recipe));
  std::vector<size_t> explaining;
  for (size_t i = 0; i < fits.size(); ++i) {
    const auto alone = fits[i].explains && !Undoes(defects[i].name, first.defect.name)
                           ? ButAPrecision(defects[i], seen.c, seen.inputs, seen.recipe)
                           : std::nullopt;
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
  const auto [golden, permitted] = Enclose({first.c, first.inputs, seen.recipe}, options);
  const Searching how = seen.how.WithoutQuestions();
  const Observation changed{first.c,   first.inputs, seen.recipe, golden,
                            permitted, seen.answer,  how};
  // A first deviation by which more elements are wrong is none: the second would undo it.
  if (AnsweredSliceOf(changed, {}).failing_elements > evidence.failing()) return {};
  for (const Measurement& measure : measurements) {
    for (const auto& [name, sentence, model] : measure(changed)) {
      if (model.operation && !Undoes(name, first.defect.name) && evidence.FitOf(model).explains)
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
