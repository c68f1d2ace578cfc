// Helpers for tests of attention kernels: random arguments, and reference values with error bounds.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "fast/attention/attention_tiles.h"
#include "fast/kernel/kernel_test.h"

namespace sextant::fast {

inline constexpr std::optional<AddBias> kPlacesOfBias[] = {std::nullopt, AddBias::kBeforeCap,
                                                           AddBias::kBeforeScale};

// Random arguments of a call. Their magnitude keeps scores within about +-10.
template <class T>
struct AttendArguments {
  AttentionAttributes op;
  size_t D = 4, E = 3;
  bool has_bias = false, has_sink = false;
  std::optional<AddBias> add_bias{};
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
            .add_bias = add_bias};
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

// S queries and T_ keys with every kind of mask; two query heads share one key head.
template <class T>
std::vector<AttendArguments<T>> Masked(int64_t B, int64_t S, int64_t T_) {
  using Numbers = IntegerList;
  std::vector<AttendArguments<T>> all;
  const auto add = [&](auto change) {
    AttendArguments<T> args{.op = Extents(B, 2, 1, S, T_)};
    change(args.op);
    all.push_back(args);
    args.op.mask = Mask::kCausal;
    all.push_back(args);
    args.op.align = Align::kTopLeft;
    all.push_back(args);
    args.op.align.reset();
    args.op.query_offset = Numbers{T_ / 4, T_ + 3};
    all.push_back(args);
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

// The reference values of one query by the formula in long double, and the permitted error:
//   score   (D + 12) u times the sum of the sizes of the terms: D fused operations, scaling, cap,
//           bias. The difference to the largest score is rounded.
//   weight  e^E - 1 relative. A weight is multiplied by at most one exponential per tile, for the
//           changes of the running maximum. Each has an error of 2 u plus u times its exponent;
//           these exponents add up to at most the range of the scores.
//   result  T + 2 tiles + 6 more roundings for sums of T weighted values, and the same for the
//           divisor.
// With a large sink weights are subnormal. Then a weight and its factor each have an error of up to
// the smallest positive number.
template <class T>
class AttendReference {
 public:
  AttendReference(const AttendArguments<T>& args, size_t i)
      : args_(args), mean_(args.E), size_(args.E) {
    const size_t s = i % args.S(), h = i / args.S() % args.H(), b = i / args.S() / args.H();
    const KeyRange keys = args.op.KeysOf(b, s);
    std::vector<long double> scores;
    head_ = (b * args.K() + args.op.KeyHeadOf(h)) * args.keys();
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
    if (args.has_sink) total += std::exp(static_cast<long double>(args.sink[h]) - most);
    for (size_t j = 0; j < scores.size(); ++j) {
      const long double p = std::exp(scores[j] - most) / total;
      for (size_t e = 0; e < args.E; ++e) {
        const double value = ToDouble(args.v[(head_ + keys.first + j) * args.E + e]);
        mean_[e] += p * value;
        size_[e] += p * std::abs(value);
      }
    }
    const double u = kUnit<T>, n = static_cast<double>(scores.size());
    const double tiles = 2 + n / static_cast<double>(kTileKeys);
    auto range = static_cast<double>(most - least);
    if (args.has_sink) {  // a sink far below the scores adds little to the sum
      const double above = args.sink[h] - static_cast<double>(most);
      range += std::abs(above) * std::exp(std::min(above, 0.0));
    }
    error_ = 2 * worst + 2 * u * range + (n + 4 * tiles + 10) * u;
    of_underflow_ = 2 * n * std::numeric_limits<Computed<T>>::denorm_min();  // values are <= 1
  }

  void Expect(const T* y, Computed<T> lse) const {
    if (lse_ == -INFINITY) {
      EXPECT_EQ(static_cast<double>(lse), -INFINITY);
    } else {
      ASSERT_NEAR(lse, lse_, error_ + 4 * kUnit<T> * (1 + std::abs(lse_)));
    }
    for (size_t e = 0; e < args_.E; ++e) {
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
    for (size_t d = 0; d < args_.D; ++d) {
      const double product =
          ToDouble(args_.q[i * args_.D + d]) * ToDouble(args_.k[(head_ + t) * args_.D + d]);
      dot += static_cast<long double>(ToDouble(args_.q[i * args_.D + d])) *
             ToDouble(args_.k[(head_ + t) * args_.D + d]);
      size += std::abs(product);
    }
    const double added = args_.has_bias ? ToDouble(args_.bias[i * args_.keys() + t]) : 0;
    const auto added_at = [&](std::optional<AddBias> where) {
      return args_.add_bias == where ? added : 0;
    };
    long double score = (dot + added_at(AddBias::kBeforeScale)) * args_.scale;
    score += added_at(AddBias::kBeforeCap);
    if (const auto cap = args_.op.soft_cap) score = *cap * std::tanh(score / *cap);
    score += added_at(std::nullopt);
    size = (size + std::abs(added)) * std::max(args_.scale, 1.0);
    return {score, size * (static_cast<double>(args_.D) + 12) * kUnit<T>};
  }

  const AttendArguments<T>& args_;
  size_t head_ = 0;  // index of the first key of the head
  std::vector<long double> mean_, size_;
  double lse_ = -INFINITY, error_ = 0, of_underflow_ = 0;
};

}  // namespace sextant::fast
