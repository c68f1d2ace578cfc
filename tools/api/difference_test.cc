#include "tools/api/difference.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::tools {
namespace {

std::string Of(double stored, double expected) {
  return Difference("y", Tensor<double>({2}, {7, stored}), Tensor<double>({2}, {7, expected}));
}

TEST(Difference, ComparesValuesByTheirBits) {
  EXPECT_EQ(Of(1, 1), "");
  EXPECT_EQ(Of(1, 2), "y[1] is 1, expected 2");
  EXPECT_EQ(Of(0.0, -0.0), "y[1] is 0, expected -0");
  EXPECT_EQ(Of(INFINITY, INFINITY), "");
}

TEST(Difference, TreatsAllNaNsAsEqual) {
  EXPECT_EQ(Of(NAN, -NAN), "");
  EXPECT_EQ(Of(NAN, 1), "y[1] is nan, expected 1");
  EXPECT_EQ(Of(1, NAN), "y[1] is 1, expected nan");
}

TEST(Difference, ComparesShapes) {
  EXPECT_EQ(Difference("y", Tensor<double>({2, 1}), Tensor<double>({1, 2})),
            "y has shape [2,1], expected [1,2]");
}

}  // namespace
}  // namespace sextant::tools
