#include "fast/position/relative_bias.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

// A table whose elements are their indices.
template <class T>
Guarded<T> Numbered(size_t count) {
  Guarded<T> table(count);
  for (size_t i = 0; i < count; ++i) table[i] = FromDouble<T>(static_cast<double>(i));
  return table;
}

template <class T>
class FillRelativeBiasTest : public testing::Test {
 public:
  static void Check(const RelativeBuckets& buckets, size_t rows, const std::vector<int64_t>& query,
                    const std::vector<int64_t>& key, size_t H = 3) {
    const Guarded<T> table = Numbered<T>(rows * H);
    Guarded<T> bias(H * query.size() * key.size());
    FillRelativeBias<T>({buckets, query, key}, table.data(), H, bias.data());
    size_t at = 0;
    for (size_t h = 0; h < H; ++h) {
      for (const int64_t i : query) {
        for (const int64_t j : key) {
          const auto row = static_cast<size_t>(buckets.RowOf(i, j));
          ASSERT_EQ(ToDouble(bias[at++]), ToDouble(table[row * H + h]))
              << h << " " << i << " " << j;
        }
      }
    }
  }
};
TYPED_TEST_SUITE(FillRelativeBiasTest, AllTypes);

TYPED_TEST(FillRelativeBiasTest, CopiesTheBucketForEveryNumberOfKeys) {
  const RelativeBuckets both(32, 128, true), one(32, 128, false);
  OnAllTargets([&] {
    for (size_t keys = 0; keys <= 33; ++keys) {  // 2N + 1, N = 16 lanes
      std::vector<int64_t> key(keys);
      for (size_t t = 0; t < keys; ++t) key[t] = 100 - static_cast<int64_t>(t * t) / 2;
      TestFixture::Check(both, 32, {7, 100, -200}, key);
      TestFixture::Check(one, 32, {7, 100, -200}, key);
    }
  });
}

// All distances around the bucket boundaries of T5, in rows longer than one block.
TYPED_TEST(FillRelativeBiasTest, CopiesTheBucketInLongRows) {
  const RelativeBuckets both(32, 128, true), one(32, 128, false);
  std::vector<int64_t> key(1100);
  for (size_t t = 0; t < key.size(); ++t) key[t] = static_cast<int64_t>(t) - 550;
  OnAllTargets([&] {
    TestFixture::Check(both, 32, {0}, key);
    TestFixture::Check(one, 32, {0}, key);
  });
}

// Near and far queries in any order; keys of which some blocks are consecutive and others not.
TYPED_TEST(FillRelativeBiasTest, CopiesTheBucketOfSeveralQueries) {
  const RelativeBuckets both(32, 128, true), one(32, 128, false);
  std::vector<int64_t> key(2100);
  for (size_t t = 0; t < key.size(); ++t) key[t] = static_cast<int64_t>(t < 1500 ? t : t + 1) - 3;
  const std::vector<int64_t> query = {5, 0, 1024, 1025, 1029, 1030, -40, 7, 7, int64_t{1} << 53};
  OnAllTargets([&] {
    TestFixture::Check(both, 32, query, key);
    TestFixture::Check(one, 32, query, key);
  });
}

// The distance 16 = 8 (128/8)^(2/8) is exactly a bucket boundary, which rounded logarithms miss.
TEST(FillRelativeBias, BucketBoundariesAreExact) {
  const RelativeBuckets both(32, 128, true);
  const std::vector<int64_t> query = {64}, key = {49, 48, 33, 32, 1, 0, int64_t{1} << 53};
  const Guarded<float> table = Numbered<float>(32);
  float bias[7];
  OnAllTargets([&] {
    FillRelativeBias<float>({both, query, key}, table.data(), 1, bias);
    EXPECT_EQ(std::vector<float>(bias, bias + 7), (std::vector<float>{9, 10, 11, 12, 13, 14, 31}));
  });
}

}  // namespace
}  // namespace sextant::fast
