#include "reference/number/recipe/in_parallel_here.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "reference/base/error.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

// The threads that take part in 64 calls. Each call waits until there are `expected` of them, but
// not forever.
size_t CountThreads(size_t expected) {
  std::set<std::thread::id> ids;
  std::mutex mutex;
  const auto arrived = [&] {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
    return ids.size();
  };
  InParallelHere(64, [&](size_t) {
    for (int i = 0; arrived() < expected && i < 10000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  return ids.size();
}

TEST(InParallelHere, UsesOneThreadUnlessMoreAreAllowed) {
  EXPECT_EQ(CountThreads(1), 1u);
  const ScopedThreads inside(3);
  EXPECT_GE(CountThreads(2), 2u);
  const ScopedThreads alone(1);
  EXPECT_EQ(CountThreads(1), 1u);
}

TEST(InParallelHere, LoopsInsideOfItsCallsUseOneThread) {
  const ScopedThreads inside(3);
  std::vector<int> threads(64);
  InParallelHere(threads.size(), [&](size_t i) { threads[i] = ThreadsHere(); });
  EXPECT_EQ(threads, std::vector<int>(64, 1));
  EXPECT_EQ(ThreadsHere(), 3);
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
