#include "fast/attention/attend_rows.h"

#include <cmath>
#include <limits>

#include "fast/attention/attend_test.h"

namespace sextant::fast {
namespace {

// Two batches; two query heads share one key head.
template <class T>
AttendArguments<T> TwoBatches(int64_t S, int64_t keys, size_t D, size_t E) {
  return {.op = Extents(2, 2, 1, S, keys), .D = D, .E = E};
}

template <class T>
struct RowsOutputs {
  explicit RowsOutputs(const AttendArguments<T>& args) : y(args.rows() * args.E), lse(args.rows()) {
    Guarded<Computed<T>> scratch(ScratchOf(args.Inputs()));
    AttendRows(args.Inputs(), QueriesOf(args.Inputs()), y.data(), lse.data(), scratch.data());
  }
  Guarded<T> y;
  Guarded<Computed<T>> lse;
};

template <class T>
void ExpectPermitted(const AttendArguments<T>& args) {
  const RowsOutputs<T> outputs(args);
  for (size_t i = 0; i < args.rows(); ++i) {
    SCOPED_TRACE("row " + std::to_string(i));
    AttendReference<T>(args, i).Expect(outputs.y.data() + i * args.E, outputs.lse[i]);
  }
}

template <class T>
class AttendRowsTest : public testing::Test {
 public:
  static void Check(AttendArguments<T> args) {
    args.Draw();
    ExpectPermitted(args);
  }
};
TYPED_TEST_SUITE(AttendRowsTest, AllTypes);

TYPED_TEST(AttendRowsTest, ErrorIsWithinItsBoundAtEveryWidth) {
  OnAllTargets([] {
    for (size_t n = 1; n <= 33; ++n) {
      TestFixture::Check(TwoBatches<TypeParam>(2, 3, n, 2));
      TestFixture::Check(TwoBatches<TypeParam>(2, 3, 2, n));
    }
    TestFixture::Check(TwoBatches<TypeParam>(1, 2, 129, 130));
  });
}

TYPED_TEST(AttendRowsTest, ErrorIsWithinItsBoundForEveryNumberOfKeys) {
  OnAllTargets([] {
    for (int64_t keys = 0; keys <= 33; ++keys)
      TestFixture::Check(TwoBatches<TypeParam>(2, keys, 4, 3));
  });
}

TYPED_TEST(AttendRowsTest, ErrorIsWithinItsBoundInEveryForm) {
  OnAllTargets([] {
    for (int form = 0; form < 12; ++form) {
      auto args = TwoBatches<TypeParam>(3, 5, 4, 3);
      args.has_bias = (form & 1) > 0;
      args.has_sink = (form & 2) > 0;
      args.add_bias = kPlacesOfBias[form / 4];
      TestFixture::Check(args);
      args.op.soft_cap = 0.5;
      TestFixture::Check(args);
    }
  });
}

TYPED_TEST(AttendRowsTest, HeadsShareKeys) {
  OnAllTargets([] {
    for (const auto& [H, K] : {std::pair{4, 1}, {4, 2}, {6, 3}, {5, 5}}) {
      TestFixture::Check({.op = Extents(2, H, K, 2, 5)});
    }
  });
}

TYPED_TEST(AttendRowsTest, AppliesEveryMask) {
  OnAllTargets([] {
    for (const auto& [S, T] : {std::pair{5, 7}, {7, 5}, {1, 9}}) {
      for (auto& args : Masked<TypeParam>(2, S, T)) TestFixture::Check(args);
    }
  });
}

// Up to eight queries take turns at 64 keys: their numbers are those that each has alone.
TYPED_TEST(AttendRowsTest, QueriesThatTakeTurnsDoNotAffectEachOther) {
  for (const auto& [S, T] : {std::pair{1, 150}, {3, 64}, {5, 129}}) {
    for (auto& args : Masked<TypeParam>(2, S, T)) {
      args.op.H.value = 6 * args.op.K.value;
      args.Draw();
      OnAllTargets([&] {
        ExpectPermitted(args);
        const RowsOutputs<TypeParam> together(args);
        Guarded<TypeParam> y(args.rows() * args.E);
        Guarded<Computed<TypeParam>> lse(args.rows()), scratch(ScratchOf(args.Inputs()));
        for (size_t i = 0; i < args.rows(); ++i)
          AttendRows(args.Inputs(), {i, 1}, y.data(), lse.data(), scratch.data());
        EXPECT_TRUE(y.SameBits(together.y));
        EXPECT_TRUE(lse.SameBits(together.lse));
      });
    }
  }
}

// Masked keys and values are not read.
TEST(AttendRows, MaskedKeysMayBeNaN) {
  auto args = TwoBatches<float>(5, 3, 4, 3);
  args.op.mask = Mask::kCausal;
  args.op.align = Align::kTopLeft;
  args.op.key_length = {2};
  args.Draw();
  for (const size_t b : {0, 1}) {
    for (size_t d = 0; d < 4; ++d) args.k[(b * 3 + 2) * 4 + d] = NAN;
    for (size_t e = 0; e < 3; ++e) args.v[(b * 3 + 2) * 3 + e] = NAN;
  }
  OnAllTargets([&] { ExpectPermitted(args); });
}

// A NaN in a key gives NaN for all queries that see it, at every index of the key.
// Also if the bias masks all other keys.
TYPED_TEST(AttendRowsTest, VisibleNaNGivesNaN) {
  using T = TypeParam;
  for (const size_t at : {0, 1, 2}) {
    AttendArguments<T> args{.op = Extents(1, 1, 1, 2, 3), .has_bias = true};
    args.Draw();
    args.k[at * args.D] = FromDouble<T>(NAN);
    for (const bool alone : {false, true}) {
      for (size_t i = 0; alone && i < args.bias.size(); ++i)
        if (i % 3 != at) args.bias[i] = FromDouble<T>(-INFINITY);
      OnAllTargets([&] {
        const RowsOutputs<T> outputs(args);
        for (size_t i = 0; i < outputs.y.size(); ++i)
          EXPECT_TRUE(std::isnan(ToDouble(outputs.y[i])));
        for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(std::isnan(outputs.lse[i]));
      });
    }
  }
}

// Sinks with nearly all, all, or none of the weight: e^(sink - largest) may overflow although the
// weights do not underflow.
TYPED_TEST(AttendRowsTest, ErrorIsWithinItsBoundForExtremeSinks) {
  using C = Computed<TypeParam>;
  auto args = TwoBatches<TypeParam>(1, 3, 4, 2);
  args.has_sink = true;
  args.Draw();
  const C near_limit = std::same_as<C, double> ? 720 : 95;
  for (const C far : {C{-1e30f}, -near_limit, near_limit, C{1e30f}}) {
    args.sink[0] = args.sink[1] = far;
    OnAllTargets([&] { ExpectPermitted(args); });
  }
}

// A bias of -infinity for all keys.
TEST(AttendRows, GivesZeroIfTheBiasMasksAllKeys) {
  auto args = TwoBatches<float>(1, 3, 4, 2);
  args.has_bias = true;
  args.Draw();
  for (size_t i = 0; i < args.bias.size(); ++i) args.bias[i] = -INFINITY;
  OnAllTargets([&] {
    const RowsOutputs<float> outputs(args);
    for (size_t i = 0; i < outputs.y.size(); ++i) EXPECT_EQ(outputs.y[i], 0);
    for (size_t i = 0; i < args.rows(); ++i) EXPECT_EQ(outputs.lse[i], -INFINITY);
  });
}

// A score is a sum of D products with D roundings, and its scaling is one more rounding.
template <class T>
void CheckScores(int64_t keys, size_t D) {
  auto args = TwoBatches<T>(2, keys, D, 1);
  args.Draw();
  const size_t count = args.keys();
  Guarded<T> scores(args.rows() * count);
  Guarded<Computed<T>> scratch(ScratchOf(args.Inputs()));
  ScoreRows(args.Inputs(), QueriesOf(args.Inputs()), scores.data(), scratch.data());
  for (size_t i = 0; i < scores.size(); ++i) {
    DoubleDouble dot;
    double size = 0;
    for (size_t d = 0; d < D; ++d) {
      const DoubleDouble product =
          TwoProduct(ToDouble(args.q[i / count * D + d]),
                     ToDouble(args.k[(i / count / 4 * count + i % count) * D + d]));
      dot += product;
      size += std::abs(product.high);
    }
    const DoubleDouble exact = dot * args.scale;
    double permitted = args.scale * size * (static_cast<double>(D) + 2) * kUnit<T>;
    if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(exact.high) + permitted);
    const double error = std::abs((exact - DoubleDouble(ToDouble(scores[i]))).high);
    ASSERT_LE(error, permitted) << "score " << i;
  }
}

TYPED_TEST(AttendRowsTest, ErrorOfScoresIsWithinItsBoundAtEveryWidth) {
  OnAllTargets([] {
    for (size_t n = 1; n <= 33; ++n) {
      CheckScores<TypeParam>(3, n);
      CheckScores<TypeParam>(static_cast<int64_t>(n), 2);
    }
  });
}

}  // namespace
}  // namespace sextant::fast
