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

TEST(SharedInputs, ChangesElementsWhenTheyAreRead) {
  const Tensors of_case = OfCase();
  const auto tripled = [](size_t, double x) { return 3 * x; };
  const auto numbered = [](size_t flat, double x) { return x + 10 * static_cast<double>(flat); };
  const SharedInputs once = SharedInputs::Of(of_case).Changed(0, tripled);
  const SharedInputs twice = once.Changed(0, numbered);
  const SharedInputs other =
      SharedInputs::With(of_case, {{"weight", DType::kF32, {{2}, {8, 9}}}}).Changed(1, tripled);
  EXPECT_THAT(ValuesOf(once.Readers())[0].values.data, ElementsAre(3, 6));
  EXPECT_THAT(ValuesOf(twice.Readers())[0].values.data, ElementsAre(3, 16));
  EXPECT_THAT(ValuesOf(other.Readers())[1].values.data, ElementsAre(24, 27));
  EXPECT_THAT(twice[0].values.data, ElementsAre(3, 16));
  std::vector<double> second(1);
  twice.Readers()[0].Read(1, second);
  EXPECT_THAT(second, ElementsAre(16));
  EXPECT_EQ(&twice[1], &of_case[1]);  // no copy
  EXPECT_EQ(twice.ElementsBeyond(once), 0u);
  EXPECT_EQ(other.ElementsBeyond(once), 2u);
  EXPECT_THAT(of_case[0].values.data, ElementsAre(1, 2));
}

TEST(SharedInputs, OwnChangesComeAfterThoseOfElements) {
  const auto tripled = [](size_t, double x) { return 3 * x; };
  SharedInputs inputs = SharedInputs(OfCase()).Changed(0, tripled);
  inputs[0].values.data[0] = 5;
  EXPECT_THAT(ValuesOf(inputs.Readers())[0].values.data, ElementsAre(5, 6));
}

}  // namespace
}  // namespace sextant::oracle
