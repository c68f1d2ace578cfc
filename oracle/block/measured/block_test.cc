#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

using testing::Each;

using Rows = std::vector<std::vector<double>>;

// D = 8, so the right scale is 1/sqrt(8). Two query heads share a key head.
constexpr size_t kS = 9, kM = 12, kH = 4, kK = 2, kD = 8;
const std::string kBlock = "decoder_block pairing=half S=9 M=12 H=4 K=2 D=8 F=10 ";

// A decoder block in plain loops of doubles. Shares no code with the formula.
struct PlantedBlock {
  std::function<double(size_t k)> frequency = [](size_t k) {
    return std::pow(10000, -2.0 * static_cast<double>(k) / kD);
  };
  double eps = 1e-5, scale = 1 / std::sqrt(8.0), residual = 1;
  std::function<double(double)> position = [](double p) { return p; };
  std::function<size_t(size_t)> key_head = [](size_t h) { return h / 2; };
  std::function<double(double)> activation = [](double x) { return x / (1 + std::exp(-x)); };
  bool traces = true;

  Rows Normed(const Rows& x, const std::vector<double>& weight) const {
    Rows y = x;
    for (auto& row : y) {
      double sum = 0;
      for (const double e : row) sum += e * e;
      const double root = std::sqrt(sum / static_cast<double>(row.size()) + eps);
      for (size_t i = 0; i < row.size(); ++i) row[i] *= weight[i] / root;
    }
    return y;
  }
  static Rows Times(const Rows& x, const Tensor<double>& weight) {
    Rows y(x.size(), std::vector<double>(weight.shape[0]));
    for (size_t s = 0; s < x.size(); ++s) {
      for (size_t i = 0; i < weight.data.size(); ++i)
        y[s][i / weight.shape[1]] += x[s][i % weight.shape[1]] * weight.data[i];
    }
    return y;
  }
  static Rows Sum(Rows a, const Rows& b, double factor) {
    for (size_t s = 0; s < a.size(); ++s)
      for (size_t i = 0; i < a[s].size(); ++i) a[s][i] += factor * b[s][i];
    return a;
  }
  Rows Rotated(Rows x, const std::vector<double>& positions) const {
    for (size_t s = 0; s < x.size(); ++s) {
      for (size_t i = 0; i < x[s].size(); ++i) {
        const size_t k = i % kD;
        if (k >= kD / 2) continue;
        const double angle = position(positions[s]) * frequency(k);
        const double a = x[s][i], b = x[s][i + kD / 2];
        x[s][i] = a * std::cos(angle) - b * std::sin(angle);
        x[s][i + kD / 2] = a * std::sin(angle) + b * std::cos(angle);
      }
    }
    return x;
  }
  Rows Attended(const Rows& q, const Rows& k, const Rows& v) const {
    Rows y(kS, std::vector<double>(kH * kD));
    for (size_t s = 0; s < kS; ++s) {
      for (size_t h = 0; h < kH; ++h) {
        const size_t g = key_head(h) * kD;
        double total = 0;
        for (size_t t = 0; t <= s; ++t) {
          double score = 0;
          for (size_t d = 0; d < kD; ++d) score += q[s][h * kD + d] * k[t][g + d];
          const double weight = std::exp(score * scale);
          total += weight;
          for (size_t d = 0; d < kD; ++d) y[s][h * kD + d] += weight * v[t][g + d];
        }
        for (size_t d = 0; d < kD; ++d) y[s][h * kD + d] /= total;
      }
    }
    return y;
  }

  Tensors Answer(const Case& c, const Tensors& in) const {
    const auto weight = [&](const char* name) -> const Tensor<double>& {
      return InputNamed(in, name);
    };
    Rows x(kS, std::vector<double>(kM));
    for (size_t i = 0; i < kS * kM; ++i) x[i / kM][i % kM] = in[0].values.data[i];
    const auto kept = [&](Rows rows) {  // as answered
      for (auto& row : rows)
        for (double& e : row) e = RoundTo(c.dtype(), e);
      return rows;
    };
    const Rows normed = kept(Normed(x, weight("attn_norm").data));
    const Rows q = kept(Rotated(Times(normed, weight("wq")), weight("position").data));
    const Rows k = kept(Rotated(Times(normed, weight("wk")), weight("position").data));
    const Rows mean = Attended(q, k, Times(normed, weight("wv")));
    const Rows attended = kept(Times(mean, weight("wo")));
    const Rows middle = kept(Sum(attended, x, residual));
    const Rows u = Normed(middle, weight("mlp_norm").data);
    Rows hidden = Times(u, weight("gate"));
    const Rows up = Times(u, weight("up"));
    for (size_t s = 0; s < kS; ++s)
      for (size_t i = 0; i < hidden[s].size(); ++i)
        hidden[s][i] = activation(hidden[s][i]) * up[s][i];
    hidden = kept(hidden);
    const Rows y = kept(Sum(Times(hidden, weight("down")), middle, 1));
    return Stored(c, {y, normed, q, k, attended, middle, hidden});
  }
  // In the order of the signature. Queries and keys have their heads first.
  Tensors Stored(const Case& c, const std::vector<Rows>& outputs) const {
    Tensors stored;
    for (size_t o = 0; o < (traces ? outputs.size() : 1); ++o) {
      const TensorSpec& spec = c.info().signature.outputs[o];
      Tensor<double> values(c.ShapeOf(spec));
      const size_t width = values.shape.back();
      for (size_t i = 0; i < values.data.size(); ++i) {
        const size_t row = i / width, s = row % kS, head = row / kS;
        values.data[i] = outputs[o][s][head * width + i % width];
      }
      stored.push_back({spec.name, c.dtype(), std::move(values)});
    }
    return stored;
  }
};

std::vector<std::string> CausesOfBlock(const std::string& words, const PlantedBlock& planted) {
  const AskedCase question(kBlock + words);
  return question.Causes(planted.Answer(question.c, question.inputs));
}

constexpr const char* kDTypes[] = {"dtype=f32", "dtype=bf16"};

// The only causes that are named are those of the first wrong tensor.
void ExpectFirst(const PlantedBlock& planted, const std::string& text,
                 const std::string& words = "") {
  for (const char* dtype : kDTypes) {
    const auto causes = CausesOfBlock(words + dtype, planted);
    EXPECT_THAT(causes, Contains(StartsWith(text))) << dtype;
    const std::string stage = text.substr(text.find(" ("), text.find(':') - text.find(" ("));
    EXPECT_THAT(causes, Each(testing::HasSubstr(stage))) << dtype;
  }
}

TEST(MeasuredBlock, FindsNothingInARightAnswer) {
  for (const char* dtype : kDTypes) EXPECT_THAT(CausesOfBlock(dtype, {}), IsEmpty());
}

const std::string kFar = "@position=random_positions(900) ";

TEST(MeasuredBlock, NamesAnotherBase) {
  PlantedBlock planted;
  planted.frequency = [](size_t k) { return std::pow(31000, -2.0 * static_cast<double>(k) / kD); };
  ExpectFirst(planted, "base_differs (first wrong at q_rotated: ", kFar);
}

TEST(MeasuredBlock, NamesFrequenciesAndPositions) {
  PlantedBlock planted;
  planted.position = [](double p) { return std::min(p, 300.0); };
  ExpectFirst(planted, "position_clamped (first wrong at q_rotated: ", kFar);
  planted.frequency = [](size_t k) {
    return std::pow(10000, -2.0 * static_cast<double>(k) / kD) / (k == 2 ? 3 : 1);
  };
  ExpectFirst(planted,
              "frequency_of_some_pairs+position_clamped (first wrong at q_rotated: pair 2 turns at "
              "0.333",
              kFar);
}

// The rotation follows the norm of the queries.
TEST(MeasuredBlock, NamesTheBaseOfNormedQueries) {
  for (const char* dtype : kDTypes) {
    const AskedCase question(
        "decoder_block pairing=half qk_norm=head placement=sandwich S=9 M=12 H=4 K=2 D=8 "
        "F=10 " +
        kFar + dtype);
    const Case other = question.c.With("base=31000");
    EXPECT_THAT(question.Causes(EvaluateByRecipe({other, question.inputs, question.recipe})),
                ElementsAre(StartsWith("base_differs (first wrong at q_rotated: ")));
  }
}

TEST(MeasuredBlock, NamesTheScaleOfAttention) {
  ExpectFirst({.scale = 0.21},
              "scale_changed (first wrong at attention_out: scores are multiplied by 0.21");
}

TEST(SlowMeasuredBlock, NamesTheFirstOfTwoDeviations) {
  PlantedBlock planted{.scale = 0.7, .residual = 0};
  planted.activation = [](double x) { return std::max(x, 0.0); };
  ExpectFirst(planted, "scale_changed (first wrong at attention_out: scores are multiplied by 0.7");
  planted.scale = 1 / std::sqrt(8.0);
  ExpectFirst(planted, "attention_residual_missing (first wrong at middle: ");
  planted.residual = 1;
  planted.activation = [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); };
  planted.eps = 0.3;
  for (const char* dtype : kDTypes) {  // by the norm "eps", as an attribute "eps_changed"
    const auto causes = CausesOfBlock(dtype, planted);
    ASSERT_FALSE(causes.empty()) << dtype;
    EXPECT_THAT(causes, Each(AllOf(StartsWith("eps"), HasSubstr(" (first wrong at normed: eps"))));
  }
}

TEST(SlowMeasuredBlock, NamesTheHeadsBesideALaterDeviation) {
  PlantedBlock planted{.residual = 0};
  planted.key_head = [](size_t h) { return h % 2; };
  ExpectFirst(planted, "key_heads_tiled (first wrong at attention_out: ");
}

// Without intermediates the whole block is measured.
TEST(MeasuredBlock, NamesNumbersWithoutATrace) {
  PlantedBlock planted{.scale = 0.21, .traces = false};
  EXPECT_THAT(CausesOfBlock("dtype=f32", planted),
              Contains(StartsWith("scale_changed (scores are multiplied by 0.21")));
}

TEST(SlowMeasuredBlock, SaysNothingOfUnknownBugs) {
  PlantedBlock planted;
  planted.activation = [](double x) { return x * std::sin(x); };
  for (const bool traces : {true, false}) {
    planted.traces = traces;
    for (const char* dtype : kDTypes) EXPECT_THAT(CausesOfBlock(dtype, planted), IsEmpty());
  }
  planted.key_head = [](size_t h) { return size_t{h == 1}; };
  for (const char* dtype : kDTypes) EXPECT_THAT(CausesOfBlock(dtype, planted), IsEmpty());
}

TEST(SlowMeasuredBlock, AccusesNoHonestRecipe) {
  for (const char* recipe :
       {"native softmax=bf16", "native score=bf16", "native angle=f16", "native keep=f16",
        "native frequency=f32:iterated", "native rsqrt=bf16", "native activation=f16"}) {
    const AskedCase question(kBlock + "dtype=f32 @position=random_positions(900)");
    const Tensors answer =
        EvaluateByRecipe({question.c, question.inputs, ParseRecipe(recipe, question.c.dtype())});
    for (const std::string& cause : question.Causes(answer))
      EXPECT_THAT(cause, testing::HasSubstr("_in_")) << recipe;  // a listed precision
  }
}

}  // namespace
}  // namespace sextant::oracle
