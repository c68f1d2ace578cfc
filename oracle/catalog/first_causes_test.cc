#include "oracle/catalog/first_causes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "reference/prove/budget.h"

namespace sextant::oracle {
namespace {

std::vector<Cause> Named(size_t i) { return {{std::to_string(i), "", true}}; }

// The second question answers last.
TEST(FirstCauses, AreThoseOfTheFirstQuestionThatHasSome) {
  for (const int threads : {1, 4}) {
    const auto causes = FirstCauses(8, {.threads = threads}, [](size_t i, const ProveOptions&) {
      if (i == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return i % 2 == 1 ? Named(i) : std::vector<Cause>();
    });
    ASSERT_EQ(causes.size(), 1u);
    EXPECT_EQ(causes[0].name, "1");
  }
}

TEST(FirstCauses, AreNoneIfNoQuestionHasSome) {
  const auto none = [](size_t, const ProveOptions&) { return std::vector<Cause>(); };
  EXPECT_TRUE(FirstCauses(5, {.threads = 2}, none).empty());
  EXPECT_TRUE(FirstCauses(0, {.threads = 2}, none).empty());
}

TEST(FirstCauses, AsksNothingAfterTheFirstOnOneThread) {
  size_t asked = 0;
  FirstCauses(5, {.threads = 1}, [&](size_t i, const ProveOptions&) {
    ++asked;
    return Named(i);
  });
  EXPECT_EQ(asked, 1u);
}

// Each question is one of a thread, in the budget of the caller, whose progress is reported by one
// thread at a time.
TEST(FirstCauses, AreFoundAsTheCallerWould) {
  const ScopedBudget within(Budget{.elements = 17});
  int inside = 0, most = 0;
  ProveOptions options{.threads = 4, .progress = [&](double) {
                         most = std::max(most, ++inside);
                         std::this_thread::sleep_for(std::chrono::milliseconds(2));
                         --inside;
                       }};
  std::atomic<int> in_budget = 0;
  FirstCauses(8, options, [&](size_t, const ProveOptions& here) {
    in_budget += CurrentBudget().elements == 17 && here.threads == 1;
    here.progress(1);
    return std::vector<Cause>();
  });
  EXPECT_EQ(in_budget, 8);
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace sextant::oracle
