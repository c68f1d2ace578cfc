#include "tools/report/progress.h"

#include <gtest/gtest.h>

namespace sextant::tools {
namespace {

TEST(LongWait, IsSaidWhenTheSpeedIsKnown) {
  EXPECT_EQ(LongWait(5, 60), "more than 1 minute left");
  EXPECT_EQ(LongWait(7, 299), "more than 4 minutes left");
  EXPECT_EQ(LongWait(4, 1e6), "");
  EXPECT_EQ(LongWait(100, 59), "");
}

}  // namespace
}  // namespace sextant::tools
