#include "tools/api/time_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace sextant::tools {
namespace {

void Wait(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(TimeBudget, HalfOfTheShareIsForTheProof) {
  TimeBudget time(2000, 1);
  time.Begin();
  EXPECT_TRUE(time.HasTimeForProof());
  TimeBudget none(0, 1);
  none.Begin();
  EXPECT_FALSE(none.HasTimeForProof());
  EXPECT_FALSE(none.HasTime());
}

TEST(TimeBudget, ACaseHasAnEqualShareOrAnEighth) {
  for (const auto& [seconds, cases] : {std::pair(0.03, 3), std::pair(0.08, 10000)}) {
    TimeBudget time(seconds, cases);
    time.Begin();
    Wait(11);
    EXPECT_FALSE(time.HasTime());
  }
  for (const auto& [seconds, cases] : {std::pair(3000.0, 3), std::pair(8000.0, 10000)}) {
    TimeBudget time(seconds, cases);
    time.Begin();
    EXPECT_TRUE(time.HasTimeForProof());
  }
}

TEST(TimeBudget, APauseEndsNoCase) {
  TimeBudget time(0.08, 2);
  time.Begin();
  time.Pause();
  time.Begin();
  Wait(41);
  EXPECT_FALSE(time.HasTime()) << "the other half is that of the second case";
}

TEST(TimeBudget, TimeThatIsLeftGoesToTheOtherCases) {
  TimeBudget time(0.02, 2);
  time.Begin();
  Wait(25);
  time.End();
  time.Begin();  // nothing is left
  EXPECT_FALSE(time.HasTime());
  TimeBudget long_time(2000, 2);
  long_time.Begin();
  long_time.End();
  Wait(1);
  long_time.Begin();
  EXPECT_TRUE(long_time.HasTimeForProof());
}

}  // namespace
}  // namespace sextant::tools
