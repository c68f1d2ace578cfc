#include "fast/layer/feed_forward.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

// The layers and the gate have their own tests. This test expects that y and hidden have the same
// bits as three layers and a gate called one after another.
template <class T>
class ApplyFeedForwardTest : public testing::Test {
 public:
  static void Check(GateKind kind, size_t N, size_t M, size_t F, bool biased) {
    Random random(N + M + F);
    const Guarded<T> x = random.Fill<T>(N * M), gate = random.Fill<T>(F * M),
                     up = random.Fill<T>(F * M), down = random.Fill<T>(M * F),
                     gate_bias = random.Fill<T>(F), up_bias = random.Fill<T>(F),
                     down_bias = random.Fill<T>(M);
    Guarded<T> y(N * M), hidden(N * F), other(N * F);
    const auto bias = [biased](const Guarded<T>& b) { return biased ? b.data() : nullptr; };
    ApplyFeedForward<T>(
        kind, {N, M, F, x.data(), y.data(), hidden.data(), other.data()},
        {gate.data(), up.data(), down.data(), bias(gate_bias), bias(up_bias), bias(down_bias)});

    Guarded<T> a(N * F), b(N * F), c(N * F), expected(N * M);
    ApplyLinear<T>({N, F, M}, x.data(), gate.data(), bias(gate_bias), a.data());
    ApplyLinear<T>({N, F, M}, x.data(), up.data(), bias(up_bias), b.data());
    const auto row = static_cast<ptrdiff_t>(F);
    Gate<T>({.N = N, .F = F, .gate_row = row, .up_row = row, .y_row = row, .kind = kind}, a.data(),
            b.data(), c.data());
    ApplyLinear<T>({N, M, F}, c.data(), down.data(), bias(down_bias), expected.data());
    EXPECT_TRUE(hidden.SameBits(c));
    EXPECT_TRUE(y.SameBits(expected));
  }
};
TYPED_TEST_SUITE(ApplyFeedForwardTest, AllTypes);

TYPED_TEST(ApplyFeedForwardTest, IsThreeLayersAndAGate) {
  OnAllTargets([] {
    for (const GateKind kind : {GateKind::kSwiglu, GateKind::kGlu, GateKind::kReglu}) {
      TestFixture::Check(kind, 3, 5, 7, false);
      TestFixture::Check(kind, 2, 33, 50, true);
    }
  });
}

}  // namespace
}  // namespace sextant::fast
