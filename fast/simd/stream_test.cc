#include "fast/simd/stream.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

TEST(StreamCopy, CopiesAnyLengthToAnyAlignment) {
  OnAllTargets([] {
    Random random;
    for (size_t bytes : {0, 1, 63, 64, 65, 127, 128, 200, 1000}) {
      for (size_t shift = 0; shift < 64; shift += 7) {
        std::vector<unsigned char> from(bytes + shift), to(bytes + shift + 1, 0);
        for (auto& byte : from) byte = static_cast<unsigned char>(1 + random.Bits() % 255);
        StreamCopy(from.data() + shift, to.data() + shift, bytes);
        StreamFence();
        EXPECT_TRUE(std::equal(from.begin() + shift, from.end(), to.begin() + shift));
        EXPECT_EQ(std::count(to.begin(), to.begin() + shift, 0), static_cast<ptrdiff_t>(shift));
        EXPECT_EQ(to.back(), 0);
      }
    }
  });
}

TEST(ShouldStream, TrueOnlyForSizesBeyondTheCaches) {
  EXPECT_FALSE(ShouldStream(1 << 20));
  EXPECT_TRUE(ShouldStream(size_t{49} << 20));
}

}  // namespace
}  // namespace sextant::fast
