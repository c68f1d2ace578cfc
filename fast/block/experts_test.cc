#include "fast/block/experts.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

template <class T>
class ExpertsKernel : public testing::Test {};
TYPED_TEST_SUITE(ExpertsKernel, AllTypes);

// Each slot is ApplyFeedForward, whose error is tested by itself; here their sum, of every width.
TYPED_TEST(ExpertsKernel, AddsTheFeedForwardLayersOfATokenByTheirWeights) {
  using T = TypeParam;
  using C = Computed<T>;
  OnAllTargets([] {
    constexpr size_t E = 3, K = 2, F = 5;
    for (size_t M = 1; M <= 35; ++M) {
      Random random(M);
      const auto x = random.Fill<T>(M), gate = random.Fill<T>(E * F * M),
                 up = random.Fill<T>(E * F * M), down = random.Fill<T>(E * M * F);
      const auto weights = random.Fill<C>(K);
      const std::vector<int64_t> indices = {2, 0};
      for (const Weighs weigh : {Weighs::kOutput, Weighs::kInput}) {
        Guarded<T> y(M), hidden(K * F);
        ApplyExperts<T>(GateKind::kSwiglu, weigh,
                        {1, K, M, F, x.data(), indices.data(), weights.data(), gate.data(),
                         up.data(), down.data(), y.data(), hidden.data()});
        std::vector<double> total(M), size(M);
        for (size_t k = 0; k < K; ++k) {
          const bool of_input = weigh == Weighs::kInput;
          Guarded<T> row(M), out(M), one_hidden(F), other(F);
          for (size_t m = 0; m < M; ++m)
            row[m] = of_input ? FromDouble<T>(static_cast<C>(ToDouble(x[m])) * weights[k]) : x[m];
          const size_t first = static_cast<size_t>(indices[k]) * F * M;
          ApplyFeedForward<T>(GateKind::kSwiglu,
                              {1, M, F, row.data(), out.data(), one_hidden.data(), other.data()},
                              {gate.data() + first, up.data() + first, down.data() + first});
          for (size_t m = 0; m < M; ++m) {
            const double term = ToDouble(out[m]) * (of_input ? 1 : static_cast<double>(weights[k]));
            total[m] += term;
            size[m] += std::abs(term);
          }
          for (size_t f = 0; f < F; ++f)
            ASSERT_EQ(ToDouble(hidden[k * F + f]), ToDouble(one_hidden[f])) << M;
        }
        for (size_t m = 0; m < M; ++m) {
          double permitted = (K + 1) * kUnit<T> * size[m] * (1 + 0x1p-10);
          if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(total[m]) + permitted);
          ASSERT_LE(std::abs(ToDouble(y[m]) - total[m]), permitted) << m << " of " << M;
        }
      }
    }
  });
}

}  // namespace
}  // namespace sextant::fast
