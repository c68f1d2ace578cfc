// Activations of NaN and infinities, alone and mixed with other numbers.
#include <algorithm>
#include <cmath>

#include "fast/attention/soft_cap.h"
#include "fast/kernel/kernel_test.h"
#include "fast/layer/activation.h"
#include "fast/layer/gated.h"

namespace sextant::fast {
namespace {

// Counts up to this use vectors of 16 lanes down to one, alone and after other vectors.
constexpr size_t kMost = 66;

// f(infinity) and f(-infinity), as stated in activation-inl.h.
struct Limits {
  double high, low;
};
Limits LimitsOf(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::kSigmoid:
      return {1, 0};
    case ActivationKind::kTanh:
      return {1, -1};
    case ActivationKind::kRelu:
    case ActivationKind::kRelu2:
      return {INFINITY, 0};
    default:  // x times a factor whose limit is 0
      return {INFINITY, NAN};
  }
}
// Expects the same number, or NaN in both.
void ExpectSame(double got, double expected, size_t i) {
  EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
      << "element " << i << " is " << got << ", expected " << expected;
}
// NaN, infinity and -infinity in rotation. Over all n, each of them occurs in every lane.
template <class T>
Guarded<T> Nonfinite(size_t n) {
  const double all[] = {NAN, INFINITY, -INFINITY};
  Guarded<T> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = FromDouble<T>(all[(n + i) % 3]);
  return x;
}

template <class T>
class ActivationLimits : public testing::Test {};
TYPED_TEST_SUITE(ActivationLimits, AllTypes);

TYPED_TEST(ActivationLimits, NaNGivesNaNAndInfinitiesGiveLimits) {
  using T = TypeParam;
  OnAllTargets([] {
    for (size_t n = 0; n <= kMost; ++n) {
      const Guarded<T> x = Nonfinite<T>(n);
      const auto expect = [&](const Guarded<T>& y, const Limits& limits) {
        for (size_t i = 0; i < n; ++i) {
          const double at = ToDouble(x[i]);
          ExpectSame(ToDouble(y[i]), std::isnan(at) ? NAN : at > 0 ? limits.high : limits.low, i);
        }
      };
      Guarded<T> y(n);
      for (const std::string_view kind : NamesOf(ActivationKind())) {
        SCOPED_TRACE(kind);
        ActivationKind value{};
        ParseValue(kind, value);
        Activate(value, 1, x.data(), y.data(), n);
        expect(y, LimitsOf(value));
      }
      ApplySoftCap(30, x.data(), y.data(), n);
      expect(y, {30, -30});
    }
  });
}

TYPED_TEST(ActivationLimits, GatesGiveNaNForNaNAndLimitsForInfinities) {
  using T = TypeParam;
  OnAllTargets([] {
    for (size_t n = 0; n <= kMost; ++n) {
      const Guarded<T> special = Nonfinite<T>(n);
      Guarded<T> twos(n), y(n);
      for (size_t i = 0; i < n; ++i) twos[i] = FromDouble<T>(2);
      for (const std::string_view kind : NamesOf(GateKind())) {
        SCOPED_TRACE(kind);
        GateRows rows{.N = 1, .F = n};
        ParseValue(kind, rows.kind);
        const Limits limits = LimitsOf(ActivationOf(rows.kind));
        Gate(rows, special.data(), twos.data(), y.data());
        for (size_t i = 0; i < n; ++i) {
          const double gate = ToDouble(special[i]);
          const double f = std::isnan(gate) ? NAN : gate > 0 ? limits.high : limits.low;
          ExpectSame(ToDouble(y[i]), 2 * f, i);
        }
        Gate(rows, twos.data(), special.data(), y.data());  // f(2) > 0
        for (size_t i = 0; i < n; ++i) ExpectSame(ToDouble(y[i]), ToDouble(special[i]), i);

        rows.limit = 2;  // infinities become 2 and -2, but the gate has no lower limit
        Guarded<T> of_two(n);
        Gate(rows, twos.data(), twos.data(), of_two.data());
        Gate(rows, twos.data(), special.data(), y.data());
        for (size_t i = 0; i < n; ++i) {
          const double up = ToDouble(special[i]), whole = ToDouble(of_two[i]);
          ExpectSame(ToDouble(y[i]), std::isnan(up) ? NAN : up > 0 ? whole : -whole, i);
        }
        Gate(rows, special.data(), twos.data(), y.data());
        for (size_t i = 0; i < n; ++i) {
          const double gate = ToDouble(special[i]);
          const double whole = gate > 0 ? ToDouble(of_two[i]) : 2 * limits.low;
          ExpectSame(ToDouble(y[i]), std::isnan(gate) ? NAN : whole, i);
        }
      }
    }
  });
}

// The kernel tests several vectors together for very negative elements. One such element among NaN
// must have the same bits as alone.
TYPED_TEST(ActivationLimits, ElementInTheTailAmongNaNHasTheSameBits) {
  using T = TypeParam;
  constexpr size_t kCount = 64;  // 4 vectors of 16
  const double far = std::same_as<T, double> ? -720 : -96;
  OnAllTargets([&] {
    for (size_t at = 0; at < kCount; ++at) {
      Guarded<T> x(kCount), y(kCount), alone(1), y_alone(1);
      for (size_t i = 0; i < kCount; ++i) x[i] = FromDouble<T>(i == at ? far : NAN);
      alone[0] = x[at];
      for (const auto kind : {ActivationKind::kSigmoid, ActivationKind::kSwish}) {
        Activate(kind, 1, x.data(), y.data(), kCount);
        Activate(kind, 1, alone.data(), y_alone.data(), 1);
        EXPECT_EQ(std::memcmp(&y[at], y_alone.data(), sizeof(T)), 0) << "element " << at;
        for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(std::isnan(ToDouble(y[i])), i != at);
      }
    }
  });
}

}  // namespace
}  // namespace sextant::fast
