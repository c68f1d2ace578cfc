#include "fast/rope/rope_rotate.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

// Expects y within the error bound of the formula, computed channel by channel in double-double.
template <class T, class Table>
void ExpectRotated(const Rotation& r, Heads<const T> x, RotaryTable<Table> t, Heads<T> y) {
  const double sign = r.direction == Direction::kForward ? 1 : -1;
  for (size_t b = 0; b < r.B; ++b) {
    for (size_t h = 0; h < r.H; ++h) {
      for (size_t s = 0; s < r.S; ++s) {
        const auto at = [&](const auto& heads) {
          return heads.data + static_cast<ptrdiff_t>(b) * heads.batch +
                 static_cast<ptrdiff_t>(h) * heads.head + static_cast<ptrdiff_t>(s) * heads.row;
        };
        const T* from = at(x);
        const T* to = at(y);
        const ptrdiff_t row =
            static_cast<ptrdiff_t>(b) * t.batch + static_cast<ptrdiff_t>(s) * t.row;
        for (size_t i = 0; i < r.D; ++i) {
          if (i >= r.offset && i < r.offset + r.R) continue;
          ASSERT_EQ(std::memcmp(from + i, to + i, sizeof(T)), 0) << "channel " << i;
        }
        for (size_t k = 0; k < r.R / 2; ++k) {
          const bool half = r.pairing == Pairing::kHalf;
          const size_t i = r.offset + (half ? k : 2 * k), j = i + (half ? r.R / 2 : 1);
          const double a = ToDouble(from[i]),
                       c = ToDouble(t.cosine[row + static_cast<ptrdiff_t>(k)]);
          const double e = ToDouble(from[j]);
          const double si = sign * ToDouble(t.sine[row + static_cast<ptrdiff_t>(k)]);
          const auto near = [](const DoubleDouble& p, const DoubleDouble& q, T got) {
            const double exact = (p + q).high, u = kUnit<T>;
            double permitted =
                u * (std::abs(p.high) + std::abs(q.high) + std::abs(exact)) * (1 + 4 * u);
            if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(exact) + permitted);
            return std::abs((p + q - DoubleDouble(ToDouble(got))).high) <= permitted;
          };
          ASSERT_TRUE(near(TwoProduct(a, c), -TwoProduct(e, si), to[i])) << "channel " << i;
          ASSERT_TRUE(near(TwoProduct(a, si), TwoProduct(e, c), to[j])) << "channel " << j;
        }
      }
    }
  }
}

template <class Types>
class RotateTest : public testing::Test {
 public:
  using T = typename Types::first_type;
  using Table = typename Types::second_type;

  static void Check(const Rotation& r) {
    Random random(r.R + r.offset);
    const size_t pairs = r.B * r.S * r.R / 2;
    const Guarded<Table> cosine = random.Fill<Table>(pairs), sine = random.Fill<Table>(pairs);
    const Guarded<T> x = random.Fill<T>(r.B * r.H * r.S * r.D);
    Guarded<T> y(x.size()), in_place = x;
    const RotaryTable<Table> table = DenseTable(r, cosine.data(), sine.data());
    Rotate<T, Table>(r, Dense(r, x.data()), table, Dense(r, y.data()));
    ExpectRotated<T, Table>(r, Dense(r, x.data()), table, Dense(r, y.data()));
    const Heads<T> same = Dense(r, in_place.data());
    Rotate<T, Table>(r, {same.data, same.batch, same.head, same.row}, table, same);
    EXPECT_TRUE(in_place.SameBits(y));
  }
};

using PairsOfTypes =
    testing::Types<std::pair<double, double>, std::pair<float, float>, std::pair<F16, F16>,
                   std::pair<F16, float>, std::pair<BF16, BF16>, std::pair<BF16, float>>;
TYPED_TEST_SUITE(RotateTest, PairsOfTypes);

TYPED_TEST(RotateTest, ErrorIsWithinItsBoundAtEveryWidth) {
  OnAllTargets([] {
    for (size_t half = 1; half <= 33; ++half) {  // 2N + 1 of the widest vectors, N = 16
      for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleaved}) {
        const Direction direction = half % 2 ? Direction::kForward : Direction::kTranspose;
        TestFixture::Check(
            {.S = 2, .D = 2 * half, .R = 2 * half, .pairing = pairing, .direction = direction});
      }
    }
  });
}

TYPED_TEST(RotateTest, CopiesChannelsOutsideTheWindow) {
  OnAllTargets([] {
    for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleaved}) {
      for (const Direction direction : {Direction::kForward, Direction::kTranspose}) {
        TestFixture::Check({.B = 2,
                            .H = 3,
                            .S = 5,
                            .D = 47,
                            .R = 38,
                            .offset = 5,
                            .pairing = pairing,
                            .direction = direction});
      }
    }
    TestFixture::Check({.S = 3, .D = 5, .R = 0});
  });
}

// x is [B,S,H,D] in memory, and all sequences share one table.
TYPED_TEST(RotateTest, UsesTheGivenStrides) {
  using T = typename TestFixture::T;
  using Table = typename TestFixture::Table;
  const Rotation r{.B = 2, .H = 3, .S = 4, .D = 10, .R = 8};
  Random random;
  const Guarded<T> x = random.Fill<T>(r.B * r.H * r.S * r.D);
  const Guarded<Table> cosine = random.Fill<Table>(r.S * 4), sine = random.Fill<Table>(r.S * 4);
  const Heads<const T> from{x.data(), 120, 10, 30};
  const RotaryTable<Table> table{cosine.data(), sine.data(), 0, 4};
  OnAllTargets([&] {
    Guarded<T> y(x.size());
    Rotate<T, Table>(r, from, table, Dense(r, y.data()));
    ExpectRotated<T, Table>(r, from, table, Dense(r, y.data()));
  });
}

// Multiplies every bf16, including NaN, infinities and subnormals, by a cosine; the sine is 0. The
// product is rounded to f32 and then to bf16.
TEST(Rotate, RoundsAllBF16ToNearestEven) {
  const Rotation r{.S = 1024, .D = 128, .R = 128};
  Guarded<BF16> x(r.S * r.D), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {  // the second half of each row is 0
    x[i] = {static_cast<uint16_t>(i % 128 < 64 ? i / 128 * 64 + i % 64 : 0)};
  }
  Guarded<float> cosine(r.S * 64), sine(r.S * 64);
  for (size_t i = 0; i < cosine.size(); ++i) {
    cosine[i] = 0.7f;
    sine[i] = 0;
  }
  OnAllTargets([&] {
    for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleaved}) {
      Rotation paired = r;
      paired.pairing = pairing;
      const RotaryTable<float> table = DenseTable(r, cosine.data(), sine.data());
      const Guarded<BF16>& from = x;
      Rotate<BF16, float>(paired, Dense(r, from.data()), table, Dense(r, y.data()));
      size_t wrong = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const float exact = static_cast<float>(ToDouble(x[i])) * 0.7f;
        const size_t partner = pairing == Pairing::kHalf ? i ^ 64 : i ^ 1;
        const bool is_nan = std::isnan(exact) || !std::isfinite(ToDouble(x[partner]));
        wrong +=
            is_nan ? !std::isnan(ToDouble(y[i])) : ToDouble(y[i]) != RoundTo(DType::kBF16, exact);
      }
      EXPECT_EQ(wrong, 0u);
    }
  });
}

// With a row step of 0, all rows of a sequence rotate by the same angles.
TYPED_TEST(RotateTest, SharesOneRowOfTheTable) {
  using T = typename TestFixture::T;
  using Table = typename TestFixture::Table;
  const Rotation r{.B = 2, .H = 3, .S = 40, .D = 10, .R = 8, .pairing = Pairing::kInterleaved};
  Random random;
  const Guarded<T> x = random.Fill<T>(r.B * r.H * r.S * r.D);
  const Guarded<Table> cosine = random.Fill<Table>(r.B * 4), sine = random.Fill<Table>(r.B * 4);
  OnAllTargets([&] {
    Guarded<T> y(x.size());
    const RotaryTable<Table> table{cosine.data(), sine.data(), 4, 0};
    Rotate<T, Table>(r, Dense(r, x.data()), table, Dense(r, y.data()));
    ExpectRotated<T, Table>(r, Dense(r, x.data()), table, Dense(r, y.data()));
  });
}

// Large enough for streaming stores.
template <class T>
class SlowRotate : public testing::Test {};
TYPED_TEST_SUITE(SlowRotate, StreamedTypes);

TYPED_TEST(SlowRotate, GivesTheSameBitsWhenStreaming) {
  using T = TypeParam;
  const Rotation r{.H = 12 / sizeof(T), .S = 20000, .D = 131, .R = 128, .offset = 2};
  Random random;
  Guarded<T> x = random.Fill<T>(r.H * r.S * r.D), y(x.size());
  const Guarded<float> cosine = random.Fill<float>(r.S * r.R / 2),
                       sine = random.Fill<float>(r.S * r.R / 2);
  const RotaryTable<float> table = DenseTable(r, cosine.data(), sine.data());
  const Heads<T> same = Dense(r, x.data());
  const Heads<const T> from{same.data, same.batch, same.head, same.row};
  Rotate<T, float>(r, from, table, Dense(r, y.data()));
  Rotate<T, float>(r, from, table, same);
  EXPECT_TRUE(x.SameBits(y));
}

}  // namespace
}  // namespace sextant::fast
