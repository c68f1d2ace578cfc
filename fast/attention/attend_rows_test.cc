#include "fast/attention/attend_rows.h"

#include <cmath>
#include <limits>

#include "fast/attention/attend_test.h"

namespace sextant::fast {
namespace {

// Two batches and two heads that share one.
template <class T>
AttendQuestion<T> Asked(int64_t S, int64_t keys, size_t D, size_t E) {
  return {.op = Extents(2, 2, 1, S, keys), .D = D, .E = E};
}

template <class T>
struct RowsAnswer {
  explicit RowsAnswer(const AttendQuestion<T>& asked)
      : y(asked.rows() * asked.E), lse(asked.rows()) {
    Guarded<Computed<T>> scratch(ScratchOf(asked.Inputs()));
    AttendRows(asked.Inputs(), y.data(), lse.data(), scratch.data());
  }
  Guarded<T> y;
  Guarded<Computed<T>> lse;
};

template <class T>
void ExpectRight(const AttendQuestion<T>& asked) {
  const RowsAnswer<T> answer(asked);
  for (size_t i = 0; i < asked.rows(); ++i) {
    SCOPED_TRACE("row " + std::to_string(i));
    AttendAnswer<T>(asked, i).Expect(answer.y.data() + i * asked.E, answer.lse[i]);
  }
}

template <class T>
class AttendRowsTest : public testing::Test {
 public:
  static void Check(AttendQuestion<T> asked) {
    asked.Draw();
    ExpectRight(asked);
  }
};
using AllTypes = testing::Types<double, float, F16, BF16>;
TYPED_TEST_SUITE(AttendRowsTest, AllTypes);

TYPED_TEST(AttendRowsTest, IsRightAtEveryWidth) {
  OnAllTargets([] {
    for (size_t n = 1; n <= 33; ++n) {
      TestFixture::Check(Asked<TypeParam>(2, 3, n, 2));
      TestFixture::Check(Asked<TypeParam>(2, 3, 2, n));
    }
    TestFixture::Check(Asked<TypeParam>(1, 2, 129, 130));
  });
}

TYPED_TEST(AttendRowsTest, IsRightForEveryNumberOfKeys) {
  OnAllTargets([] {
    for (int64_t keys = 0; keys <= 33; ++keys) TestFixture::Check(Asked<TypeParam>(2, keys, 4, 3));
  });
}

TYPED_TEST(AttendRowsTest, IsRightInEveryForm) {
  OnAllTargets([] {
    for (int form = 0; form < 8; ++form) {
      auto asked = Asked<TypeParam>(3, 5, 4, 3);
      asked.has_bias = (form & 1) > 0;
      asked.has_sink = (form & 2) > 0;
      asked.scale_bias = (form & 4) > 0;
      TestFixture::Check(asked);
      asked.op.soft_cap = 0.5;
      TestFixture::Check(asked);
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

TYPED_TEST(AttendRowsTest, FollowsEveryMask) {
  OnAllTargets([] {
    for (const auto& [S, T] : {std::pair{5, 7}, {7, 5}, {1, 9}}) {
      for (auto& asked : Masked<TypeParam>(2, S, T)) TestFixture::Check(asked);
    }
  });
}

// What a query does not see is not read.
TEST(AttendRows, UnseenKeysMayBeAnything) {
  auto asked = Asked<float>(5, 3, 4, 3);
  asked.op.mask = Mask::kCausal;
  asked.op.align = Align::kTopLeft;
  asked.op.key_length = {2};
  asked.Draw();
  for (const size_t b : {0, 1}) {
    for (size_t d = 0; d < 4; ++d) asked.k[(b * 3 + 2) * 4 + d] = NAN;
    for (size_t e = 0; e < 3; ++e) asked.v[(b * 3 + 2) * 3 + e] = NAN;
  }
  OnAllTargets([&] { ExpectRight(asked); });
}

// A key that is not a number spoils the queries that see it, wherever it stands.
TYPED_TEST(AttendRowsTest, SeenNaNIsAnswered) {
  using T = TypeParam;
  for (const size_t at : {0, 1, 2}) {
    AttendQuestion<T> asked{.op = Extents(1, 1, 1, 2, 3)};
    asked.Draw();
    asked.k[at * asked.D] = FromDouble<T>(NAN);
    OnAllTargets([&] {
      const RowsAnswer<T> answer(asked);
      for (size_t i = 0; i < answer.y.size(); ++i) EXPECT_TRUE(std::isnan(ToDouble(answer.y[i])));
      for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(std::isnan(answer.lse[i]));
    });
  }
}

// Sinks that take nearly all, or all, or nothing: e^(sink - largest) may be too large for the type
// while the weights still are numbers.
TYPED_TEST(AttendRowsTest, SinksMayBeFar) {
  using C = Computed<TypeParam>;
  auto asked = Asked<TypeParam>(1, 3, 4, 2);
  asked.has_sink = true;
  asked.Draw();
  const C near_limit = std::same_as<C, double> ? 720 : 95;
  for (const C far : {C{-1e30f}, -near_limit, near_limit, C{1e30f}}) {
    asked.sink[0] = asked.sink[1] = far;
    OnAllTargets([&] { ExpectRight(asked); });
  }
}

// All that a query sees may be masked by a bias of -infinity.
TEST(AttendRows, BiasesMayMaskAll) {
  auto asked = Asked<float>(1, 3, 4, 2);
  asked.has_bias = true;
  asked.Draw();
  for (size_t i = 0; i < asked.bias.size(); ++i) asked.bias[i] = -INFINITY;
  OnAllTargets([&] {
    const RowsAnswer<float> answer(asked);
    for (size_t i = 0; i < answer.y.size(); ++i) EXPECT_EQ(answer.y[i], 0);
    for (size_t i = 0; i < asked.rows(); ++i) EXPECT_EQ(answer.lse[i], -INFINITY);
  });
}

// A score is a sum of D products, D roundings, and scaled, one more.
template <class T>
void CheckScores(int64_t keys, size_t D) {
  auto asked = Asked<T>(2, keys, D, 1);
  asked.Draw();
  const size_t count = asked.keys();
  Guarded<T> scores(asked.rows() * count);
  Guarded<Computed<T>> scratch(ScratchOf(asked.Inputs()));
  ScoreRows(asked.Inputs(), scores.data(), scratch.data());
  for (size_t i = 0; i < scores.size(); ++i) {
    DoubleDouble dot;
    double size = 0;
    for (size_t d = 0; d < D; ++d) {
      const DoubleDouble product =
          TwoProduct(ToDouble(asked.q[i / count * D + d]),
                     ToDouble(asked.k[(i / count / 4 * count + i % count) * D + d]));
      dot += product;
      size += std::abs(product.high);
    }
    const DoubleDouble exact = dot * asked.scale;
    double permitted = asked.scale * size * (static_cast<double>(D) + 2) * kUnit<T>;
    if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(exact.high) + permitted);
    const double error = std::abs((exact - DoubleDouble(ToDouble(scores[i]))).high);
    ASSERT_LE(error, permitted) << "score " << i;
  }
}

TYPED_TEST(AttendRowsTest, ScoresAreRightAtEveryWidth) {
  OnAllTargets([] {
    for (size_t n = 1; n <= 33; ++n) {
      CheckScores<TypeParam>(3, n);
      CheckScores<TypeParam>(static_cast<int64_t>(n), 2);
    }
  });
}

}  // namespace
}  // namespace sextant::fast
