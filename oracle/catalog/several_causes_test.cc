#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/causes_test.h"

namespace sextant::oracle {
namespace {

// Two deviations of which no defect is both. A measurement finds them at once.
TEST(CausesOf, FindsPairsOfDeviations) {
  for (const char* dtype : {"f32", "bf16"}) {
    const AskedCase question(std::string("rope pairing=half H=2 S=16 D=32 dtype=") + dtype);
    const Case both = question.c.With("pairing=interleaved").With("base=500000");
    EXPECT_THAT(question.Causes(EvaluateByRecipe({both, question.inputs, question.recipe})),
                ElementsAre(AllOf(StartsWith("pairing_interleaved+base_differs "),
                                  HasSubstr("base = 500000, expected 10000"))))
        << dtype;
  }
}

// Rows that were never written, and another defect in the others.
TEST(CausesOf, FindsADefectBesideRowsThatWereNeverWritten) {
  const AskedCase question("rope pairing=half H=2 S=16 D=32 dtype=f32");
  Tensors answer = question.Predicted(DefectNamed("rope", "pairing=interleaved"));
  std::fill_n(answer[0].values.data.begin() + 28 * 32, 4 * 32, 0.0);  // of head 1
  EXPECT_THAT(question.Causes(answer),
              ElementsAre(AllOf(StartsWith("unwritten "), HasSubstr("y is 0 at H 1, S 12 to 15")),
                          AllOf(StartsWith("pairing=interleaved "), HasSubstr("elsewhere"))));
}

// A bug that no defect predicts may leave zeros, too.
TEST(CausesOf, IsEmptyIfTheStructureExplainsAPart) {
  const AskedCase question("linear N=16 F=8 M=16 dtype=f32");
  Tensors answer = question.CorrectAnswer();
  std::vector<double>& y = answer[0].values.data;
  for (size_t i = 0; i < 64; ++i) y[i] += 1 + std::sin(static_cast<double>(i));
  std::fill(y.begin() + 96, y.end(), 0.0);
  EXPECT_THAT(question.Causes(answer), IsEmpty());
}

// The wrong order of the numbers of another defect.
TEST(CausesOf, FindsADefectBesideAWrongOrder) {
  const AskedCase question("rope pairing=half H=2 S=8 D=16 dtype=f32");
  const Tensors wrong = question.Predicted(DefectNamed("rope", "rotates_backwards"));
  Tensors reversed = wrong, shared = wrong;
  for (size_t i = 0; i < 2 * 8 * 16; ++i) {
    reversed[0].values.data[i] = wrong[0].values.data[i / 16 * 16 + 15 - i % 16];
    shared[0].values.data[i] = wrong[0].values.data[i % 128];
  }
  EXPECT_THAT(
      question.Causes(reversed),
      ElementsAre(
          StartsWith("moved (y has the numbers of D in another order (reversed); together "),
          StartsWith("rotates_backwards "), StartsWith("direction=transpose ")));
  EXPECT_THAT(question.Causes(shared),
              ElementsAre(StartsWith("moved (y has the numbers of H in another order (the first "
                                     "one everywhere); together "),
                          StartsWith("rotates_backwards "), StartsWith("direction=transpose ")));
}

}  // namespace
}  // namespace sextant::oracle
