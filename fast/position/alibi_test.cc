#include "fast/position/alibi.h"

#include <cmath>
#include <limits>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

// The bias in long double. Distances and their products with f32 slopes are exact.
long double Exact(AlibiForm form, double slope, int64_t i, int64_t j) {
  const int64_t d = form == AlibiForm::kKey         ? j
                    : form == AlibiForm::kSymmetric ? -std::abs(j - i)
                                                    : j - i;
  return static_cast<long double>(slope) * static_cast<long double>(d);
}

template <class T>
class FillAlibiTest : public testing::Test {
 public:
  using C = Computed<T>;
  static void Check(AlibiForm form, size_t H, const std::vector<int64_t>& query,
                    const std::vector<int64_t>& key) {
    const Guarded<C> slope = Random(key.size()).Fill<C>(H, 0, 1);
    Guarded<T> bias(H * query.size() * key.size());
    FillAlibi<T>({form, query, key}, {slope.data(), H}, bias.data());
    size_t at = 0;
    for (size_t h = 0; h < H; ++h) {
      for (const int64_t i : query) {
        for (const int64_t j : key) {
          const long double exact = Exact(form, ToDouble(slope[h]), i, j);
          const double size = std::abs(static_cast<double>(exact));
          // The distance is rounded, the product is rounded, and then rounded again to T.
          double permitted = size * 2 * kUnit<T> * (1 + kUnit<T>);
          if (Narrow<T>) permitted += RoundingError(kDType<T>, size + permitted);
          const double got = ToDouble(bias[at++]);
          ASSERT_LE(std::abs(static_cast<double>(got - exact)), permitted)
              << "head " << h << ", query " << i << ", key " << j;
        }
      }
    }
  }
};
TYPED_TEST_SUITE(FillAlibiTest, AllTypes);

TYPED_TEST(FillAlibiTest, ErrorIsWithinItsBoundForEveryNumberOfKeys) {
  OnAllTargets([] {
    for (size_t keys = 0; keys <= 33; ++keys) {  // 2N + 1, N = 16 lanes
      std::vector<int64_t> key(keys);
      for (size_t t = 0; t < keys; ++t) key[t] = static_cast<int64_t>(5 * t) - 30;
      for (const auto form : {AlibiForm::kDistance, AlibiForm::kKey, AlibiForm::kSymmetric}) {
        TestFixture::Check(form, 3, {7, -11}, key);
      }
    }
  });
}

// More keys than one block.
TYPED_TEST(FillAlibiTest, ErrorIsWithinItsBoundInLongRows) {
  std::vector<int64_t> key(5000);
  for (size_t t = 0; t < key.size(); ++t) key[t] = static_cast<int64_t>(t);
  OnAllTargets([&] { TestFixture::Check(AlibiForm::kDistance, 2, {4999}, key); });
}

// The difference of 2^53 - 1 and its negative is 2^54 - 2. It must be computed before rounding.
TEST(FillAlibi, DistancesAreDifferencesOfIntegers) {
  constexpr int64_t kFar = (int64_t{1} << 53) - 1;
  const std::vector<int64_t> query = {kFar}, key = {kFar - 1, -kFar};
  const double slope[] = {1};
  double bias[2];
  OnAllTargets([&] {
    FillAlibi<double>({AlibiForm::kDistance, query, key}, slope, bias);
    EXPECT_EQ(bias[0], -1);
    EXPECT_EQ(bias[1], -0x1p54 + 2);
  });
}

// Large enough for streaming stores.
template <class T>
class SlowFillAlibi : public testing::Test {};
TYPED_TEST_SUITE(SlowFillAlibi, StreamedTypes);

TYPED_TEST(SlowFillAlibi, GivesTheSameBitsWhenStreaming) {
  using T = TypeParam;
  std::vector<int64_t> query(40), key(3001);
  for (size_t s = 0; s < query.size(); ++s) query[s] = static_cast<int64_t>(s);
  for (size_t t = 0; t < key.size(); ++t) key[t] = static_cast<int64_t>(3 * t);
  constexpr size_t kHeads = 1200 / sizeof(T);
  const auto slope = Random().Fill<float>(kHeads);
  Guarded<T> all(kHeads * query.size() * key.size()), one(query.size() * key.size());
  FillAlibi<T>({AlibiForm::kDistance, query, key}, {slope.data(), kHeads}, all.data());
  for (const size_t h : {size_t{0}, kHeads - 1}) {
    FillAlibi<T>({AlibiForm::kDistance, query, key}, {slope.data() + h, 1}, one.data());
    EXPECT_EQ(std::memcmp(one.data(), all.data() + h * one.size(), one.size() * sizeof(T)), 0);
  }
}

}  // namespace
}  // namespace sextant::fast
