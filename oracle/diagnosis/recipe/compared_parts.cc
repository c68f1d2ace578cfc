#include "oracle/diagnosis/recipe/compared_parts.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/work.h"
#include "oracle/judge/tensor_judge.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostAnswers = 48, kAnswerSliceElements = 64, kMostSlices = 16;  // of an answer

}  // namespace

std::vector<ComparedPart> PartsOf(std::span<const JudgedAnswer> answers, size_t most_work) {
  const size_t count = std::min(answers.size(), kMostAnswers);
  std::vector<SlicesByIndex> slices;
  for (size_t i = 0; i < count; ++i)
    slices.emplace_back(answers[(2 * i + 1) * answers.size() / (2 * count)].c,
                        kAnswerSliceElements);
  std::vector<ComparedPart> parts;
  size_t work = 0;
  for (size_t k = 0; k < kMostSlices; ++k) {
    for (size_t i = 0; i < count; ++i) {
      const size_t few = std::min(slices[i].size(), kMostSlices);
      if (k >= few) continue;
      // Multiples of an odd number below 16 visit the slices of an answer in another order.
      const size_t at = few == kMostSlices ? k * 5 % few : k;
      const ComparedPart part{&answers[(2 * i + 1) * answers.size() / (2 * count)],
                              slices[i][(2 * at + 1) * slices[i].size() / (2 * few)]};
      work += WorkOf(part.answer->c, part.slice);
      if (!parts.empty() && work > most_work) return parts;
      parts.push_back(part);
    }
  }
  return parts;
}

bool ForEachOwn(const ComparedPart& part, const Recipe& recipe, const UseElement& use) {
  const auto& [c, inputs, outputs, judge, verdict] = *part.answer;
  const Tensors own = EvaluateByRecipe({c, inputs, recipe}, part.slice);
  for (size_t o = 0; o < own.size(); ++o) {
    const auto given = std::ranges::find(outputs, own[o].name, &NamedTensor::name);
    if (given == outputs.end()) continue;
    const TensorSpec& output = c.info().signature.outputs[o];
    const std::vector<size_t> indices = IndicesIn(given->values.shape, output, part.slice);
    for (size_t i = 0; i < indices.size(); ++i) {
      const size_t at = indices[i];
      const double got = given->values.data[at], exact = judge.golden()[o].high.data[at];
      const double most = judge.permitted()[o].error.data[at];
      const bool is_judged = !std::isnan(exact) && !std::isnan(most);
      const bool fails = is_judged && !IsPermitted(judge.golden()[o], at, got, most);
      if (!use({got, own[o].values.data[i], exact, fails, own[o].dtype})) return false;
    }
  }
  return true;
}

}  // namespace sextant::oracle
