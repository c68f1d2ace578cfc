#include "fast/layer/embedding.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

template <class T>
class GatherRowsTest : public testing::Test {
 public:
  // Expects each element of the token's row times the scale, rounded as the header states.
  static void Check(size_t M, double scale) {
    constexpr size_t kRows = 5;
    const std::vector<int64_t> token = {4, 0, 4, 2};
    Random random(M);
    const Guarded<T> table = random.Fill<T>(kRows * M);
    Guarded<T> y(token.size() * M);
    GatherRows<T>({table.data(), M, scale}, token, y.data());
    const auto factor = static_cast<Computed<T>>(scale);
    for (size_t i = 0; i < y.size(); ++i) {
      const T x = table[static_cast<size_t>(token[i / M]) * M + i % M];
      const auto product = static_cast<Computed<T>>(ToDouble(x) * factor);
      ASSERT_EQ(ToDouble(y[i]), ToDouble(FromDouble<T>(product))) << i << " of width " << M;
    }
  }
};
TYPED_TEST_SUITE(GatherRowsTest, AllTypes);

TYPED_TEST(GatherRowsTest, ScalesAtEveryWidth) {
  OnAllTargets([] {
    for (size_t M = 0; M <= 33; ++M) {  // 2N + 1 for 16 lanes
      TestFixture::Check(M, 1);
      TestFixture::Check(M, 55.5);
      TestFixture::Check(M, 0.1);
    }
  });
}

// The bits are copied, also NaN with a payload and -0.
TEST(GatherRows, CopiesBitsWithoutScale) {
  const uint16_t bits[] = {0x7fc1, 0x8000, 0xffff};
  BF16 table[3], y[3];
  std::memcpy(table, bits, sizeof bits);
  GatherRows<BF16>({table, 1}, std::vector<int64_t>{2, 1, 0}, y);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(y[i].bits, bits[2 - i]);
}

// Large enough for streaming stores.
template <class T>
class SlowGatherRows : public testing::Test {};
TYPED_TEST_SUITE(SlowGatherRows, StreamedTypes);

TYPED_TEST(SlowGatherRows, GivesTheSameBitsWhenStreaming) {
  using T = TypeParam;
  constexpr size_t kRows = 2800 / sizeof(T), kWidth = 5001;
  Random random;
  const Guarded<T> table = random.Fill<T>(kRows * kWidth);
  std::vector<int64_t> token(2 * kRows);
  for (int64_t& t : token) t = static_cast<int64_t>(random.Bits() % kRows);
  Guarded<T> all(token.size() * kWidth), one(kWidth);
  for (const double scale : {1.0, 0.1}) {
    GatherRows<T>({table.data(), kWidth, scale}, token, all.data());
    for (size_t s = 0; s < token.size(); ++s) {
      GatherRows<T>({table.data(), kWidth, scale}, std::span(token).subspan(s, 1), one.data());
      ASSERT_EQ(std::memcmp(&all[s * kWidth], one.data(), kWidth * sizeof(T)), 0) << s;
    }
  }
}

}  // namespace
}  // namespace sextant::fast
