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

// relu(x)^2 in f32.
void Relu2(const Question& question) {
  const auto x = question.Input<float>("x");
  const auto y = question.Output<float>("y");
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] > 0 ? x[i] * x[i] : 0;
}

TEST(CppLibrary, IdentifiesAFunction) {
  size_t asked = 0;
  const Result found = Identify("activation F=8", {"mine", [&](const Question& question) {
                                                     ++asked;
                                                     Relu2(question);
                                                   }});
  EXPECT_EQ(found.status(), 0) << found.json();
  EXPECT_THAT(found.json(), HasSubstr("kind=relu2"));
  EXPECT_GE(asked, 2u);
  EXPECT_THAT(
      [] {
        Identify("activation F=8", {"mine", Relu2}, {.part = "vision_config"});
      },
      testing::ThrowsMessage<Error>(HasSubstr("expected `against`")));
}

TEST(CppLibrary, ProfilesFunctions) {
  const Result profile = Profile("activation kind=relu2 N=2 F=8",
                                 {{"mine",
                                   [](const Question& question) {
                                     question.Require("kind", "relu2");
                                     question.Number("beta");
                                     Relu2(question);
                                   }},
                                  {.name = "recipe:f32_compute"}},
                                 {.by = "row"});
  EXPECT_EQ(profile.Array("mine/key").count, 2u);
  EXPECT_LE(profile.Array("mine/ulps_largest").data[1], 0.5);
  EXPECT_EQ(profile.Array("recipe:f32_compute/elements").data[0], 8);
}

TEST(CppLibrary, WhatAFunctionThrowsReachesTheCaller) {
  const auto throws = [](const Question&) { throw std::logic_error("mine"); };
  EXPECT_THAT(
      [&] {
        Identify("activation F=8", {"mine", throws});
      },
      testing::ThrowsMessage<std::logic_error>("mine"));
  const auto declines = [](const Question&) { throw Unsupported("only on Sundays"); };
  EXPECT_THAT(
      [&] {
        Identify("activation F=8", {"mine", declines});
      },
      testing::ThrowsMessage<Error>(HasSubstr("only on Sundays")));
  const auto wrong = [](const Question& question) { question.Input<float>("z"); };
  EXPECT_THAT(
      [&] {
        Identify("activation F=8", {"mine", wrong});
      },
      testing::ThrowsMessage<Error>("tensor z"));
  const Options cancels = {.progress = [](double) { return false; }};
  EXPECT_THAT(
      [&] {
        Identify("activation F=8", {"mine", Relu2}, {}, cancels);
      },
      testing::ThrowsMessage<Error>("cancelled"));
}

}  // namespace
}  // namespace sextant::cpp
