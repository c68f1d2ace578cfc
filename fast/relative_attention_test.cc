#include "fast/relative_attention.h"

#include <cmath>
#include <numeric>

#include "fast/kernel_test.h"
#include "reference/relative_attention.h"

namespace sextant::fast {
namespace {

struct Shape {
  size_t heads, S, keys, D;
  int64_t clip;
};

// Everything that a call needs, drawn at random; values so small that scores stay within +-4.
template <class T>
struct Question {
  Shape shape;
  Guarded<T> q, k, v, key_table, value_table;
  std::vector<int64_t> query_position, key_position;
  double scale = 0.5;

  explicit Question(const Shape& of) : Question(of, Random(of.keys * 1000 + of.D)) {}
  Question(const Shape& of, Random random)
      : shape(of),
        q(random.Fill<T>(of.heads * of.S * of.D, -1, 1)),
        k(random.Fill<T>(of.heads * of.keys * of.D, -1, 1)),
        v(random.Fill<T>(of.heads * of.keys * of.D, -1, 1)),
        key_table(random.Fill<T>((2 * of.clip + 1) * of.D, -1, 1)),
        value_table(random.Fill<T>((2 * of.clip + 1) * of.D, -1, 1)),
        query_position(of.S),
        key_position(of.keys) {
    std::iota(query_position.begin(), query_position.end(), 3);
    std::iota(key_position.begin(), key_position.end(), 0);
  }
  RelativeInputs<T> Inputs() const {
    return {
        shape.heads,        shape.D,        q.data(),     k.data(),   v.data(), key_table.data(),
        value_table.data(), query_position, key_position, shape.clip, scale};
  }
};

// The formula in double, and the permitted error: with exponents off by E, which is the error of a
// score of 2D + 2 roundings and that of an exponential, a mean of T values of size at most 2 is off
// by 2 (e^2E - 1), and by 2T + 6 more roundings of the mean and of the sum.
template <class T>
void ExpectAttended(const Question<T>& asked, const Guarded<T>& y, const Guarded<T>& scores) {
  const auto& [heads, S, keys, D, clip] = asked.shape;
  const double u = kUnit<T>;
  std::vector<double> score(keys);
  for (size_t i = 0; i < heads * S; ++i) {
    const auto row = [&](size_t t) {
      return static_cast<size_t>(
          RelativeAttention::RowOf(asked.query_position[i % S], asked.key_position[t], clip));
    };
    double worst = 0, sum = 0;
    for (size_t t = 0; t < keys; ++t) {
      double dot = 0, size = 0;
      for (size_t d = 0; d < D; ++d) {
        const double q = ToDouble(asked.q[i * D + d]);
        const double k = ToDouble(asked.k[(i / S * keys + t) * D + d]),
                     a = ToDouble(asked.key_table[row(t) * D + d]);
        dot += q * (k + a);
        size += std::abs(q) * (std::abs(k) + std::abs(a));
      }
      score[t] = dot * asked.scale;
      const double error = size * asked.scale * (2. * static_cast<double>(D) + 2) * u * 1.01;
      worst = std::max(worst, error);
      const double permitted =
          error + (Narrow<T> ? RoundingError(kDType<T>, std::abs(score[t]) + error) : 0) + 1e-15;
      ASSERT_NEAR(ToDouble(scores[i * keys + t]), score[t], permitted);
      sum += std::exp(score[t]);
    }
    const double E = worst + 16 * D * u + 4 * u;  // and of the difference to the largest score
    for (size_t d = 0; d < D; ++d) {
      double mean = 0;
      for (size_t t = 0; t < keys; ++t) {
        mean += std::exp(score[t]) / sum *
                (ToDouble(asked.v[(i / S * keys + t) * D + d]) +
                 ToDouble(asked.value_table[row(t) * D + d]));
      }
      double permitted = 2 * std::expm1(2 * E) + 2 * (2. * static_cast<double>(keys) + 6) * u;
      if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(mean) + permitted);
      ASSERT_NEAR(ToDouble(y[i * D + d]), mean, permitted + 1e-15) << "row " << i << " of " << keys;
    }
  }
}

template <class T>
class RelativeAttendTest : public testing::Test {
 public:
  static void Check(const Shape& shape) {
    const Question<T> asked(shape);
    Guarded<T> y(shape.heads * shape.S * shape.D), scores(shape.heads * shape.S * shape.keys);
    Guarded<Computed<T>> scratch(ScratchOf(asked.Inputs()));
    RelativeAttend(asked.Inputs(), y.data(), scores.data(), scratch.data());
    ExpectAttended(asked, y, scores);
  }
};
using AllTypes = testing::Types<double, float, F16, BF16>;
TYPED_TEST_SUITE(RelativeAttendTest, AllTypes);

TYPED_TEST(RelativeAttendTest, IsRightAtEveryWidth) {
  OnAllTargets([] {
    for (size_t D = 1; D <= 33; ++D) TestFixture::Check({2, 2, 3, D, 1});
    TestFixture::Check({1, 1, 2, 129, 2});
  });
}

TYPED_TEST(RelativeAttendTest, IsRightForEveryNumberOfKeys) {
  OnAllTargets([] {
    for (size_t keys = 1; keys <= 33; ++keys) TestFixture::Check({2, 3, keys, 4, 2});
  });
}

TYPED_TEST(RelativeAttendTest, ClipsMayBeWideOrNone) {
  OnAllTargets([] {
    TestFixture::Check({1, 3, 9, 4, 0});
    TestFixture::Check({1, 3, 9, 4, 100});
  });
}

// Rows of the tables that no key uses may hold anything.
TEST(RelativeAttend, UnusedRowsDoNotCount) {
  Question<float> asked({1, 1, 2, 2, 1});
  asked.query_position = {0};
  asked.key_position = {-9, 9};  // rows 0 and 2
  for (const size_t d : {2, 3}) asked.key_table[d] = asked.value_table[d] = NAN;
  Guarded<float> y(2), scores(2), scratch(ScratchOf(asked.Inputs()));
  OnAllTargets([&] {
    RelativeAttend(asked.Inputs(), y.data(), scores.data(), scratch.data());
    ExpectAttended(asked, y, scores);
  });
}

TEST(RelativeAttend, WithoutKeysGivesZeros) {
  const Question<float> asked({1, 1, 0, 2, 1});
  Guarded<float> y(2), scores(0), scratch(ScratchOf(asked.Inputs()));
  y[0] = y[1] = 7;
  RelativeAttend(asked.Inputs(), y.data(), scores.data(), scratch.data());
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 0);
}

}  // namespace
}  // namespace sextant::fast
