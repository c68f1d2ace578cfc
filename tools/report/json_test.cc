#include "tools/report/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::tools {
namespace {

TEST(ToJson, WritesInfinitiesAndNaNAsStrings) {
  EXPECT_EQ(ToJson(INFINITY), "inf");
  EXPECT_EQ(ToJson(-INFINITY), "-inf");
  EXPECT_EQ(ToJson(-NAN), "nan");
}

TEST(ToJson, WritesNumbersThatReadBack) {
  for (const double x : {0.1, -0x1p-1074, 0x1.fffffffffffffp+1023, -0.0}) {
    const Json read = ParseJson("[" + PrintJson(ToJson(x)) + "]", 1);
    EXPECT_EQ(read[0].get<double>(), x);
    EXPECT_EQ(std::signbit(read[0].get<double>()), std::signbit(x));
  }
}

}  // namespace
}  // namespace sextant::tools
