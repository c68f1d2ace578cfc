#include "fast/attend_rows.h"

#include <cmath>
#include <limits>

#include "fast/kernel_test.h"

namespace sextant::fast {
namespace {

struct Form {
  bool bias = false, sink = false, scale_bias = false;
};

// Everything that a call needs, drawn at random; values so small that scores stay within +-4.
template <class T>
struct Question {
  AttentionAttributes attributes;
  size_t D, E;
  Form form;
  Guarded<T> q, k, v, bias;
  Guarded<Computed<T>> sink;

  Question(int64_t S, int64_t keys, size_t D, size_t E, Form form = {})
      : Question(S, keys, D, E, form, Random(static_cast<uint64_t>(keys) * 1000 + D)) {}
  Question(int64_t S, int64_t keys, size_t width, size_t values, Form of, Random random)
      : D(width),
        E(values),
        form(of),
        q(random.Fill<T>(2 * 2 * Size(S) * D, -1, 1)),
        k(random.Fill<T>(2 * Size(keys) * D, -1, 1)),
        v(random.Fill<T>(2 * Size(keys) * E, -1, 1)),
        bias(random.Fill<T>(2 * 2 * Size(S * keys), -1, 1)),
        sink(random.Fill<Computed<T>>(2, -1, 1)) {
    attributes.B.value = attributes.H.value = 2;  // two heads share one
    attributes.K.value = 1;
    attributes.S.value = S;
    attributes.T.value = keys;
    attributes.scale = 0.5;
  }
  static size_t Size(int64_t n) { return static_cast<size_t>(n); }
  size_t rows() const { return 4 * Size(attributes.S.value); }
  AttendInputs<T> Inputs() const {
    return {&attributes,
            D,
            E,
            q.data(),
            k.data(),
            v.data(),
            form.bias ? bias.data() : nullptr,
            form.sink ? sink.data() : nullptr,
            *attributes.scale,
            form.scale_bias};
  }
};

// The formula in double, and the permitted error: with exponents off by E, which is the error of a
// score of D + 4 roundings and that of an exponential, a mean of T values of size at most 1 is off
// by e^2E - 1, and by T + 6 more roundings of the mean and of the sum.
template <class T>
void ExpectAttended(const Question<T>& asked, const Guarded<T>& y,
                    const Guarded<Computed<T>>& lse) {
  const auto& op = asked.attributes;
  const auto S = Question<T>::Size(op.S.value), count = Question<T>::Size(op.T.value);
  const size_t D = asked.D, E = asked.E;
  const double u = kUnit<T>;
  for (size_t i = 0; i < asked.rows(); ++i) {
    const size_t b = i / (2 * S), h = i / S % 2;
    const KeyRange keys = op.KeysOf(b, i % S);
    if (keys.IsEmpty()) {
      for (size_t e = 0; e < E; ++e) ASSERT_EQ(ToDouble(y[i * E + e]), 0);
      ASSERT_EQ(lse[i], -std::numeric_limits<Computed<T>>::infinity());
      continue;
    }
    double sum = 0, worst = 0;
    std::vector<double> weight, mean(E);
    for (size_t t = keys.first; t < keys.last; ++t) {
      double dot = 0, size = 0;
      for (size_t d = 0; d < D; ++d) {
        const double product =
            ToDouble(asked.q[i * D + d]) * ToDouble(asked.k[(b * count + t) * D + d]);
        dot += product;
        size += std::abs(product);
      }
      const double bias = asked.form.bias ? ToDouble(asked.bias[i * count + t]) : 0;
      double score = asked.form.scale_bias ? (dot + bias) * 0.5 : dot * 0.5;
      if (op.soft_cap) score = *op.soft_cap * std::tanh(score / *op.soft_cap);
      if (!asked.form.scale_bias) score += bias;
      worst = std::max(worst, (size + std::abs(bias)) * (static_cast<double>(D) + 4) * u);
      weight.push_back(std::exp(score));
      sum += weight.back();
      for (size_t e = 0; e < E; ++e) {
        mean[e] += weight.back() * ToDouble(asked.v[(b * count + t) * E + e]);
      }
    }
    const double exponent = worst + 16 * u, terms = static_cast<double>(keys.size());
    ASSERT_NEAR(lse[i], std::log(sum), exponent + (terms + 16) * u + 1e-14);
    if (asked.form.sink) sum += std::exp(static_cast<double>(asked.sink[h]));
    for (size_t e = 0; e < E; ++e) {
      double permitted = std::expm1(2 * exponent) + (terms + 8) * u;
      if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(mean[e] / sum) + permitted);
      ASSERT_NEAR(ToDouble(y[i * E + e]), mean[e] / sum, permitted + 1e-14) << i << " " << e;
    }
  }
}

template <class T>
class AttendRowsTest : public testing::Test {
 public:
  static void Check(const Question<T>& asked) {
    Guarded<T> y(asked.rows() * asked.E);
    Guarded<Computed<T>> lse(asked.rows()), scratch(ScratchOf(asked.Inputs()));
    AttendRows(asked.Inputs(), y.data(), lse.data(), scratch.data());
    ExpectAttended(asked, y, lse);
  }
};
using AllTypes = testing::Types<double, float, F16, BF16>;
TYPED_TEST_SUITE(AttendRowsTest, AllTypes);

TYPED_TEST(AttendRowsTest, IsRightAtEveryWidth) {
  OnAllTargets([] {
    for (size_t n = 1; n <= 33; ++n) {
      TestFixture::Check({2, 3, n, 2});
      TestFixture::Check({2, 3, 2, n});
    }
    TestFixture::Check({1, 2, 129, 130});
  });
}

TYPED_TEST(AttendRowsTest, IsRightForEveryNumberOfKeys) {
  OnAllTargets([] {
    for (int64_t keys = 0; keys <= 33; ++keys) TestFixture::Check({2, keys, 4, 3});
  });
}

TYPED_TEST(AttendRowsTest, IsRightInEveryForm) {
  OnAllTargets([] {
    for (int form = 0; form < 8; ++form) {
      Question<TypeParam> asked(3, 5, 4, 3, {(form & 1) > 0, (form & 2) > 0, (form & 4) > 0});
      TestFixture::Check(asked);
      asked.attributes.soft_cap = 0.5;
      TestFixture::Check(asked);
    }
  });
}

// What a query does not see is not read.
TEST(AttendRows, UnseenKeysMayBeAnything) {
  Question<float> asked(5, 3, 4, 3);  // the first two see nothing
  asked.attributes.mask = Mask::kCausal;
  AttendRowsTest<float>::Check(asked);
  asked.attributes.align = Align::kTopLeft;
  asked.attributes.key_length = {2};
  for (const size_t b : {0, 1}) {
    for (size_t d = 0; d < 4; ++d) asked.k[(b * 3 + 2) * 4 + d] = NAN;
    for (size_t e = 0; e < 3; ++e) asked.v[(b * 3 + 2) * 3 + e] = NAN;
  }
  OnAllTargets([&] { AttendRowsTest<float>::Check(asked); });
}

// Sinks far above and below all scores take all and nothing.
TEST(AttendRows, SinksMayBeFar) {
  Question<float> asked(1, 3, 4, 2, {.sink = true});
  for (const float far : {-1e30f, 1e30f}) {
    asked.sink[0] = asked.sink[1] = far;
    AttendRowsTest<float>::Check(asked);
  }
}

template <class T>
void CheckScores(int64_t keys, size_t D) {
  const Question<T> asked(2, keys, D, 1);
  const auto count = Question<T>::Size(keys);
  Guarded<T> scores(asked.rows() * count);
  Guarded<Computed<T>> scratch(ScratchOf(asked.Inputs()));
  ScoreRows(asked.Inputs(), scores.data(), scratch.data());
  for (size_t i = 0; i < scores.size(); ++i) {
    double dot = 0, size = 0;
    for (size_t d = 0; d < D; ++d) {
      const double product = ToDouble(asked.q[i / count * D + d]) *
                             ToDouble(asked.k[(i / count / 4 * count + i % count) * D + d]);
      dot += product;
      size += std::abs(product);
    }
    double permitted = size * (static_cast<double>(D) + 2) * kUnit<T> + 1e-15;
    if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(dot) + permitted);
    ASSERT_NEAR(ToDouble(scores[i]), dot * 0.5, permitted);
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
