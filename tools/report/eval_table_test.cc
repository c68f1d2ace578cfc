#include "tools/report/eval_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string TableOf(const std::string& line) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  std::ostringstream out;
  PrintTable(c, inputs, Prove({c, inputs, ParseRecipe("native", c.dtype())}), out);
  return out.str();
}

// The shortest digits of 0.2f and 1.4f are those of f32, not of f64.
TEST(PrintTable, PrintsInputsAndARowForEachElement) {
  EXPECT_THAT(TableOf("rms_norm N=1 M=2 eps=0 @x=1,7 @weight=1,1"),
              testing::MatchesRegex("rms_norm eps=0 .*\n"
                                    "x f32\\[1,2\\]: 1 7\n"
                                    "weight f32\\[2\\]: 1 1\n"
                                    "output  value  exact  permitted error\n"
                                    "y\\[0,0\\]  0\\.2    0\\.2    [0-9.e-]+\n"
                                    "y\\[0,1\\]  1\\.4    1\\.4    [0-9.e-]+\n"));
}

// 1/3 in the digits of f64; its rounding to bf16 in the digits of f32.
TEST(PrintTable, PrintsTheExactAndTheRoundedValue) {
  EXPECT_THAT(TableOf("softmax N=1 M=3 dtype=bf16 @x=0,0,0"),
              testing::ContainsRegex("\ny\\[0,0\\]  0\\.33398438 +0\\.3333333333333333 "));
}

TEST(PrintTable, CutsLongTensors) {
  const std::string table = TableOf("rms_norm N=3 M=16");
  EXPECT_THAT(table, HasSubstr(" ... (40 more)\n"));
  EXPECT_THAT(table, HasSubstr("\ny[1,15] "));
  EXPECT_THAT(table, Not(HasSubstr("\ny[2,0] ")));
  EXPECT_THAT(table, HasSubstr("\n... and 16 more elements; --json prints all\n"));
}

TEST(PrintTable, MarksUnspecifiedAndEnclosedElements) {
  EXPECT_THAT(TableOf("rms_norm N=1 M=64 @x=nonfinite"),
              testing::ContainsRegex("\ny\\[0,0\\] +nan +nan +unspecified\n"));
  EXPECT_THAT(TableOf("rms_norm N=1 M=9 eps=0 @x=1,0,0,0,0,0,0,0,0 "
                      "@weight=0x1.000002p+0,1,1,1,1,1,1,1,1"),
              testing::ContainsRegex("\ny\\[0,0\\] .*, enclosed within [0-9.]+e-[0-9]+\n"));
}

}  // namespace
}  // namespace sextant::tools
