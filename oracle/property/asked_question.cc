#include "oracle/property/asked_question.h"

#include <algorithm>

#include "reference/case/draw.h"

namespace sextant::oracle {

std::vector<AskedQuestion> QuestionsOf(const Property& property, const Case& c,
                                       const Subject& subject, const std::string& recipe) {
  std::vector<AskedQuestion> asked;
  const Ask ask = [&](const Case& question, const Tensors& inputs) {
    const Answer answer = subject.answer(question, inputs);
    const bool answered = answer.status == Answer::Status::kAnswered;
    if (!answered || !DescribeMismatch(question, answer.outputs).empty())
      throw Declined{answer.message};
    asked.push_back({question, inputs, answer.outputs});
    const Recipe by = ParseRecipe(recipe, question.dtype());
    Response response{{}, PermittedErrors({question, inputs, by}), by, question.info().bitwise};
    for (const TensorSpec& spec : question.info().signature.outputs) {
      const auto at = std::ranges::find(answer.outputs, spec.name, &NamedTensor::name);
      response.outputs.push_back(at == answer.outputs.end() ? NamedTensor() : *at);
    }
    return response;
  };
  try {
    property.check(c, DrawInputs(c), ask);
  } catch (const Declined&) {
  }
  return asked;
}

}  // namespace sextant::oracle
