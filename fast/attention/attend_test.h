// What tests of attention kernels share: questions, and answers with the error that is permitted.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "fast/attention/attention_tiles.h"
#include "fast/kernel/kernel_test.h"

namespace sextant::fast {

// What a call needs, drawn at random; values so small that scores stay within about +-10.
template <class T>
struct AttendQuestion {
  AttentionAttributes op;
  size_t D = 4, E = 3;
  bool has_bias = false, has_sink = false, scale_bias = false;
  double scale = 0.5;
  Guarded<T> q{0}, k{0}, v{0}, bias{0};
  Guarded<Computed<T>> sink{0};

  size_t B() const { return static_cast<size_t>(op.B.value); }
  size_t H() const { return static_cast<size_t>(op.H.value); }
  size_t K() const { return static_cast<size_t>(op.K.value); }
  size_t S() const { return static_cast<size_t>(op.S.value); }
  size_t keys() const { return static_cast<size_t>(op.T.value); }
  size_t rows() const { return B() * H() * S(); }

  void Draw() {
    op.Check();
    Random random(static_cast<uint64_t>(op.S.value * 1000 + op.T.value) + D * 7 + E);
    q = random.Fill<T>(rows() * D, -1, 1);
    k = random.Fill<T>(B() * K() * keys() * D, -1, 1);
    v = random.Fill<T>(B() * K() * keys() * E, -1, 1);
    if (has_bias) bias = random.Fill<T>(rows() * keys(), -3, 3);
    if (has_sink) sink = random.Fill<Computed<T>>(H(), -3, 3);
  }
  AttendInputs<T> Inputs() const {
    return {.attributes = &op,
            .D = D,
            .E = E,
            .q = q.data(),
            .k = k.data(),
            .v = v.data(),
            .bias = has_bias ? bias.data() : nullptr,
            .sink = has_sink ? sink.data() : nullptr,
            .scale = scale,
            .scale_bias = scale_bias};
  }
};

inline AttentionAttributes Extents(int64_t B, int64_t H, int64_t K, int64_t S, int64_t T) {
  AttentionAttributes op;
  op.B.value = B;
  op.H.value = H;
  op.K.value = K;
  op.S.value = S;
  op.T.value = T;
  return op;
}

// S queries and T_ keys under every kind of mask; two heads share one.
template <class T>
std::vector<AttendQuestion<T>> Masked(int64_t B, int64_t S, int64_t T_) {
  using Numbers = IntegerList;
  std::vector<AttendQuestion<T>> all;
  const auto add = [&](auto change) {
    AttendQuestion<T> asked{.op = Extents(B, 2, 1, S, T_)};
    change(asked.op);
    all.push_back(asked);
    asked.op.mask = Mask::kCausal;
    all.push_back(asked);
    asked.op.align = Align::kTopLeft;
    all.push_back(asked);
  };
  add([](auto&) {});
  add([](auto& op) { op.window = Numbers{3, 0}; });
  add([](auto& op) { op.window = Numbers{0, 2}; });
  add([](auto& op) { op.window = Numbers{60, -1}; });
  add([](auto& op) { op.window = Numbers{-1, 70}; });
  add([](auto& op) { op.chunk = 5; });
  add([&](auto& op) { op.segments = Numbers{T_ / 3, T_ / 4}; });
  add([&](auto& op) { op.key_length = Numbers{T_ / 2 + 1}; });
  add([&](auto& op) {
    op.key_length = Numbers{T_ / 2, T_};
    op.window = Numbers{T_ / 3, 1};
    op.chunk = 1 + T_ / 2;
    op.segments = Numbers{T_ / 2};
  });
  return all;
}

// One query's answer by the formula in long double, and how far off a kernel may be.
//
// A score of D fused operations, scaled, capped and biased, is off by (D + 12) u of the size of its
// terms. Its difference to the largest is rounded; between the first and the last running maximum
// a weight is multiplied by at most one exponential per tile, each off by 2 u and by u times its
// exponent, which together are at most the range of the scores. So weights have a relative error
// of e^E - 1 and sums of T of them with values T + 2 tiles + 6 roundings more; the sum that divides
// has the same again. Under a far sink weights are subnormal: each of them, and what they are
// multiplied by, is off by up to the least number.
template <class T>
class AttendAnswer {
 public:
  AttendAnswer(const AttendQuestion<T>& asked, size_t i)
      : asked_(asked), mean_(asked.E), size_(asked.E) {
    const size_t s = i % asked.S(), h = i / asked.S() % asked.H(), b = i / asked.S() / asked.H();
    const KeyRange keys = asked.op.KeysOf(b, s);
    std::vector<long double> scores;
    head_ = (b * asked.K() + asked.op.KeyHeadOf(h)) * asked.keys();
    long double most = -INFINITY, least = INFINITY;
    double worst = 0;
    for (size_t t = keys.first; t < keys.last; ++t) {
      const auto [score, error] = Score(i, t);
      scores.push_back(score);
      most = std::max(most, score);
      least = std::min(least, score);
      worst = std::max(worst, error);
    }
    if (scores.empty()) return;
    long double total = 0;
    for (const long double score : scores) total += std::exp(score - most);
    lse_ = static_cast<double>(most + std::log(total));
    if (asked.has_sink) total += std::exp(static_cast<long double>(asked.sink[h]) - most);
    for (size_t j = 0; j < scores.size(); ++j) {
      const long double p = std::exp(scores[j] - most) / total;
      for (size_t e = 0; e < asked.E; ++e) {
        const double value = ToDouble(asked.v[(head_ + keys.first + j) * asked.E + e]);
        mean_[e] += p * value;
        size_[e] += p * std::abs(value);
      }
    }
    const double u = kUnit<T>, n = static_cast<double>(scores.size());
    const double tiles = 2 + n / static_cast<double>(kTileKeys);
    auto range = static_cast<double>(most - least);
    if (asked.has_sink) {  // a sink far below is a term of the sum that hardly counts
      const double above = asked.sink[h] - static_cast<double>(most);
      range += std::abs(above) * std::exp(std::min(above, 0.0));
    }
    error_ = 2 * worst + 2 * u * range + (n + 4 * tiles + 10) * u;
    of_underflow_ = 2 * n * std::numeric_limits<Computed<T>>::denorm_min();  // of values up to 1
  }

  void Expect(const T* y, Computed<T> lse) const {
    if (lse_ == -INFINITY) {
      EXPECT_EQ(static_cast<double>(lse), -INFINITY);
    } else {
      ASSERT_NEAR(lse, lse_, error_ + 4 * kUnit<T> * (1 + std::abs(lse_)));
    }
    for (size_t e = 0; e < asked_.E; ++e) {
      const auto exact = static_cast<double>(mean_[e]);
      const auto size = static_cast<double>(size_[e]);
      double permitted = (size > 0 ? size * std::expm1(2 * error_) : 0) + of_underflow_;
      if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(exact) + permitted);
      ASSERT_NEAR(ToDouble(y[e]), exact, permitted) << "channel " << e;
    }
  }

 private:
  struct ScoreAndError {
    long double score;
    double error;
  };
  ScoreAndError Score(size_t i, size_t t) const {
    long double dot = 0;
    double size = 0;
    for (size_t d = 0; d < asked_.D; ++d) {
      const double product =
          ToDouble(asked_.q[i * asked_.D + d]) * ToDouble(asked_.k[(head_ + t) * asked_.D + d]);
      dot += static_cast<long double>(ToDouble(asked_.q[i * asked_.D + d])) *
             ToDouble(asked_.k[(head_ + t) * asked_.D + d]);
      size += std::abs(product);
    }
    const double added = asked_.has_bias ? ToDouble(asked_.bias[i * asked_.keys() + t]) : 0;
    long double score = asked_.scale_bias ? (dot + added) * asked_.scale : dot * asked_.scale;
    if (const auto cap = asked_.op.soft_cap) score = *cap * std::tanh(score / *cap);
    if (!asked_.scale_bias) score += added;
    size = (size + std::abs(added)) * std::max(asked_.scale, 1.0);
    return {score, size * (static_cast<double>(asked_.D) + 12) * kUnit<T>};
  }

  const AttendQuestion<T>& asked_;
  size_t head_ = 0;  // the first of its keys
  std::vector<long double> mean_, size_;
  double lse_ = -INFINITY, error_ = 0, of_underflow_ = 0;
};

}  // namespace sextant::fast
