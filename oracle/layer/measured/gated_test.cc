#include "oracle/layer/measured/gated.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

double GateSwish(double x, double beta = 1) { return x / (1 + std::exp(-beta * x)); }

struct MeasuredGated : MeasuredInDType {
  // What is said about f(gate, up) instead of the case.
  std::vector<std::string> If(const std::string& words, double (*f)(double g, double u)) {
    const MeasuredCase question(Line("gated " + words));
    return question.Causes(
        [&](size_t i) { return f(question.In("gate").data[i], question.In("up").data[i]); });
  }
};

// Half of the rows of both are blocks of 8 by turns, and the function is another one.
TEST_P(MeasuredGated, BlocksByTurnsAndAnotherFunction) {
  const MeasuredCase question(Line("gated kind=swiglu N=4 F=48"));
  const auto both = [&](size_t row, size_t at) {
    return question.In(at < 48 ? "gate" : "up").data[row * 48 + at % 48];
  };
  EXPECT_THAT(question.Causes([&](size_t i) {
    const size_t j = i % 48, at = j / 8 * 16 + j % 8;
    return std::max(both(i / 48, at), 0.0) * both(i / 48, at + 8);
  }),
              ElementsAre(AllOf(StartsWith("halves_read_as_blocks+function_is_relu: "),
                                HasSubstr("read as blocks of 8 by turns"))));
}

TEST_P(MeasuredGated, SignsOfUpAndAnotherFunction) {
  EXPECT_THAT(
      If("kind=swiglu N=4 F=50", [](double g, double u) { return std::max(g, 0.0) * std::abs(u); }),
      ElementsAre(StartsWith("up_absolute+function_is_relu: up has lost its signs")));
}

TEST_P(MeasuredGated, UpOfOtherColumnsAndRowsOfOneHalf) {
  const MeasuredCase question(Line("gated kind=swiglu N=4 F=48"));
  // Element j of row n of gate and up side by side, from the begin of the tensor.
  const auto both = [&](size_t n, size_t j) {
    const size_t row = n + j / 96, at = j % 96;
    return question.In(at < 48 ? "gate" : "up").data[row % 4 * 48 + at % 48];
  };
  EXPECT_THAT(question.Causes([&](size_t i) {
    return GateSwish(both(i / 48, i % 48)) * both(i / 48, 40 + i % 48);
  }),
              ElementsAre(StartsWith("up_of_other_columns: gate and up are halves of a row, and up "
                                     "is read from 8 columns too early on")));
  EXPECT_THAT(question.Causes([&](size_t i) {
    const size_t n = i / 48, j = i % 48;
    return GateSwish(both(n / 2, n % 2 * 48 + j)) * both((n + 1) / 2, (n + 1) % 2 * 48 + j);
  }),
              ElementsAre(StartsWith("rows_of_one_half: ")));
}

// In bf16, errors hide which number is added.
struct MeasuredNarrowGated : MeasuredGated {};
TEST_P(MeasuredNarrowGated, NumberAddedToAnotherFunction) {
  EXPECT_THAT(If("kind=geglu N=8 F=50", [](double g, double u) { return GateSwish(g) * u + 0.1; }),
              ElementsAre(AllOf(StartsWith("function_is_swish+output_offset: "),
                                HasSubstr("0.1 is added to y"))));
}

TEST_P(MeasuredGated, ConstantOfSwish) {
  EXPECT_THAT(If("kind=swiglu N=4 F=50", [](double g, double u) { return GateSwish(g, 1.3) * u; }),
              ElementsAre(AllOf(StartsWith("swish_constant: "), HasSubstr("c = 1.3, expected 1"))));
}

TEST_P(MeasuredGated, ExchangedWithAnotherFunction) {
  EXPECT_THAT(If("kind=swiglu N=4 F=50",
                 [](double g, double u) { return u * (1 + std::erf(u / std::sqrt(2))) / 2 * g; }),
              ElementsAre(AllOf(StartsWith("gate_exchanged_with_up+function_is_gelu: "))));
}

// gpt-oss with another limit: 7 in the model, 5 here.
TEST_P(MeasuredGated, AnotherLimit) {
  EXPECT_THAT(If("kind=swiglu alpha=1.702 limit=7 plus_one=true N=8 F=100 @gate=normal(5) "
                 "@up=normal(5)",
                 [](double g, double u) {
                   return GateSwish(std::min(g, 5.0), 1.702) * (std::clamp(u, -5.0, 5.0) + 1);
                 }),
              ElementsAre(AllOf(HasSubstr("up_limited_above"), HasSubstr("up is limited to 5"),
                                HasSubstr("argument is limited to 5"), HasSubstr("expected 7"))));
}

TEST_P(MeasuredGated, OneMissing) {
  EXPECT_THAT(If("kind=swiglu plus_one=true N=4 F=50",
                 [](double g, double u) { return GateSwish(g, 1.5) * u; }),
              ElementsAre(StartsWith("plus_one_missing+swish_constant: 1 is not added to up; ")));
}

TEST_P(MeasuredGated, GateTimesItself) {
  EXPECT_THAT(If("kind=geglu N=4 F=50", [](double g, double) { return GateSwish(g) * g; }),
              ElementsAre(StartsWith("gate_in_place_of_up+function_is_swish: ")));
}

TEST_P(MeasuredGated, ProductActivatedByAnotherFunction) {
  EXPECT_THAT(If("kind=geglu N=4 F=50", [](double g, double u) { return GateSwish(g * u, 1.702); }),
              ElementsAre(StartsWith("product_activated+function_is_swish: ")));
}

TEST_P(MeasuredGated, HalvesAddedWithAnotherConstant) {
  EXPECT_THAT(If("kind=swiglu N=4 F=50", [](double g, double u) { return GateSwish(g, 1.3) + u; }),
              ElementsAre(StartsWith("halves_added+swish_constant: up is added to f(g)")));
}

// In few rows, and in a large tensor.
TEST_P(MeasuredGated, UpOfTheNextColumnAndAnotherFunction) {
  for (const size_t F : {50, 5000}) {
    const MeasuredCase question(Line("gated kind=geglu N=4 F=" + std::to_string(F)));
    EXPECT_THAT(question.Causes([&](size_t i) {
      return GateSwish(question.In("gate").data[i]) *
             question.In("up").data[i / F * F + (i % F + 1) % F];
    }),
                ElementsAre(AllOf(StartsWith("up_rolled+function_is_swish: "),
                                  HasSubstr("rolled by 1 to the left"))));
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredGated, testing::Values("f32", "bf16", "f64"),
                         MeasuredInDType::NameOfTest);
INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredNarrowGated, testing::Values("f32", "f64"),
                         MeasuredInDType::NameOfTest);

TEST(MeasuredGated, HonestRecipesAreNotAccused) {
  for (const std::string kind : {"swiglu", "geglu limit=1.5", "reglu", "glu plus_one=true"}) {
    ExpectNoAccusation({"gated N=1 F=5 kind=" + kind, "gated N=4 F=50 kind=" + kind},
                       {"native activation=bf16", "native gate=f16", "*=bf16"});
  }
}

}  // namespace
}  // namespace sextant::oracle
