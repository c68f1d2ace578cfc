#include "fast/block/router.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

// What the kernel does, one number after the other, with scores in f64: logits are so far apart
// that no rounding exchanges two.
template <class T>
void ExpectRoute(Router op, const std::vector<double>& logits, const std::vector<double>& bias) {
  using C = Computed<T>;
  const size_t E = logits.size(), K = static_cast<size_t>(op.K.value);
  op.E.value = static_cast<int64_t>(E);
  Guarded<T> x(E);
  Guarded<C> b(bias.size()), weights(K);
  Guarded<int64_t> indices(K);
  for (size_t e = 0; e < E; ++e) x[e] = FromDouble<T>(logits[e]);
  for (size_t e = 0; e < bias.size(); ++e) b[e] = static_cast<C>(bias[e]);
  RouterScratch<T> scratch(E);
  RouteRow(op, x.data(), bias.empty() ? nullptr : b.data(), indices.data(), weights.data(),
           scratch);

  std::vector<double> scores(E), by(E);
  double total = 0;
  for (size_t e = 0; e < E; ++e) {
    const double logit = ToDouble(x[e]);
    scores[e] = op.score == RouterScore::kSoftmax ? std::exp(logit) : 1 / (1 + std::exp(-logit));
    total += scores[e];
  }
  for (size_t e = 0; e < E; ++e) {
    if (op.score == RouterScore::kSoftmax) scores[e] /= total;
    by[e] = scores[e] + (bias.empty() ? 0 : static_cast<double>(b[e]));
  }
  const size_t groups = op.GroupCount(), size = E / groups;
  std::vector<double> numbers(groups);
  for (size_t g = 0; g < groups; ++g) {
    std::vector<double> members(&by[g * size], &by[g * size] + size);
    std::ranges::sort(members, std::greater());
    numbers[g] = std::accumulate(members.begin(),
                                 members.begin() + static_cast<ptrdiff_t>(op.BestOfGroup()), 0.0);
  }
  std::vector<size_t> order(E);
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t e) {
    return static_cast<size_t>(std::ranges::count_if(numbers, [&](double other) {
             return other > numbers[e / size];
           })) >= op.ChosenGroups();
  });
  std::ranges::stable_sort(order, std::greater(), [&](size_t e) { return by[e]; });
  double sum = 0;
  for (size_t k = 0; k < K; ++k) sum += scores[order[k]];
  for (size_t k = 0; k < K; ++k) {
    ASSERT_EQ(indices[k], static_cast<int64_t>(order[k])) << "slot " << k << " of " << E;
    const double expected = scores[order[k]] / sum * op.scale;
    ASSERT_NEAR(weights[k], expected, expected * 0x1p-19) << "slot " << k << " of " << E;
  }
}

// Different integers and half integers from -8 to 8, in a random order.
std::vector<double> Logits(size_t E, uint64_t seed) {
  std::vector<double> logits(E);
  std::iota(logits.begin(), logits.end(), 0.0);
  Random random(seed);
  for (size_t i = E; i > 1; --i)
    std::swap(logits[i - 1],
              logits[static_cast<size_t>(random.Uniform(0, static_cast<double>(i)))]);
  for (double& logit : logits) logit = 8 - logit / 2;
  return logits;
}

template <class T>
class RouterKernel : public testing::Test {};
TYPED_TEST_SUITE(RouterKernel, AllTypes);

TYPED_TEST(RouterKernel, EveryNumberOfExpertsAroundTheVectors) {
  OnAllTargets([] {
    for (size_t E = 1; E <= 40; ++E) {
      for (const RouterScore score : {RouterScore::kSoftmax, RouterScore::kSigmoid}) {
        Router op;
        op.score = score;
        op.K.value = static_cast<int64_t>(std::min<size_t>(E, 1 + E % 5));
        op.scale = 2.5;
        ExpectRoute<TypeParam>(op, Logits(E, E), {});
      }
    }
  });
}

TYPED_TEST(RouterKernel, GroupsAndBiases) {
  OnAllTargets([] {
    for (uint64_t seed = 1; seed < 40; ++seed) {
      std::vector<double> bias = Logits(32, seed + 100);
      for (double& b : bias) b /= 4;
      Router op;
      op.score = RouterScore::kSigmoid;
      op.K.value = 4;
      op.groups = Top2Groups{{4, 2}};
      ExpectRoute<TypeParam>(op, Logits(32, seed), bias);
      op.groups = MaxGroups{{8, 3}};
      ExpectRoute<TypeParam>(op, Logits(32, seed), bias);
    }
  });
}

}  // namespace
}  // namespace sextant::fast
