#include "oracle/subject/exec_subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/subject/misbehaving_child_test.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

using testing::StartsWith;

TEST(SlowExecSubject, AsksNoMoreAfterThreeTimeLimitsInARow) {
  const Subject subject = ExecSubject(Program(R"(
hello(operations='["rms_norm"]')
while True:
    words = read()
    if 'N=1 ' in words['case']: time.sleep(50)
    say(message({'id': words['id'], 'status': 'error', 'message': 'answered'}))
)"),
                                      0.5);
  const auto message = [&subject](const std::string& line) {
    const Case c = Case::Parse(line);
    const auto answer = subject.answer(c, DrawInputs(c));
    EXPECT_TRUE(answer.outputs.empty());
    return answer.message;
  };
  const std::string hangs = "rms_norm N=1 M=2", answers = "rms_norm N=2 M=2";
  for (int i = 0; i < 2; ++i) EXPECT_THAT(message(hangs), StartsWith("no complete answer to "));
  EXPECT_THAT(message(answers), StartsWith("it reported an error: answered"));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(message(hangs), StartsWith("no complete answer to "));
  EXPECT_EQ(message(answers),
            "not asked, because the subject did not answer 3 cases in a row in time");
  EXPECT_EQ(message("softmax N=1 M=2"), "it does not offer softmax (operations of hello)");
}

}  // namespace
}  // namespace sextant::oracle
