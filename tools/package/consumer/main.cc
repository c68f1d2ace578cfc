// Uses the four libraries of an installed Sextant: proves the golden of a case, computes the answer
// of the fast path, judges it, and writes a file of records.
#include <iostream>

#include "fast/kernel/kernel.h"
#include "fixtures/store/writer.h"
#include "oracle/judge/judge.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

int main() {
  using namespace sextant;
  const Case question = Case::Parse("rope pairing=half S=3 H=2 D=8 @position=0,1,8191");
  const Tensors inputs = DrawInputs(question);
  const Recipe recipe = ParseRecipe(fast::kRecipe, question.dtype());
  const std::vector<GoldenTensor> golden = Prove({question, inputs, recipe});
  const Tensors answer = fast::AnswerOf(question, inputs);
  const oracle::Verdict verdict =
      oracle::JudgeEndToEnd(question, golden, PermittedErrors({question, inputs, recipe}), answer);
  fixtures::WriteRecords("consumer.h5", {{question.ToString(), inputs, golden, answer}});
  std::cout << question.ToString() << ": "
            << (verdict.grade ? oracle::kGradeNames[static_cast<size_t>(*verdict.grade)]
                              : std::string_view(verdict.message))
            << "\n";
  return verdict.status == oracle::Verdict::Status::kConforms ? 0 : 1;
}
