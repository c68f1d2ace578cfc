#include "tools/api/unshown_attributes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "oracle/diagnosis/deviation.h"
#include "oracle/diagnosis/work.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;
using Grading = oracle::Judge::Grading;

constexpr size_t kMostWork = size_t{1} << 22;  // about a second

// Ten times the number and a tenth of it, in 15 digits; empty if it is 0, or no number.
std::vector<std::string> OthersThan(const Attribute& attribute) {
  double number = 0;
  try {
    ParseValue(attribute.text, number);
  } catch (const Error&) {
    return {};  // a call, or not set
  }
  if (attribute.dimension || number == 0 || !std::isfinite(number)) return {};
  std::vector<std::string> others;
  for (const double other : {10 * number, number / 10}) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.15g", other);
    others.emplace_back(text.data());
  }
  return others;
}

}  // namespace

std::vector<std::string> UnshownAttributes(const oracle::Judge& judge, const Judgement& judgement) {
  const Case& c = judgement.question.c;
  const Tensors &inputs = judgement.question.inputs, &outputs = judgement.question.outputs;
  std::vector<std::string> unshown;
  const auto is_judged = [](const oracle::TensorVerdict& tensor) { return tensor.judged > 0; };
  if (std::ranges::none_of(judgement.verdict.tensors, is_judged)) return unshown;
  if (judgement.verdict.status != Verdict::Status::kConforms || judgement.budget.elements > 0 ||
      oracle::WorkOf(c) > kMostWork)
    return unshown;
  const Recipe recipe = ParseRecipe(judgement.recipe, c.dtype());
  const oracle::Judge again(c, inputs, recipe, {judge.golden(), judge.permitted()}, {},
                            judgement.strict ? Grading::kAll : Grading::kPassOrFail);
  const oracle::Hypothesis right{c.operation().Clone(), oracle::SharedInputs::Of(inputs), recipe};
  const auto conforms = [&](const std::string& name, const std::string& text) {
    const auto changed = oracle::WithAttributes(right, {{name, text}});
    if (!changed) return false;
    Tensors answer = oracle::Predict(*changed, c);
    std::erase_if(answer, [&](const NamedTensor& output) {
      return std::ranges::count(outputs, output.name, &NamedTensor::name) == 0;
    });
    const Verdict verdict = again.Evaluate(answer);
    return verdict.status == Verdict::Status::kConforms &&
           !(judgement.strict && verdict.grade == oracle::Grade::kUnlikely);
  };
  for (const Attribute& attribute : c.operation().Attributes()) {
    for (const std::string& other : OthersThan(attribute)) {
      if (!conforms(attribute.name, other)) continue;
      unshown.push_back(attribute.name + "=" + other);
      break;
    }
  }
  return unshown;
}

}  // namespace sextant::tools
