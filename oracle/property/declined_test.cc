// What a subject declines, and how often it is asked.
#include <gtest/gtest.h>

#include "oracle/catalog/catalog.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

// Properties ask the same case with other inputs too: what was declined of one input says nothing
// of another. So a property finds the same, whether others were checked before it or not.
TEST(CheckProperties, AsksAgainWithOtherInputsOfTheSameCase) {
  const Subject subject{"positive", "native", [](const Case& c, const Tensors& inputs) {
                          if (inputs[0].values.data.empty() || inputs[0].values.data[0] >= 0) {
                            return RecipeSubject("native").answer(c, inputs);
                          }
                          return Answer{Answer::Status::kUnsupported, "x begins below 0", {}};
                        }};
  const auto operation = MakeOperationNamed("rms_norm");
  size_t declined = 0;
  for (const auto& together : CheckProperties(*operation, subject, "native", {.count = 30})) {
    const auto alone =
        CheckProperties(*operation, subject, "native", {.count = 30, .only = {together.name}});
    EXPECT_EQ(together.cases, alone[0].cases) << together.name;
    EXPECT_EQ(together.declined, alone[0].declined) << together.name;
    declined += together.declined;
  }
  EXPECT_GT(declined, 0U);
}

}  // namespace
}  // namespace sextant::oracle
