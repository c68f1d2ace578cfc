#include "oracle/attention/attention_defects.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "oracle/attention/attention_properties.h"
#include "oracle/attention/scale_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

std::string Word(const std::string& key, const std::vector<int64_t>& list) {
  return key + "=" + PrintValue(list);
}

// The case with another window; does not apply to a case without one.
Defect ChangedWindow(std::string name, std::string why, IntegerList (*change)(IntegerList)) {
  return ChangedWord(std::move(name), std::move(why), [change](const Case& c) -> std::string {
    const auto window = AttentionOf(c).window;
    return window ? Word("window", change(*window)) : "";
  });
}

std::vector<Defect> WindowDefects() {
  return {
      ChangedWindow("window_one_more",
                    "sliding_window=W is read as W keys before the query's own key (Mistral's "
                    "first implementations)",
                    [](IntegerList w) {
                      w[0] += w[0] >= 0;
                      return w;
                    }),
      ChangedWindow("window_one_less", "the number of keys before the query includes its own key",
                    [](IntegerList w) {
                      w[0] -= w[0] > 0;
                      return w;
                    }),
      ChangedWindow("window_right_one_more", "the window has one key too many after the query",
                    [](IntegerList w) {
                      w[1] += w[1] >= 0;
                      return w;
                    }),
      ChangedWindow("window_exchanged",
                    "the numbers of keys before and after the query are exchanged",
                    [](IntegerList w) {
                      std::swap(w[0], w[1]);
                      return w;
                    }),
      ChangedWindow("window_left_alone", "the keys after the query are not limited",
                    [](IntegerList w) {
                      w[1] = -1;
                      return w;
                    }),
      ChangedWindow("window_right_alone",
                    "one code path drops the window: the keys before the query are not limited "
                    "(sgl-project/sglang#30050)",
                    [](IntegerList w) {
                      w[0] = -1;
                      return w;
                    }),
  };
}

std::vector<Defect> ChunkDefects() {
  return {
      ChangedWord("chunk_as_window", "a query sees the last C keys instead of those of its chunk",
                  [](const Case& c) -> std::string {
                    const auto chunk = AttentionOf(c).chunk;
                    if (!chunk || AttentionOf(c).window) return "";
                    return "chunk= " + Word("window", {*chunk - 1, 0});
                  }),
      ChangedWord("chunk_one_more", "chunks have C + 1 keys",
                  [](const Case& c) -> std::string {
                    const auto chunk = AttentionOf(c).chunk;
                    return chunk ? "chunk=" + std::to_string(*chunk + 1) : "";
                  }),
  };
}

// The case with other offsets of the queries; does not apply to a case without them.
Defect ChangedOffset(std::string name, std::string why, IntegerList (*change)(IntegerList)) {
  return ChangedWord(std::move(name), std::move(why), [change](const Case& c) -> std::string {
    const auto offset = AttentionOf(c).query_offset;
    return offset ? Word("query_offset", change(*offset)) : "";
  });
}

std::vector<Defect> OffsetDefects() {
  return {
      ChangedOffset("offset_ignored",
                    "the first query of a chunk has index 0, as torch's is_causal does "
                    "(pytorch/pytorch#108108)",
                    [](IntegerList) { return IntegerList{0}; }),
      ChangedOffset("offset_one_more", "the number of tokens includes the first query itself",
                    [](IntegerList offset) {
                      for (int64_t& o : offset) ++o;
                      return offset;
                    }),
      ChangedOffset("offset_one_less", "the index of the last cached token is used as their number",
                    [](IntegerList offset) {
                      for (int64_t& o : offset) o -= o > 0;
                      return offset;
                    }),
      ChangedOffset("offset_of_first_batch", "every batch has the offset of the first one",
                    [](IntegerList offset) { return IntegerList{offset.front()}; }),
  };
}

// Wrong numbers of keys in a batch, and wrong ends of packed sequences.
std::vector<Defect> LengthDefects() {
  return {
      ChangedWord("length_of_first_batch", "every batch has the number of keys of the first one",
                  [](const Case& c) -> std::string {
                    const auto lengths = AttentionOf(c).key_length;
                    return lengths ? Word("key_length", {lengths->front()}) : "";
                  }),
      LengthOneMore(),
      ChangedWord("segments_one_late", "packed sequences end one token late",
                  [](const Case& c) -> std::string {
                    auto segments = AttentionOf(c).segments;
                    if (!segments || segments->empty()) return "";
                    ++segments->front();
                    return Word("segments", *segments);
                  }),
      ChangedWord("segments_joined", "the last packed sequences are joined",
                  [](const Case& c) -> std::string {
                    auto segments = AttentionOf(c).segments;
                    if (!segments || segments->empty()) return "";
                    segments->pop_back();
                    return Word("segments", *segments);
                  }),
  };
}

}  // namespace

std::vector<Defect> MaskDefects() {
  return Joined<Defect>({WindowDefects(), ChunkDefects(), LengthDefects()});
}

namespace {

Defect FirstEverywhere(std::string name, std::string why, std::string letter) {
  return ChangedInputs(std::move(name), std::move(why), [letter](const Case& c, Tensors& inputs) {
    const size_t n = ExtentOf(c, letter);
    if (n < 2) return false;
    for (size_t i = 1; i < 3; ++i) {  // k and v: every index of the axis has the data of index 0
      const auto& extents = c.signature().inputs[i].extents;
      const auto axis = static_cast<size_t>(std::ranges::find(extents, letter) - extents.begin());
      Tensor<double>& tensor = inputs[i].values;
      size_t stride = 1;
      for (size_t a = axis + 1; a < tensor.shape.size(); ++a) stride *= tensor.shape[a];
      const std::vector<double> from = tensor.data;
      for (size_t j = 0; j < from.size(); ++j) tensor.data[j] = from[j - j / stride % n * stride];
    }
    return true;
  });
}

std::vector<Defect> AttentionInputDefects() {
  return {
      FirstEverywhere("batch_of_first", "every batch reads the keys and values of the first one",
                      "B"),
      FirstEverywhere("key_head_of_first", "every head reads the keys and values of the first one",
                      "K"),
      ExchangedInputs("keys_and_values_exchanged", "k and v are swapped", {{"k", "v"}}),
      ChangedInputs("newest_key_missing", "the cache is read before the new token is appended",
                    [](const Case& c, Tensors& inputs) {
                      const size_t T = ExtentOf(c, "T");
                      if (T < 2) return false;
                      for (size_t i = 1; i < 3; ++i) {
                        auto& data = inputs[i].values.data;
                        const size_t width = inputs[i].values.shape[3];
                        for (size_t j = 0; j < data.size(); ++j) {
                          if (j / width % T == T - 1) data[j] = data[j - width];
                        }
                      }
                      return true;
                    }),
  };
}

}  // namespace

Defect LengthOneMore() {
  return ChangedWord("length_one_more", "one key beyond key_length is read",
                     [](const Case& c) -> std::string {
                       auto lengths = AttentionOf(c).key_length;
                       if (!lengths) return "";
                       const size_t keys = ExtentOf(c, c.dimensions().contains("T") ? "T" : "S");
                       for (int64_t& length : *lengths)
                         length = std::min(length + 1, static_cast<int64_t>(keys));
                       return Word("key_length", *lengths);
                     });
}

std::vector<Defect> AttentionRecipeDefects() {
  return {
      ChangedRecipe("softmax_in_bf16", "the softmax is computed in bf16 for every dtype",
                    "softmax=bf16"),
      ChangedRecipe("softmax_in_f16", "the softmax is computed in f16", "softmax=f16"),
      ChangedRecipe("scores_in_bf16", "scores are stored in bf16 for every dtype", "score=bf16"),
      ChangedRecipe("scores_in_f16", "scores are stored in f16 for every dtype", "score=f16"),
      ChangedRecipe("dot_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("weights_in_bf16", "weights are stored in bf16 for every dtype", "weigh=bf16"),
  };
}

std::vector<Defect> AttentionDefects() {
  return Joined<Defect>(
      {MaskDefects(),
       OffsetDefects(),
       ScoreScaleDefects(),
       ScalesInF32(),
       AttentionInputDefects(),
       AttentionRecipeDefects(),
       {ChangedRecipe("cap_in_bf16", "the soft cap is computed in bf16", "cap=bf16")}});
}

namespace {

using M = AttentionMutation;
constexpr NamedMutation<M> kMutations[] = {
    {"key_heads_tiled",
     "head h reads key head h mod K instead of floor(h / (H/K)) (onnx/onnx@062ee9228)",
     M::kKeyHeadsTiled, true},
    {"value_heads_tiled", "head h reads value head h mod K, but the correct key head",
     M::kValueHeadsTiled, true},
    {"self_masked", "a query does not see its own key (t < i)", M::kSelfMasked, true},
    {"next_leaked", "a query sees the next key too (t <= i + 1)", M::kNextLeaked, true},
    {"aligned_by_capacity", "queries are aligned to the end of the cache instead of its last token",
     M::kByCaseLength, true},
    {"chunk_by_query", "chunks are counted from the first query: cached keys are ignored",
     M::kChunkByQuery, true},
    {"cap_after_mask",
     "the cap comes after the mask: masked scores are -c instead of -infinity "
     "(onnx/onnx@fe30560bd)",
     M::kCapAfterMask},
    {"cap_after_largest",
     "the cap comes after subtracting the largest score: c tanh((score - largest) / c) "
     "(google/gemma.cpp@2a0e6ee)",
     M::kCapAfterMax},
    {"cap_not_in_first_tile", "the first tile is not capped (google/gemma.cpp@4974f24)",
     M::kCapNotInFirstTile},
    {"cap_before_scale", "scores are capped before they are scaled", M::kCapBeforeScale},
    {"cap_not_scaled_back", "the score is tanh(score / c), not multiplied by c",
     M::kCapNotScaledBack},
    {"finite_mask", "masked scores are -1e4, which other scores can reach (ahrefs/ocannl#548)",
     M::kFiniteMask},
    {"empty_rows_mean", "masked scores are finite, so a row without keys is the mean of all values",
     M::kMeanOfEmpty},
    {"empty_lse_positive", "lse of a row without keys is +infinity (flash-attention)",
     M::kEmptyLsePositive},
    {"softmax_over_queries", "the softmax runs over the queries instead of the keys",
     M::kOverQueries, true},
    {"softmax_missing", "the scores are the weights: there is no softmax", M::kNoSoftmax},
    {"padded_lanes_count",
     "vector lanes beyond the last key count as keys with score 0 (google/gemma.cpp@542ad09)",
     M::kPaddedLanes},
    {"not_rescaled", "sums are not rescaled when a later tile has a larger score", M::kNoRescale},
    {"sum_not_rescaled", "y is rescaled for a larger score, the sum of the weights is not",
     M::kSumNotRescaled},
    {"values_summed_in_f16",
     "weight times value is added to a sum in f16, key by key (ggml's flash attention with a cache "
     "of f16): it stops growing at 2048 terms of one size",
     M::kSumInF16},
    {"last_tile_lost", "keys after the last whole tile are not read", M::kLastTileLost},
    {"lse_base_2", "lse is a logarithm to base 2 (FlashInfer)", M::kLseBase2},
    {"lse_less_largest", "the largest score is not added back to lse", M::kLseLessLargest},
};

}  // namespace

std::vector<NamedMutation<AttentionMutation>> AttentionMutations() {
  return {std::begin(kMutations), std::end(kMutations)};
}

}  // namespace sextant::oracle
