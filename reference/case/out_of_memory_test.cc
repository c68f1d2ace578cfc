#include "reference/case/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

// x and y have six elements each, weight has three.
TEST(WithinMemory, NamesTheCaseAndItsSize) {
  const Case c = Case::Parse("rms_norm N=2 M=3");
  EXPECT_EQ(WithinMemory(c, [] { return 7; }), 7);
  EXPECT_THAT([&] { WithinMemory(c, []() -> int { throw std::bad_alloc(); }); },
              testing::ThrowsMessage<Error>(
                  "out of memory: the tensors of this case have 15 elements and need at least 120 "
                  "bytes: " +
                  c.ToString()));
}

}  // namespace
}  // namespace sextant
