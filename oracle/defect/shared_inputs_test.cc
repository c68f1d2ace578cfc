#include "oracle/defect/shared_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

using testing::ElementsAre;

Tensors OfCase() {
  return {{"x", DType::kF32, {{2}, {1, 2}}}, {"weight", DType::kF32, {{2}, {3, 4}}}};
}

TEST(SharedInputs, CopiesWhatOthersHold) {
  const Tensors of_case = OfCase();
  SharedInputs shared = SharedInputs::Of(of_case), copy = shared;
  EXPECT_EQ(&static_cast<const Tensors&>(shared), &of_case);
  shared[0].values.data[0] = 5;
  EXPECT_EQ(of_case[0].values.data[0], 1);
  copy = shared;
  copy[0].values.data[0] = 7;
  EXPECT_EQ(static_cast<const Tensors&>(shared)[0].values.data[0], 5);
  EXPECT_EQ(static_cast<const Tensors&>(copy)[0].values.data[0], 7);
}

TEST(SharedInputs, ChangesOnlyWhatIsNamed) {
  const Tensors of_case = OfCase();
  SharedInputs inputs = SharedInputs::With(of_case, {{"weight", DType::kF32, {{2}, {8, 9}}}});
  EXPECT_EQ(&std::as_const(inputs)[0], &of_case[0]);  // no copy
  EXPECT_THAT(std::as_const(inputs)[1].values.data, ElementsAre(8, 9));
  const Tensors read = ValuesOf(inputs.Readers());
  EXPECT_THAT(read[0].values.data, ElementsAre(1, 2));
  EXPECT_THAT(read[1].values.data, ElementsAre(8, 9));
  const Tensors& all = inputs;
  EXPECT_THAT(all[0].values.data, ElementsAre(1, 2));
  EXPECT_THAT(all[1].values.data, ElementsAre(8, 9));
}

TEST(SharedInputs, KeepsChangesThatAreChangedAgain) {
  const Tensors of_case = OfCase();
  SharedInputs inputs = SharedInputs::With(of_case, {{"weight", DType::kF32, {{2}, {8, 9}}}});
  const SharedInputs before = inputs;
  inputs[0].values.data[0] = 5;
  EXPECT_THAT(ValuesOf(inputs.Readers())[0].values.data, ElementsAre(5, 2));
  EXPECT_THAT(ValuesOf(inputs.Readers())[1].values.data, ElementsAre(8, 9));
  EXPECT_THAT(ValuesOf(before.Readers())[0].values.data, ElementsAre(1, 2));
}

}  // namespace
}  // namespace sextant::oracle
