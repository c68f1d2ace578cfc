#include "reference/case/given_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"
#include "reference/case/operations.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const double kMemory[256] = {};

OwnTensor Floats(const std::string& name, const Shape& shape) {
  return {name, {kMemory, ElementType::kF64, shape, RowMajorStrides(shape)}};
}
OwnTensor Positions(const std::string& name, const Shape& shape) {
  return {name, {kMemory, ElementType::kI64, shape, RowMajorStrides(shape)}};
}

GivenTensors ArrangeFor(const std::string& operation, std::vector<OwnTensor> tensors) {
  return Arrange(MakeOperationNamed(operation)->info(), std::move(tensors));
}
std::string ErrorOfArranging(const std::string& operation, const std::vector<OwnTensor>& tensors) {
  return MessageOf([&] { ArrangeFor(operation, tensors); });
}

TEST(GivenTensors, LeadingAxesAreRows) {
  const auto given = ArrangeFor("linear", {Floats("x", {2, 3, 4}), Floats("weight", {5, 4}),
                                           Floats("y (batch token F)", {2, 3, 5})});
  EXPECT_THAT(given.at("x").shape, ElementsAre(6, 4));
  EXPECT_THAT(given.at("x").view.shape, ElementsAre(2, 3, 4));
  EXPECT_THAT(given.at("weight").shape, ElementsAre(5, 4));
  EXPECT_EQ(given.at("x").axes.PlaceOf("x", 23), "x[1,2,M=3]");
  EXPECT_EQ(given.at("y").axes.PlaceOf("y", 29), "y[batch=1,token=2,F=4]");
  EXPECT_EQ(FoldedAxes(MakeOperationNamed("linear")->info().signature, given),
            (std::map<std::string, Shape>{{"N", {2, 3}}}));
}

TEST(GivenTensors, LeadingAxesMustBeThoseOfTheOtherTensors) {
  EXPECT_EQ(ErrorOfArranging("gated", {Floats("gate", {2, 3, 4}), Floats("up", {3, 2, 4})}),
            "up has the leading axes [3,2], but gate has [2,3], expected the same");
  EXPECT_EQ(ErrorOfArranging("gated", {Floats("gate", {2, 3, 4}), Floats("up", {6, 4})}),
            "up has the leading axes [6], but gate has [2,3], expected the same");
  EXPECT_EQ(ErrorOfArranging("gated", {Floats("gate", {1, 6, 4}), Floats("up", {6, 4})}), "");
  EXPECT_EQ(ErrorOfArranging("attention_merge", {Floats("y1", {2, 3, 4}), Floats("lse1", {2, 3})}),
            "");
}

// Of the same extents the names tell that the orders differ.
TEST(GivenTensors, NamedLeadingAxesMustHaveOneOrder) {
  EXPECT_EQ(
      ErrorOfArranging("softmax", {Floats("x (S B M)", {3, 3, 4}), Floats("y (B S M)", {3, 3, 4})}),
      "y has the leading axes B S, but x has S B, expected the same order");
  EXPECT_EQ(ErrorOfArranging("attention_merge", {Floats("y1 (B S H E)", {2, 4, 4, 5}),
                                                 Floats("lse1 (B H S)", {2, 4, 4})}),
            "lse1 has the leading axes B H S, but y1 has B S H, expected the same order");
  EXPECT_EQ(
      ErrorOfArranging("softmax", {Floats("x (S B M)", {3, 3, 4}), Floats("y (S B M)", {3, 3, 4})}),
      "");
  EXPECT_EQ(ErrorOfArranging("softmax", {Floats("x (S B M)", {3, 3, 4}), Floats("y", {3, 3, 4})}),
            "");
}

// Tokens of a decoder attend to each other: its sequences are not rows.
TEST(GivenTensors, OnlyIndependentRowsFold) {
  const auto given = ArrangeFor("decoder_block", {Floats("x", {2, 3, 4})});
  EXPECT_THAT(given.at("x").shape, ElementsAre(2, 3, 4));
  const auto one = ArrangeFor("decoder_block", {Floats("x", {1, 3, 4})});
  EXPECT_THAT(one.at("x").shape, ElementsAre(3, 4));
  EXPECT_EQ(one.at("x").axes.PlaceOf("x", 11), "x[0,2,M=3]");
  EXPECT_THAT(ArrangeFor("attention", {Floats("q", {2, 3, 1, 4, 5})}).at("q").shape,
              ElementsAre(6, 1, 4, 5));
}

TEST(GivenTensors, PositionsOfOneSequenceServeAll) {
  for (const Shape& shape : {Shape{3}, Shape{1, 3}, Shape{1, 1, 3}}) {
    const auto given =
        ArrangeFor("rope", {Floats("x", {2, 4, 3, 8}), Positions("position", shape)});
    EXPECT_THAT(given.at("position").shape, ElementsAre(2, 3));
    EXPECT_THAT(given.at("position").view.strides, ElementsAre(0, 1));
  }
  const auto folded =
      ArrangeFor("rope", {Floats("x", {2, 3, 1, 4, 2}), Positions("position", {2, 3, 4})});
  EXPECT_THAT(folded.at("position").shape, ElementsAre(6, 4));
  const auto coordinates =
      ArrangeFor("rope_axial", {Floats("x", {2, 4, 3, 8}), Floats("position", {1, 2, 3})});
  EXPECT_THAT(coordinates.at("position").shape, ElementsAre(2, 2, 3));
  EXPECT_THAT(
      ErrorOfArranging("rope", {Floats("x", {2, 3, 1, 4, 2}), Positions("position", {2, 4})}),
      HasSubstr("position has the leading axes [2], but x has [2,3]"));
}

TEST(GivenTensors, PlacesHaveTheOrderOfTheGivenAxes) {
  const auto given = ArrangeFor("rope", {Floats("x (B S H D)", {2, 3, 4, 8}),
                                         Positions("position", {3}), Floats("y", {2, 4, 3, 8})});
  const size_t index = ((1 * 4 + 3) * 3 + 2) * 8 + 6;  // B=1 H=3 S=2 D=6
  EXPECT_EQ(given.at("x").axes.PlaceOf("x", index), "x[B=1,S=2,H=3,D=6]");
  EXPECT_EQ(given.at("y").axes.PlaceOf("y", index), "y[B=1,H=3,S=2,D=6]");
  const auto flat = ArrangeFor("rope", {Floats("x (S D)", {3, 8})});
  EXPECT_EQ(flat.at("x").axes.PlaceOf("x", 10), "x[S=1,D=2]");
}

}  // namespace
}  // namespace sextant
