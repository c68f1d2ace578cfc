#include "oracle/catalog/pairs.h"

#include <algorithm>
#include <numeric>

#include "oracle/catalog/catalog.h"

namespace sextant::oracle {
namespace {

// So many defects are tried as the first of a pair: those that predict most.
constexpr size_t kFirst = 4;

// The question that an implementation with one deviation answers.
struct ChangedQuestion {
  const Defect& defect;
  Case c;
  SharedInputs inputs;
  Recipe recipe;
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

std::vector<ChangedQuestion> FirstsOf(const Observation& seen, Evidence& evidence) {
  std::vector<Candidate> candidates;
  std::vector<const Defect*> defects;
  for (const Defect& defect : CatalogEntryOf(seen.c.name()).defects) {
    if (defect.unmutated) continue;  // a second one would replace its formula
    defects.push_back(&defect);
    candidates.push_back({[&] { return defect.hypothesis(seen.c, seen.inputs, seen.recipe); },
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
    firsts.push_back(
        {*defects[i], CaseOf(seen.c, *hypothesis.operation), hypothesis.inputs, hypothesis.recipe});
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
    candidates.push_back({[&] { return defect.hypothesis(first.c, first.inputs, first.recipe); },
                          defect.is_across_slices});
  }
  const std::vector<Fit> fits = evidence.FitsOf(candidates);
  const auto distance = [](const Fit& fit) { return fit.explains ? fit.distance : kInfinity; };
  const auto nearest = std::ranges::min_element(fits, {}, distance);
  if (nearest == fits.end() || !nearest->explains) return {};
  const Defect& defect = defects[static_cast<size_t>(nearest - fits.begin())];
  return BothOf(first.defect, {defect.name, defect.why});
}

// What the measurements say if the first deviation is taken for right. Small cases only: it is
// proven for them again.
std::vector<Cause> MeasuredSeconds(const ChangedQuestion& first, const Observation& seen,
                                   Evidence& evidence, const ProveOptions& options) {
  const std::vector<Measurement>& measurements = CatalogEntryOf(seen.c.name()).measurements;
  if (measurements.empty() || evidence.elements() > Evidence::kAlways) return {};
  const auto [golden, permitted] =
      Enclose(first.c.operation(), first.c, first.inputs, first.recipe, options);
  for (const Measurement& measure : measurements) {
    for (const auto& [name, sentence, model] :
         measure({first.c, first.inputs, first.recipe, golden, permitted, seen.answer})) {
      if (evidence.FitOf(model).explains) return BothOf(first.defect, {name, sentence, true});
    }
  }
  return {};
}

}  // namespace

std::vector<Cause> PairCauses(const Observation& seen, Evidence& evidence,
                              const ProveOptions& options) {
  // Where no slice is smaller than the case, each hypothesis costs as much as the whole answer.
  if (evidence.compared() > std::max(Evidence::kAlways, evidence.elements())) return {};
  const std::vector<ChangedQuestion> firsts = FirstsOf(seen, evidence);
  for (const ChangedQuestion& first : firsts) {
    std::vector<Cause> causes = ListedSeconds(first, seen, evidence);
    if (causes.empty()) causes = MeasuredSeconds(first, seen, evidence, options);
    if (!causes.empty()) return causes;
  }
  return {};
}

}  // namespace sextant::oracle
