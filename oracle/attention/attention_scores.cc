#include "reference/attention/attention_scores.h"

#include <algorithm>
#include <cmath>

#include "oracle/attention/measured/scores.h"
#include "oracle/attention/scale_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "reference/attention/attention_rows.h"

namespace sextant::oracle {
namespace {

// Doubling the keys doubles the scores.
Comparisons CheckLinear(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  Tensors half = inputs;
  InputNamed(half, "k") = Times(InputNamed(half, "k"), 0.5);
  for (const double x : InputNamed(half, "k").data) {
    if (RoundTo(c.dtype(), x) != x) return comparisons;
  }
  const Response a = ask(c, inputs), b = ask(c, half);
  for (size_t i = 0; i < a.size(); ++i) {
    comparisons.Equal(a(0, i), b(0, i) * 2, {a, 0, i});
  }
  return comparisons;
}

// If a key is the unit vector e_d, its score is q_d. This shows which head reads which key head.
Comparisons CheckAttentionScoresProbes(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t H = ExtentOf(c, "H"), K = ExtentOf(c, "K"), S = ExtentOf(c, "S"),
               T = ExtentOf(c, "T"), D = ExtentOf(c, "D");
  Comparisons comparisons;
  if (D == 0) return comparisons;
  Tensors probe = inputs;
  auto& k = InputNamed(probe, "k").data;
  for (size_t i = 0; i < k.size(); ++i) {
    const size_t head = i / D / T % K, t = i / D % T;
    k[i] = i % D == (head + t) % D ? 1 : 0;
  }
  const Response scores = ask(c.With("scale=1"), probe);
  for (size_t i = 0; i < scores.size(); ++i) {
    const size_t row = i / T, head = row / S % H / (H / K);
    comparisons.Equal(scores(0, i), InputNamed(probe, "q").data[row * D + (head + i % T) % D],
                      {scores, 0, i});
  }
  return comparisons;
}

// Without a scale, D score^2 is the square of the score with scale=1, and both have the same sign.
// Otherwise the score is the scale times that score.
Comparisons CheckAttentionScoresScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response scaled = ask(c, inputs), plain = ask(c.With("scale=1"), inputs);
  Comparisons comparisons;
  for (size_t i = 0; i < scaled.size(); ++i) {
    const Measured a = scaled(0, i), b = plain(0, i);
    if (TextOf(c, "scale").empty()) {
      comparisons.Equal(a * a * static_cast<double>(ExtentOf(c, "D")), b * b, {scaled, 0, i});
      comparisons.AtMost(0, a * b, {scaled, 0, i});
    } else {
      comparisons.Equal(a, b * NumberOf(c, "scale", 1), {scaled, 0, i});
    }
  }
  return comparisons;
}

struct MutatedAttentionScores : AttentionScores {
  enum class Mutation {
    kNone,
    kTiled,       // head h reads key head h mod K
    kTransposed,  // scores [T,S] are read as [S,T]
    kLastLost,    // the last channel is not added
  } mutation{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, Tensor<Real>& scores) const {
    const size_t heads = q.shape[1], S = q.shape[2], T = k.shape[2], K = k.shape[1];
    const ScoreScale<Real> scaled(scale, q.shape[3]);
    for (size_t i = 0; i < scores.data.size(); ++i) {
      size_t row = i / T, t = i % T;
      const size_t b = row / (heads * S), h = row / S % heads;
      if (mutation == Mutation::kTransposed) {
        const size_t in_head = i % (S * T);
        row = (b * heads + h) * S + in_head % S;
        t = in_head / S;
      }
      const size_t head = mutation == Mutation::kTiled ? h % K : h / (heads / K);
      auto query = RowAt(q, row), key = RowAt(k, (b * K + head) * T + t);
      if (mutation == Mutation::kLastLost && query.size() > 1) {
        query = query.first(query.size() - 1);
        key = key.first(key.size() - 1);
      }
      const Real product = Dot(query, key);
      const ScopedStep at(Step::kScore);
      scores.data[i] = Converted(scaled(Converted(product)));
    }
  }
};

struct AttentionScoresByParts : AttentionScores {
  MeasuredParts parts;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, Tensor<Real>& scores) const {
    AttentionAttributes op;
    op.scale = scale;
    op.H = H;
    op.K = K;
    ScoreMeasured<Real>(parts, op, q, k, scores);
  }
};

std::vector<Explanation> Measure(const Observation& seen) {
  const auto operation = std::make_shared<Wrapped<AttentionScoresByParts, false>>();
  CopyAttributes(seen.c, *operation);
  return MeasureProducts(seen, {operation, SharedInputs::Of(seen.inputs), seen.recipe},
                         WithPartsOf<AttentionScoresByParts>());
}

std::vector<Defect> Defects() {
  using Mutation = MutatedAttentionScores::Mutation;
  return Joined<Defect>(
      {MutatedFormulas<MutatedAttentionScores>({
           {"key_heads_tiled", "head h reads key head h mod K (onnx/onnx@062ee9228)",
            Mutation::kTiled, true},
           {"transposed", "scores [T,S] are read as [S,T]", Mutation::kTransposed, true},
           {"last_channel_lost", "the last channel is not added", Mutation::kLastLost, true},
       }),
       ScaleDefects(),
       {
           ChangedRecipe("scores_in_bf16", "scores are stored in bf16 for every dtype",
                         "score=bf16"),
           ChangedRecipe("scores_in_f16", "scores are stored in f16 for every dtype", "score=f16"),
           ChangedRecipe("dot_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
       }});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<AttentionScores>() {
  return {.properties = {{"linear_in_keys", "twice the keys give twice the scores", CheckLinear},
                         {"probed",
                          "with unit vectors as keys the scores are the channels of the query",
                          CheckAttentionScoresProbes},
                         {"scaled", "scores are proportional to the scale; its default is D^-1/2",
                          CheckAttentionScoresScale}},
          .defects = Joined<Defect>({Defects(), ScalesInF32()}),
          .measurements = {Measure}};
}

}  // namespace sextant::oracle
