#include "reference/number/in_parallel_here.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "reference/base/error.h"
#include "reference/number/evaluation_context.h"

namespace sextant {
namespace {

// The threads that took part in 64 calls that wait for each other a little.
std::set<std::thread::id> ThreadsOf(const std::function<void()>& more = [] {}) {
  std::set<std::thread::id> ids;
  std::mutex mutex;
  InParallelHere(64, [&](size_t) {
    more();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  return ids;
}

TEST(InParallelHere, UsesOneThreadUnlessMoreAreAllowed) {
  EXPECT_EQ(ThreadsOf(), std::set{std::this_thread::get_id()});
  const ScopedThreads inside(3);
  EXPECT_GT(ThreadsOf().size(), 1u);
  const ScopedThreads alone(1);
  EXPECT_EQ(ThreadsOf().size(), 1u);
}

TEST(InParallelHere, LoopsInsideOfItsCallsUseOneThread) {
  const ScopedThreads inside(3);
  InParallelHere(2, [](size_t) { EXPECT_EQ(ThreadsOf().size(), 1u); });
  EXPECT_GT(ThreadsOf().size(), 1u);
}

TEST(InParallelHere, EveryCallHasTheContextOfTheCaller) {
  const Recipe recipe = ParseRecipe("*=f16", DType::kBF16);
  const ScopedRecipe following(recipe, DType::kBF16);
  const ScopedStep at(Step::kGate);
  const ScopedStochasticRounding seed(12);
  const ScopedThreads inside(4);
  std::vector<int> right(100);
  InParallelHere(right.size(), [&](size_t i) {
    right[i] = this_context.rounding_seed == 12u && CurrentRule().format == DType::kF16 &&
               this_context.step == Step::kGate;
  });
  EXPECT_EQ(right, std::vector<int>(100, 1));
  EXPECT_EQ(this_context.step, Step::kGate);
}

TEST(InParallelHere, KeepsWhatItsCallsMarkInTheContext) {
  const Recipe recipe = ParseRecipe("native", DType::kF32);
  const ScopedRecipe following(recipe, DType::kF32);
  const ScopedThreads inside(4);
  const Scoped<&EvaluationContext::uncertain> decisions(false);
  TakeStepsPerformed();
  InParallelHere(10, [](size_t i) {
    const ScopedStep at(i % 2 ? Step::kDot : Step::kGate);
    CurrentRule();
    if (i == 7) this_context.uncertain = true;
  });
  EXPECT_TRUE(this_context.uncertain);
  EXPECT_EQ(TakeStepsPerformed(),
            1u << static_cast<unsigned>(Step::kDot) | 1u << static_cast<unsigned>(Step::kGate));
}

TEST(InParallelHere, RethrowsAndRestoresTheContext) {
  const ScopedThreads inside(2);
  EXPECT_THROW(InParallelHere(4,
                              [](size_t) {
                                this_context.precision = 7;
                                throw Error("here");
                              }),
               Error);
  EXPECT_EQ(this_context.precision, EvaluationContext().precision);
}

}  // namespace
}  // namespace sextant
