#include "oracle/diagnosis/answer/telling_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/catalog/causes_test.h"

namespace sextant::oracle {
namespace {

// The causes if y is x, unchanged, at the tokens whose position is in a range.
std::vector<std::string> CausesIfCopied(double first, double last) {
  const AskedCase question(
      "temperature_scale H=2 S=16 D=8 dtype=f32 "
      "@position=90000,3,70000,16000,50000,20000,80000,33000,60000,9000,100000,12000,40000,30000,"
      "65000,45000");
  Tensors answer = question.CorrectAnswer();
  const std::vector<double>&q = question.inputs[0].values.data,
        &position = question.inputs[1].values.data;
  for (size_t i = 0; i < q.size(); ++i) {
    const double p = position[i / 8 % 16];
    if (first <= p && p <= last) answer[0].values.data[i] = q[i];
  }
  return question.Causes(answer);
}

TEST(TellingInput, SaysThePositionsThatFail) {
  EXPECT_THAT(CausesIfCopied(50000, 1e6),
              Contains(HasSubstr("(where position is at least 50000; elsewhere it is at most "
                                 "45000)")));
  EXPECT_THAT(CausesIfCopied(30000, 65000),
              Contains(HasSubstr("(where position is from 30000 to 65000; elsewhere it is at most "
                                 "20000 or at least 70000)")));
}

}  // namespace
}  // namespace sextant::oracle
