#include "reference/case/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error.h"
#include "reference/base/error_test.h"
#include "reference/case/case.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Signature, HasTensorsRolesAndExtents) {
  const Signature s =
      ParseSignature("x[B,2*clip+1] p:i64[S] w:wide[] -> y:real[B,R/2] lse:wide?[B]");
  ASSERT_EQ(s.inputs.size(), 3u);
  ASSERT_EQ(s.outputs.size(), 2u);
  EXPECT_EQ(s.inputs[0].name, "x");
  EXPECT_EQ(s.inputs[0].role, Role::kCase);
  EXPECT_THAT(s.inputs[0].extents, ElementsAre("B", "2*clip+1"));
  EXPECT_EQ(s.inputs[1].role, Role::kInteger);
  EXPECT_EQ(s.inputs[2].role, Role::kWide);
  EXPECT_THAT(s.inputs[2].extents, IsEmpty());
  EXPECT_EQ(s.outputs[0].role, Role::kReal);
  EXPECT_FALSE(s.outputs[0].optional);
  EXPECT_EQ(s.outputs[1].name, "lse");
  EXPECT_TRUE(s.outputs[1].optional);
  EXPECT_THAT(ParseSignature("-> y[]").inputs, IsEmpty());
}

TEST(Signature, RolesDetermineTheDType) {
  for (const DType type : kFloatTypes) {
    EXPECT_EQ(DTypeOf(Role::kCase, type), type);
    EXPECT_EQ(DTypeOf(Role::kInteger, type), DType::kI64);
    EXPECT_EQ(DTypeOf(Role::kReal, type), DType::kF64);
  }
  EXPECT_EQ(DTypeOf(Role::kWide, DType::kF64), DType::kF64);
  EXPECT_EQ(DTypeOf(Role::kWide, DType::kF32), DType::kF32);
  EXPECT_EQ(DTypeOf(Role::kWide, DType::kF16), DType::kF32);
  EXPECT_EQ(DTypeOf(Role::kWide, DType::kBF16), DType::kF32);
}

TEST(Signature, ExtentsAreProductsHalvesAndSuccessors) {
  const Dimensions d = {{"H", 3}, {"D", 8}, {"R", 6}};
  EXPECT_EQ(Extent("D", d), 8u);
  EXPECT_EQ(Extent("H*D", d), 24u);
  EXPECT_EQ(Extent("R/2", d), 3u);
  EXPECT_EQ(Extent("2*H+1", d), 7u);
  EXPECT_THAT(LettersOf("H*D"), ElementsAre("H", "D"));
  EXPECT_THAT(LettersOf("R/2"), ElementsAre("R"));
  EXPECT_THAT(ShapeOf(ParseSignature("x[H*D,R/2] ->").inputs[0], d), ElementsAre(24, 3));
}

TEST(Signature, ExtentsMayNameAttributes) {
  EXPECT_EQ(Extent("2*clip+1", {{"clip", 3}}), 7u);
  EXPECT_TRUE(LettersOf("2*clip+1").empty());
  const Case c = Case::Parse("relative_attention clip=3 H=1 S=1 D=2");
  EXPECT_THAT(c.ShapeOf(c.signature().inputs[3]), ElementsAre(7, 2));
  const Case wider = c.With("clip=4");
  EXPECT_THAT(wider.ShapeOf(wider.signature().inputs[3]), ElementsAre(9, 2));
}

TEST(Signature, RefusesHalvesOfOddDimensionsAndOverflow) {
  const auto error = [](std::string_view extent, const Dimensions& d) {
    return MessageOf([&] { Extent(extent, d); });
  };
  EXPECT_EQ(error("R/2", {{"R", 7}}), "dimension R is 7, expected a multiple of 2");
  EXPECT_EQ(error("H*D", {{"H", int64_t{1} << 40}, {"D", int64_t{1} << 40}}),
            "the extent H*D does not fit into 64 bits");
}

TEST(Shape, CountsElementsAndRefusesTooMany) {
  EXPECT_EQ(CountOf({}), 1u);
  EXPECT_EQ(CountOf({2, 0, 3}), 0u);
  EXPECT_EQ(CountOf({2, 5}), 10u);
  EXPECT_THROW(CountOf({size_t{1} << 40, size_t{1} << 40}), Error);
  EXPECT_EQ(ToString(Shape{2, 3}), "[2,3]");
  EXPECT_EQ(ToString(Shape{}), "[]");
}

TEST(Tensor, IsRowMajor) {
  const Tensor<int> x({2, 3}, {0, 1, 2, 10, 11, 12});
  EXPECT_EQ(x(1, 2), 12);
  EXPECT_EQ(x(0, 1), 1);
  EXPECT_EQ(Tensor<int>()(), 0);
}

TEST(Tensor, FindListsTheNamesThatExist) {
  const Tensors tensors = {{"x", DType::kF32, {}}, {"w", DType::kF32, {}}};
  EXPECT_EQ(&Find(tensors, "w"), &tensors[1]);
  EXPECT_EQ(MessageOf([&] { Find(tensors, "v"); }), "there is no tensor 'v'; there are: x w");
}

TEST(ParseExtent, ReadsFactorsHalvesAndSums) {
  const ExtentFormula plus_one = ParseExtent("2*clip+1");
  EXPECT_EQ(plus_one.names, std::vector<std::string>{"clip"});
  EXPECT_EQ(plus_one.number, 2);
  EXPECT_EQ(plus_one.added, 1);
  const ExtentFormula half = ParseExtent("R/2");
  EXPECT_EQ(half.names, std::vector<std::string>{"R"});
  EXPECT_TRUE(half.halved);
  EXPECT_EQ(ParseExtent("H*D").names, (std::vector<std::string>{"H", "D"}));
}

TEST(FindTensor, FindsInputsAndOutputs) {
  const Signature signature = ParseSignature("x[N,M] -> y[N,M] scale[]");
  EXPECT_EQ(TextOf(*FindTensor(signature, "y")), "y[N,M]");
  EXPECT_EQ(TextOf(*FindTensor(signature, "scale")), "scale[]");
  EXPECT_EQ(FindTensor(signature, "z"), nullptr);
}

}  // namespace
}  // namespace sextant
