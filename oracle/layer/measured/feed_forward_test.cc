#include "oracle/layer/measured/feed_forward.h"

#include <cmath>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

double Swish(double x, double beta = 1) { return x / (1 + std::exp(-beta * x)); }
double Gelu(double x) { return x * (1 + std::erf(x / std::sqrt(2))) / 2; }

struct Layout {
  bool is_exchanged = false, transposes_down = false;
  double of_up_bias = 1;
  size_t first_hidden = 0;  // those before it are lost
  size_t roll = 0;          // of the hidden columns
  double residual = 0;
  size_t gate_row = 0;           // row n has the gate of row n + that, around the end
  bool has_first_up = false;     // every row has up of row 0
  size_t plain_from = SIZE_MAX;  // from this hidden column on nothing is activated
  bool is_normed = false;        // the hidden tensor is divided by its root mean square
};

// What is said about another hidden(g, u); the optional output is not answered.
std::vector<std::string> CausesIf(const std::string& line, double (*hidden)(double g, double u),
                                  const Layout& layout) {
  const MeasuredCase question(line);
  const auto &x = question.In("x"), &gate = question.In("gate"), &up = question.In("up"),
             &down = question.In("down");
  const auto bias = [&](const char* name, size_t i) {
    const Tensor<double>* const given = FindValues(question.inputs, name);
    return given ? given->data[i] : 0;
  };
  const size_t F = gate.shape[0], M = gate.shape[1];
  Tensors answer = question.CorrectAnswer();
  answer.resize(1);
  const auto hidden_of = [&](size_t n) {
    std::vector<double> all(F);
    double squares = 0;
    for (size_t f = layout.first_hidden; f < F; ++f) {
      double g = bias("gate_bias", f), u = layout.of_up_bias * bias("up_bias", f);
      for (size_t m = 0; m < M; ++m) {
        g += x((n + layout.gate_row) % x.shape[0], m) * gate(f, m);
        u += x(layout.has_first_up ? 0 : n, m) * up(f, m);
      }
      if (layout.is_exchanged) std::swap(g, u);
      all[f] = f < layout.plain_from ? hidden(g, u) : g * u;
      squares += all[f] * all[f];
    }
    for (double& one : all)
      one /= layout.is_normed ? std::sqrt(squares / static_cast<double>(F)) : 1;
    return all;
  };
  for (size_t i = 0; i < answer[0].values.data.size(); ++i) {
    double y = bias("down_bias", i % M);
    y += layout.residual * x.data[i];
    const std::vector<double> h = hidden_of(i / M);
    for (size_t f = layout.first_hidden; f < F; ++f)
      y += h[f] *
           (layout.transposes_down ? down.data[f * M + i % M] : down(i % M, (f + layout.roll) % F));
    answer[0].values.data[i] = RoundTo(answer[0].dtype, y);
  }
  return question.Causes(answer);
}

struct MeasuredFeedForward : MeasuredInDType {
  std::vector<std::string> If(const std::string& words, double (*hidden)(double g, double u),
                              const Layout& layout) {
    return CausesIf(Line(words), hidden, layout);
  }
};

TEST_P(MeasuredFeedForward, GateOfAnotherRowAndAnotherFunction) {
  EXPECT_THAT(If("feed_forward N=6 M=24 F=40 @x=normal(3)",
                 [](double g, double u) { return Gelu(g) * u; }, {.gate_row = 5}),
              Contains(AllOf(StartsWith("gate_of_other_row+function_is_gelu: "),
                             HasSubstr("gate is that of the row before each"))));
}

TEST_P(MeasuredFeedForward, FunctionTwiceAndANormedHiddenTensor) {
  const std::string line = "feed_forward N=6 M=24 F=40 @x=normal(3)";
  EXPECT_THAT(If(line, [](double g, double u) { return Swish(Swish(g)) * u; }, {}),
              ElementsAre("function_twice: the function is applied twice"));
  EXPECT_THAT(If(line, [](double g, double u) { return Swish(g) * u; }, {.is_normed = true}),
              ElementsAre(StartsWith("hidden_normed: each row of the hidden tensor is divided by "
                                     "its root mean square")));
}

TEST_P(MeasuredFeedForward, UpOfTheFirstRowAndARestWithoutTheFunction) {
  const auto swiglu = [](double g, double u) { return Swish(g) * u; };
  const std::string line = "feed_forward N=6 M=24 F=40 @x=normal(3)";
  EXPECT_THAT(If(line, swiglu, {.has_first_up = true}),
              ElementsAre("up_of_first_row: every row has up of row 0"));
  EXPECT_THAT(If(line, swiglu, {.plain_from = 32}),
              ElementsAre("rest_not_activated: from hidden column 32 on nothing is activated"));
}

TEST_P(MeasuredFeedForward, LimitOfTheHiddenTensorAndOrder) {
  EXPECT_THAT(
      If("feed_forward N=5 M=24 F=40 @x=normal(0.3)",
         [](double g, double u) { return std::clamp(Swish(g) * u, -1.5, 1.5); }, {.roll = 1}),
      Contains(AllOf(HasSubstr("hidden_limited: "), HasSubstr("limited to 1.5 and -1.5"),
                     HasSubstr("rolled"))));
}

TEST_P(MeasuredFeedForward, FactorOfTheHiddenTensorAndResidual) {
  EXPECT_THAT(If("feed_forward N=5 M=24 F=40 @x=normal(3)",
                 [](double g, double u) { return Swish(g) * u / 2; }, {.residual = 1}),
              Contains(AllOf(HasSubstr("residual_added"), HasSubstr("multiplied by 0.5"))));
}

TEST_P(MeasuredFeedForward, ConstantOfSwish) {
  EXPECT_THAT(If("feed_forward N=5 M=24 F=40 @x=normal(3)",
                 [](double g, double u) { return Swish(g, 1.5) * u; }, {}),
              ElementsAre(AllOf(StartsWith("swish_constant: "), HasSubstr("with c = 1.5"))));
}

TEST_P(MeasuredFeedForward, ExchangedWithAnotherFunction) {
  EXPECT_THAT(If("feed_forward N=5 M=24 F=40 @x=normal(3)",
                 [](double g, double u) { return Gelu(g) * u; }, {.is_exchanged = true}),
              Contains(StartsWith("gate_exchanged_with_up+function_is_gelu: ")));
}

TEST_P(MeasuredFeedForward, ProductActivatedAndDownTransposed) {
  EXPECT_THAT(If("feed_forward kind=geglu N=5 M=24 F=40",
                 [](double g, double u) { return Gelu(g * u); }, {.transposes_down = true}),
              ElementsAre(StartsWith("down_transposed+product_activated: ")));
}

TEST_P(MeasuredFeedForward, BiasAndFunction) {
  EXPECT_THAT(If("feed_forward with=gate_bias,up_bias,down_bias kind=reglu N=5 M=24 F=40",
                 [](double g, double u) { return Swish(g, 1.702) * u; }, {.of_up_bias = 0}),
              ElementsAre(AllOf(StartsWith("up_bias_missing+function_is_swish: "),
                                HasSubstr("with c = 1.702"))));
}

TEST_P(MeasuredFeedForward, OneBiasOfTwo) {
  EXPECT_THAT(If("feed_forward with=gate_bias,up_bias N=5 M=24 F=40",
                 [](double g, double u) { return Swish(g) * u; }, {.of_up_bias = 2}),
              ElementsAre("up_bias_added_twice: up_bias is added twice"));
}

TEST_P(MeasuredFeedForward, HiddenColumnsLost) {
  EXPECT_THAT(If("feed_forward N=5 M=24 F=40", [](double g, double u) { return Swish(g) * u; },
                 {.first_hidden = 5}),
              ElementsAre("columns_lost: hidden columns 0 to 4 of 40 are lost"));
}

TEST_P(MeasuredFeedForward, HiddenRolledAndProductActivated) {
  EXPECT_THAT(If("feed_forward N=5 M=24 F=40", [](double g, double u) { return Swish(g * u); },
                 {.roll = 1}),
              ElementsAre(AllOf(StartsWith("hidden_rolled+product_activated: "),
                                HasSubstr("rolled by 1 to the left"))));
}

TEST_P(MeasuredFeedForward, ResidualAdded) {
  EXPECT_THAT(If("feed_forward with=gate_bias,up_bias,down_bias N=5 M=24 F=40",
                 [](double g, double u) { return Swish(g) * u; }, {.residual = 1}),
              ElementsAre("residual_added: 1 x is added to y"));
}

TEST_P(MeasuredFeedForward, HiddenMultipliedAndAnotherFunction) {
  EXPECT_THAT(If("feed_forward N=5 M=24 F=40",
                 [](double g, double u) { return 0.5 * std::max(g, 0.0) * u; }, {}),
              Contains(AllOf(StartsWith("function_is_relu+hidden_multiplied: "),
                             HasSubstr("multiplied by 0.5"))));
}

TEST_P(MeasuredFeedForward, LimitAndNumberAddedToTheGate) {
  EXPECT_THAT(If("feed_forward kind=geglu N=5 M=24 F=40",
                 [](double g, double u) { return Gelu(std::min(g, 2.0)) * u; }, {}),
              ElementsAre("gate_limited_above: gate is limited to at most 2"));
  EXPECT_THAT(If("feed_forward kind=geglu N=5 M=24 F=40",
                 [](double g, double u) { return Gelu(g + 0.25) * u; }, {}),
              ElementsAre("gate_offset: 0.25 is added to gate"));
}

TEST_P(MeasuredFeedForward, OneAddedToUp) {
  EXPECT_THAT(If("feed_forward kind=geglu N=5 M=24 F=40",
                 [](double g, double u) { return Gelu(g) * (u + 1); }, {}),
              ElementsAre("one_added_to_up: 1 is added to up"));
}

INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredFeedForward, testing::Values("f32", "f64"),
                         MeasuredInDType::NameOfTest);

// The permitted errors of bf16 hide the differences of most functions.
TEST(MeasuredFeedForward, ProductActivatedAndDownTransposedInBf16) {
  EXPECT_THAT(CausesIf("feed_forward kind=geglu N=5 M=24 F=40 dtype=bf16",
                       [](double g, double u) { return Gelu(g * u); }, {.transposes_down = true}),
              ElementsAre(StartsWith("down_transposed+product_activated: ")));
}

TEST(MeasuredFeedForward, HonestRecipesAreNotAccused) {
  ExpectNoAccusation(
      {"feed_forward N=3 M=6 F=10",
       "feed_forward with=gate_bias,up_bias,down_bias kind=geglu N=2 M=4 F=6",
       "feed_forward kind=glu N=1 M=64 F=3"},
      {"native dot=bf16", "native activation=bf16", "native keep=bf16", "*=bf16", "f32_compute"});
}

TEST(MeasuredFeedForward, WithoutHiddenColumnsNothingIsMeasured) {
  const MeasuredCase question("feed_forward N=2 M=3 F=0 dtype=f32");
  EXPECT_THAT(question.Causes([](size_t i) { return 1.0 + static_cast<double>(i); }), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
