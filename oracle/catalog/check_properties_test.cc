// Subjects that decline cases because of their inputs.
#include "oracle/catalog/check_properties.h"

#include <gtest/gtest.h>

#include "oracle/catalog/catalog.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

// Properties also use the same case with other inputs. A subject that declines some inputs may
// support others. So the result of a property must not depend on properties checked before it.
TEST(CheckProperties, DeclinedInputsDoNotExcludeOtherInputsOfTheCase) {
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
