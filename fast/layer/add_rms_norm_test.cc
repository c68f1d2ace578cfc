#include "fast/layer/add_rms_norm.h"

#include "fast/kernel/kernel_test.h"
#include "fast/layer/rms_norm.h"

namespace sextant::fast {
namespace {

// Expects the correctly rounded sum, and its norm by NormalizeRows, which rms_norm_test.cc tests.
template <class T>
class AddAndNormalizeRowsTest : public testing::Test {
 public:
  static void Check(const AddedRows& rows) {
    Random random(rows.M);
    const size_t count = rows.N * rows.M;
    const Guarded<T> x = random.Fill<T>(count), residual = random.Fill<T>(count, -9, 9);
    const auto weight = random.Fill<Computed<T>>(rows.M);
    Guarded<T> sum(count), y(count), expected_sum(count), expected_y(count);
    AddAndNormalizeRows(rows, x.data(), residual.data(), weight.data(),
                        AddedOutputs<T>{y.data(), sum.data()});
    for (size_t i = 0; i < count; ++i) {
      expected_sum[i] = FromDoubleDouble<T>(TwoSum(ToDouble(x[i]), ToDouble(residual[i])));
    }
    EXPECT_TRUE(sum.SameBits(expected_sum)) << rows.M;
    const auto row = static_cast<ptrdiff_t>(rows.M);
    const Rows normed{rows.N, rows.M, row, row, rows.eps, rows.unit_offset};
    NormalizeRows(normed, expected_sum.data(), weight.data(), expected_y.data());
    EXPECT_TRUE(y.SameBits(expected_y)) << rows.M;

    Guarded<T> in_place = x, residual_in_place = residual;
    AddAndNormalizeRows(rows, in_place.data(), residual_in_place.data(), weight.data(),
                        AddedOutputs<T>{in_place.data(), residual_in_place.data()});
    EXPECT_TRUE(in_place.SameBits(y));
    EXPECT_TRUE(residual_in_place.SameBits(sum));
  }
};
TYPED_TEST_SUITE(AddAndNormalizeRowsTest, AllTypes);

TYPED_TEST(AddAndNormalizeRowsTest, IsTheNormOfTheRoundedSum) {
  OnAllTargets([] {
    for (size_t M = 1; M <= 129; ++M) {  // 2N + 1, N = 4 vectors of 16
      TestFixture::Check({.N = 2, .M = M, .eps = 0.1, .unit_offset = M % 2 == 0});
    }
  });
}

// 256 + 1 is 256 in bf16. So both sums equal their root mean square, and y is the weight: 1.0035
// rounds to 1. Without the rounding of the sum, 257 is 1.00195 times the root mean square, and y
// would be 1.0078.
TEST(AddAndNormalizeRows, NormalizesTheRoundedSum) {
  const auto bf16 = FromDouble<BF16>;
  const BF16 x[] = {bf16(256), bf16(256)}, residual[] = {bf16(1), bf16(0)};
  const float weight[] = {1.0035f, 1};
  OnAllTargets([&] {
    BF16 y[2], sum[2];
    AddAndNormalizeRows({.N = 1, .M = 2, .eps = 0}, x, residual, weight,
                        AddedOutputs<BF16>{y, sum});
    for (const BF16& s : sum) EXPECT_EQ(ToDouble(s), 256);
    for (const BF16& value : y) EXPECT_EQ(ToDouble(value), 1);
  });
}

// Large enough for streaming stores.
template <class T>
class SlowAddAndNormalizeRows : public testing::Test {};
TYPED_TEST_SUITE(SlowAddAndNormalizeRows, StreamedTypes);

TYPED_TEST(SlowAddAndNormalizeRows, GivesTheSameBitsWhenStreaming) {
  AddAndNormalizeRowsTest<TypeParam>::Check({.N = 4000 / sizeof(TypeParam), .M = 5001});
}

}  // namespace
}  // namespace sextant::fast
