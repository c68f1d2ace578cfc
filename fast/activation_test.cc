#include "fast/activation.h"

#include <algorithm>
#include <cmath>

#include "fast/kernel_test.h"
#include "reference/case.h"
#include "reference/prove.h"

namespace sextant::fast {
namespace {

template <class T>
std::string Named() {
  return std::string(NameOf(kDType<T>));
}

// The answers to a case whose inputs are `inputs`, of N rows.
template <class T>
void ExpectPermitted(const std::string& line, const std::vector<const Guarded<T>*>& inputs,
                     const Guarded<T>& y) {
  const Case c = Case::Parse(line + " dtype=" + Named<T>());
  Tensors tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec& spec = c.info().signature.inputs[i];
    NamedTensor tensor{spec.name, kDType<T>, Tensor<double>(c.ShapeOf(spec))};
    for (size_t k = 0; k < inputs[i]->size(); ++k)
      tensor.values.data[k] = ToDouble((*inputs[i])[k]);
    tensors.push_back(std::move(tensor));
  }
  const GoldenTensor golden = Prove(c, tensors, ParseRecipe("exact_table", c.dtype()))[0];
  for (size_t i = 0; i < y.size(); ++i) {
    const double exact = golden.high.data[i], got = ToDouble(y[i]);
    ASSERT_TRUE(got == golden.value.data[i] || std::abs(got - exact) <= golden.permitted.data[i])
        << line << ": element " << i << " is " << got << ", expected " << exact << " +- "
        << golden.permitted.data[i];
  }
}

template <class T>
class ActivationTest : public testing::Test {};
using AllTypes = testing::Types<double, float, F16, BF16>;
TYPED_TEST_SUITE(ActivationTest, AllTypes);

// Each vector from 16 lanes to one, alone and behind others.
constexpr size_t kCounts[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 24, 33, 66};

TYPED_TEST(ActivationTest, EveryKindAtEveryWidth) {
  using T = TypeParam;
  Random random;
  for (const std::string_view kind : NamesOf(ActivationKind())) {
    const double beta = kind == "swish" ? 1.702 : 1;
    ActivationKind value{};
    ParseValue(kind, value);
    for (const size_t n : kCounts) {
      const Guarded<T> x = random.Fill<T>(n, -12, 12);
      std::string line = "activation kind=";
      line += kind;
      line += " beta=" + PrintValue(beta) + " N=1 F=" + std::to_string(n);
      OnAllTargets([&] {
        Guarded<T> y(n), in_place = x;
        Activate(value, beta, x.data(), y.data(), n);
        Activate(value, beta, in_place.data(), in_place.data(), n);
        EXPECT_TRUE(in_place.SameBits(y));
        ExpectPermitted<T>(line, {&x}, y);
      });
    }
  }
}

TYPED_TEST(ActivationTest, SoftCapsAtEveryWidth) {
  using T = TypeParam;
  Random random;
  for (const size_t n : kCounts) {
    const Guarded<T> x = random.Fill<T>(n, -100, 100);
    OnAllTargets([&] {
      Guarded<T> y(n), in_place = x;
      CapSoftly(30, x.data(), y.data(), n);
      CapSoftly(30, in_place.data(), in_place.data(), n);
      EXPECT_TRUE(in_place.SameBits(y));
      ExpectPermitted<T>("soft_cap cap=30 N=1 M=" + std::to_string(n), {&x}, y);
    });
  }
}

// Rows with gaps between them, all kinds, with and without limits.
TYPED_TEST(ActivationTest, GatesRowsOfEveryWidth) {
  using T = TypeParam;
  Random random;
  for (const std::string_view kind : NamesOf(GateKind())) {
    for (const bool limited : {false, true}) {
      GateRows rows;
      ParseValue(kind, rows.kind);
      std::string words = "gated kind=";
      words += kind;
      if (limited) {
        rows.limit = 2.5;
        rows.plus_one = true;
        words += " limit=2.5 plus_one=true";
      }
      for (const size_t n : kCounts) {
        const Guarded<T> gate = random.Fill<T>(n, -9, 9), up = random.Fill<T>(n, -9, 9);
        OnAllTargets([&] {
          Guarded<T> y(n);
          rows.N = 1;
          rows.F = n;
          Gate(rows, gate.data(), up.data(), y.data());
          ExpectPermitted<T>(words + " N=1 F=" + std::to_string(n), {&gate, &up}, y);
        });
      }
    }
  }
}

TYPED_TEST(ActivationTest, GatesFollowStrides) {
  using T = TypeParam;
  Random random;
  const Guarded<T> fused = random.Fill<T>(3 * 10);  // rows of 5 gates and 5 ups
  const GateRows rows{.N = 3, .F = 5, .gate_row = 10, .up_row = 10, .y_row = 7};
  OnAllTargets([&] {
    Guarded<T> y(2 * 7 + 5);
    const Guarded<T> untouched = y;
    Gate(rows, fused.data(), fused.data() + 5, y.data());
    for (size_t n = 0; n < 3; ++n) {
      Guarded<T> alone(5);
      Gate({.N = 1, .F = 5}, fused.data() + 10 * n, fused.data() + 10 * n + 5, alone.data());
      EXPECT_EQ(std::memcmp(&y[7 * n], alone.data(), 5 * sizeof(T)), 0);
    }
    for (const size_t gap : {5, 6, 12, 13})
      EXPECT_EQ(std::memcmp(&y[gap], &untouched[gap], sizeof(T)), 0);
  });
}

// Below -87 (f64: -708) vectors are computed another way.
TYPED_TEST(ActivationTest, TailsKeepTheirDigits) {
  using T = TypeParam;
  Random random;
  const double far = std::same_as<T, double> ? 745 : 103;
  const Guarded<T> x = random.Fill<T>(70, -far, std::same_as<T, F16> ? 0 : far);
  const Guarded<T> up = random.Fill<T>(70);
  OnAllTargets([&] {
    for (const char* kind : {"sigmoid", "swish", "gelu_tanh"}) {
      ActivationKind value{};
      ParseValue(kind, value);
      Guarded<T> y(70);
      Activate(value, 1, x.data(), y.data(), 70);
      ExpectPermitted<T>(std::string("activation N=1 F=70 kind=") + kind, {&x}, y);
    }
    for (const GateKind kind : {GateKind::kSwiglu, GateKind::kGlu}) {
      Guarded<T> y(70);
      Gate({.N = 1, .F = 70, .kind = kind}, x.data(), up.data(), y.data());
      std::string line = "gated N=1 F=70 kind=";
      line += NamesOf(kind)[static_cast<size_t>(kind)];
      ExpectPermitted<T>(line, {&x, &up}, y);
    }
  });
}

// Vectors are tested together, which NaN must not disturb: one far element among NaN has the bits
// that it has alone.
TYPED_TEST(ActivationTest, NaNHidesNoTail) {
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

// What f gives at +infinity and at -infinity, by the comment of activation-inl.h.
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
    default:  // x times what falls to 0
      return {INFINITY, NAN};
  }
}
// The same number, or NaN both.
void ExpectSame(double got, double expected, size_t i) {
  EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
      << "element " << i << " is " << got << ", expected " << expected;
}
// NaN, +infinity, -infinity and so on: each of them in every lane as n grows.
template <class T>
Guarded<T> Nonfinite(size_t n) {
  const double all[] = {NAN, INFINITY, -INFINITY};
  Guarded<T> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = FromDouble<T>(all[(n + i) % 3]);
  return x;
}

TYPED_TEST(ActivationTest, NaNStaysAndInfinitiesGiveLimits) {
  using T = TypeParam;
  OnAllTargets([] {
    for (const size_t n : kCounts) {
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
      CapSoftly(30, x.data(), y.data(), n);
      expect(y, {30, -30});
    }
  });
}

TYPED_TEST(ActivationTest, GatesKeepNaNAndGiveLimits) {
  using T = TypeParam;
  OnAllTargets([] {
    for (const size_t n : kCounts) {
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

        rows.limit = 2;  // infinities become 2 and -2, but a gate has no limit below
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

TYPED_TEST(ActivationTest, OfNoRowsNothingIsReadOrWritten) {
  OnAllTargets([] {
    TypeParam* const nowhere = nullptr;
    for (const std::string_view kind : NamesOf(ActivationKind())) {
      ActivationKind value{};
      ParseValue(kind, value);
      Activate(value, 1, nowhere, nowhere, 0);
    }
    CapSoftly(30, nowhere, nowhere, 0);
    Gate({.N = 0, .F = 5}, nowhere, nowhere, nowhere);
    Gate({.N = 5, .F = 0}, nowhere, nowhere, nowhere);
  });
}

// Large enough to bypass the caches.
template <class T>
class SlowActivation : public testing::Test {};
using StreamedTypes = testing::Types<float, BF16>;
TYPED_TEST_SUITE(SlowActivation, StreamedTypes);

TYPED_TEST(SlowActivation, GivesTheSameBitsWhenStreaming) {
  using T = TypeParam;
  Random random;
  const GateRows rows{
      .N = 3600 / sizeof(T), .F = 10001, .gate_row = 10001, .up_row = 10001, .y_row = 10001};
  Guarded<T> gate = random.Fill<T>(rows.N * rows.F), up = random.Fill<T>(gate.size());
  Guarded<T> y(gate.size());
  Gate(rows, gate.data(), up.data(), y.data());
  Gate(rows, gate.data(), up.data(), gate.data());
  EXPECT_TRUE(gate.SameBits(y));
  Activate(ActivationKind::kSwish, 1, up.data(), y.data(), up.size());
  Activate(ActivationKind::kSwish, 1, up.data(), up.data(), up.size());
  EXPECT_TRUE(up.SameBits(y));
}

}  // namespace
}  // namespace sextant::fast
