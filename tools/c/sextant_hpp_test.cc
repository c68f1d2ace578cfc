#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tools/c/sextant.hpp"

namespace sextant::cpp {
namespace {

using testing::HasSubstr;

// softmax of [0, 1]: right, or with one wrong element.
struct Softmax {
  explicit Softmax(float wrong = 0)
      : y{static_cast<float>(1 / (1 + std::exp(1.0))),
          static_cast<float>(1 / (1 + std::exp(-1.0))) + wrong} {}
  NamedTensors All() const { return {{"x", x.data(), {1, 2}}, {"y", y.data(), {1, 2}}}; }
  std::vector<float> x = {0, 1}, y;
};

TEST(CppLibrary, Judges) {
  const Softmax right, wrong(0.5F);
  EXPECT_EQ(Judge("softmax", right.All()).status(), 0);
  const Result verdict = Judge("softmax", wrong.All(), {.recipe = "f32_compute", .strict = true});
  EXPECT_EQ(verdict.status(), 1);
  EXPECT_THAT(verdict.json(), HasSubstr(R"("recipe":"f32_compute")"));
  EXPECT_THAT(verdict.json(), HasSubstr(R"("strict":true)"));
  EXPECT_NEAR(verdict.Array("y/error").data[1], 0.5, 1e-6);
  EXPECT_THROW(verdict.Array("z/error"), Error);
}

TEST(CppLibrary, ProvesAndDraws) {
  const Softmax given;
  const Result golden = Prove("softmax", {{"x", given.x.data(), {1, 2}}});
  EXPECT_EQ(golden.Array("y/value").data[0], given.y[0]);
  EXPECT_EQ(Draw("softmax N=1 M=2 @x=3,4").Array("x").data[1], 4);
}

TEST(CppLibrary, ThrowsErrors) {
  const Softmax given;
  EXPECT_THAT([&] { Judge("softma", given.All()); },
              testing::ThrowsMessage<Error>(HasSubstr("there is no operation 'softma'")));
  EXPECT_THAT([] { Draw("rope"); }, testing::ThrowsMessage<Error>(HasSubstr("pairing")));
  EXPECT_THAT([&] { Judge("softmax", given.All(), {.threads = -1}); },
              testing::ThrowsMessage<Error>(HasSubstr("threads is -1")));
}

TEST(CppLibrary, ProgressCancelsOrThrows) {
  const Softmax given;
  bool called = false;
  const auto counts = [&](double) { return called = true; };
  EXPECT_EQ(Judge("softmax", given.All(), {.progress = counts}).status(), 0);
  EXPECT_TRUE(called);
  EXPECT_THAT([&] { Judge("softmax", given.All(), {.progress = [](double) { return false; }}); },
              testing::ThrowsMessage<Error>("cancelled"));
  const auto throws = [](double) -> bool { throw std::logic_error("mine"); };
  EXPECT_THAT([&] { Judge("softmax", given.All(), {.progress = throws}); },
              testing::ThrowsMessage<std::logic_error>("mine"));
}

}  // namespace
}  // namespace sextant::cpp
