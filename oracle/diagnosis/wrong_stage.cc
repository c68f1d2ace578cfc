#include "oracle/diagnosis/wrong_stage.h"

#include <algorithm>
#include <utility>

#include "oracle/diagnosis/prediction.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

// Intermediates, which are the optional outputs, are computed first, in the order of the signature.
std::optional<size_t> FirstFailing(const Observation& seen) {
  const std::vector<std::vector<char>> failing = AnsweredSliceOf(seen, {}).failing;
  const auto& outputs = seen.c.info().signature.outputs;
  for (const bool optional : {true, false}) {
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o].optional == optional && std::ranges::count(failing[o], 1) > 0) return o;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<WrongStage> FirstWrongStage(const Observation& seen, const ProveOptions& options) {
  const Case& c = seen.c;
  if (Halve(c, {}) || seen.answer.size() < 2) return std::nullopt;
  const Evaluation evaluation{c, seen.inputs, seen.recipe, c.operation(), &seen.answer};
  if (!CanBeTraced(evaluation)) return std::nullopt;
  ProvenAndPermitted traced = ProveAndPermit(evaluation, options);
  const auto wrong =
      FirstFailing({c, seen.inputs, seen.recipe, traced.golden, traced.permitted, seen.answer});
  if (!wrong) return std::nullopt;
  for (size_t o = 0; o < traced.permitted.size(); ++o) {
    if (o != *wrong) std::ranges::fill(traced.permitted[o].error.data, kNaN);
  }
  return WrongStage{traced.permitted[*wrong].name, std::move(traced.golden),
                    std::move(traced.permitted)};
}

}  // namespace sextant::oracle
