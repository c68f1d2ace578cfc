#include "fast/layer/activation.h"

#include <algorithm>
#include <cmath>

#include "fast/attention/soft_cap.h"
#include "fast/kernel/kernel_test.h"
#include "fast/layer/gated.h"
#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant::fast {
namespace {

template <class T>
std::string Named() {
  return std::string(NameOf(kDType<T>));
}

// Expects y within the permitted error of the case `line` with these inputs.
template <class T>
void ExpectPermitted(const std::string& line, const std::vector<const Guarded<T>*>& inputs,
                     const Guarded<T>& y) {
  const Case c = Case::Parse(line + " dtype=" + Named<T>());
  Tensors tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec& spec = c.signature().inputs[i];
    NamedTensor tensor{spec.name, kDType<T>, Tensor<double>(c.ShapeOf(spec))};
    for (size_t k = 0; k < inputs[i]->size(); ++k)
      tensor.values.data[k] = ToDouble((*inputs[i])[k]);
    tensors.push_back(std::move(tensor));
  }
  const GoldenTensor golden = Prove({c, tensors, ParseRecipe("exact_table", c.dtype())})[0];
  for (size_t i = 0; i < y.size(); ++i) {
    const double exact = golden.high.data[i], got = ToDouble(y[i]);
    const double error = std::abs(got - exact - golden.low.data[i]);  // got is near high: exact
    ASSERT_TRUE(got == golden.value.data[i] || error <= golden.permitted.data[i])
        << line << ": element " << i << " is " << got << ", expected " << exact << " +- "
        << golden.permitted.data[i];
  }
}

template <class T>
class ActivationTest : public testing::Test {};
TYPED_TEST_SUITE(ActivationTest, AllTypes);

// Vectors of 16 lanes down to one, alone and after other vectors.
constexpr size_t kCounts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 64, 65, 66};

TYPED_TEST(ActivationTest, ErrorIsPermittedForEveryKindAndWidth) {
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
        ExpectPermitted<T>(line, {&x}, InPlaceToo(x, [&](const T* from, T* to) {
                             Activate(value, beta, from, to, n);
                           }));
      });
    }
  }
}

TYPED_TEST(ActivationTest, SoftCapErrorIsPermittedAtEveryWidth) {
  using T = TypeParam;
  Random random;
  for (const size_t n : kCounts) {
    const Guarded<T> x = random.Fill<T>(n, -100, 100);
    OnAllTargets([&] {
      ExpectPermitted<T>(
          "soft_cap cap=30 N=1 M=" + std::to_string(n), {&x},
          InPlaceToo(x, [&](const T* from, T* to) { ApplySoftCap(30, from, to, n); }));
    });
  }
}

// All kinds, with and without limits.
TYPED_TEST(ActivationTest, GateErrorIsPermittedAtEveryWidth) {
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

TYPED_TEST(ActivationTest, GateUsesTheGivenStrides) {
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

// Vectors with elements below -87 (f64: -708) use other code.
TYPED_TEST(ActivationTest, TailsAreAccurate) {
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

TYPED_TEST(ActivationTest, EmptyInputsAreNotAccessed) {
  OnAllTargets([] {
    TypeParam* const nowhere = nullptr;
    for (const std::string_view kind : NamesOf(ActivationKind())) {
      ActivationKind value{};
      ParseValue(kind, value);
      Activate(value, 1, nowhere, nowhere, 0);
    }
    ApplySoftCap(30, nowhere, nowhere, 0);
    Gate({.N = 0, .F = 5}, nowhere, nowhere, nowhere);
    Gate({.N = 5, .F = 0}, nowhere, nowhere, nowhere);
  });
}

// Large enough for streaming stores.
template <class T>
class SlowActivation : public testing::Test {};
TYPED_TEST_SUITE(SlowActivation, StreamedTypes);

TYPED_TEST(SlowActivation, GivesTheSameBitsWhenStreaming) {
  using T = TypeParam;
  Random random;
  const GateRows rows{
      .N = 3600 / sizeof(T), .F = 10001, .gate_row = 10001, .up_row = 10001, .y_row = 10001};
  const auto gate = random.Fill<T>(rows.N * rows.F), up = random.Fill<T>(gate.size());
  InPlaceToo(gate, [&](const T* x, T* y) { Gate(rows, x, up.data(), y); });
  InPlaceToo(up, [&](const T* x, T* y) { Activate(ActivationKind::kSwish, 1, x, y, up.size()); });
}

}  // namespace
}  // namespace sextant::fast
