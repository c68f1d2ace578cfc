#include "oracle/catalog/candidates.h"

namespace sextant::oracle {

std::optional<Hypothesis> ButAPrecision(const Defect& defect, const Case& c, const Tensors& inputs,
                                        const Recipe& recipe) {
  auto hypothesis = defect.hypothesis(c, inputs, recipe);
  if (hypothesis && hypothesis->recipe.steps != recipe.steps) hypothesis.reset();
  return hypothesis;
}

std::vector<Candidate> CandidatesOf(const std::vector<Defect>& defects, const Case& c,
                                    const Tensors& inputs, const Recipe& recipe) {
  std::vector<Candidate> candidates;
  for (const Defect& defect : defects) {
    candidates.push_back(
        {[&] { return defect.hypothesis(c, inputs, recipe); }, defect.is_across_slices});
  }
  return candidates;
}

std::vector<Candidate> CandidatesButPrecisions(const std::vector<Defect>& defects, const Case& c,
                                               const Tensors& inputs, const Recipe& recipe) {
  std::vector<Candidate> candidates;
  for (const Defect& defect : defects) {
    candidates.push_back(
        {[&] { return ButAPrecision(defect, c, inputs, recipe); }, defect.is_across_slices});
  }
  return candidates;
}

}  // namespace sextant::oracle
