#include "oracle/attention/attention_defects.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "oracle/attention/attention_properties.h"
#include "oracle/defect/catalog_entry.h"
#include "oracle/defect/input_defects.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

std::string Word(const std::string& key, const std::vector<int64_t>& list) {
  return key + "=" + PrintValue(list);
}

// The case with other numbers in a list of its attributes; nothing where it has none.
Defect ChangedWindow(std::string name, std::string why, IntegerList (*change)(IntegerList)) {
  return ChangedWord(std::move(name), std::move(why), [change](const Case& c) -> std::string {
    const auto window = AttentionOf(c).window;
    return window ? Word("window", change(*window)) : "";
  });
}

std::vector<Defect> WindowDefects() {
  return {
      ChangedWindow("window_one_more",
                    "sliding_window=W is taken for W keys before the query's own (Mistral's first "
                    "implementations)",
                    [](IntegerList w) {
                      w[0] += w[0] >= 0;
                      return w;
                    }),
      ChangedWindow("window_one_less", "the window counts the query's own key",
                    [](IntegerList w) {
                      w[0] -= w[0] > 0;
                      return w;
                    }),
      ChangedWindow("window_right_one_more", "one key too many after the query",
                    [](IntegerList w) {
                      w[1] += w[1] >= 0;
                      return w;
                    }),
      ChangedWindow("window_exchanged", "left and right are exchanged",
                    [](IntegerList w) {
                      std::swap(w[0], w[1]);
                      return w;
                    }),
      ChangedWindow("window_left_alone", "what is after the query is not limited",
                    [](IntegerList w) {
                      w[1] = -1;
                      return w;
                    }),
      ChangedWindow("window_right_alone",
                    "the window is dropped on one path (sgl-project/sglang#30050)",
                    [](IntegerList w) {
                      w[0] = -1;
                      return w;
                    }),
  };
}

std::vector<Defect> ChunkDefects() {
  return {
      ChangedWord("chunk_as_window", "the last C keys in place of those of the same chunk",
                  [](const Case& c) -> std::string {
                    const auto chunk = AttentionOf(c).chunk;
                    if (!chunk || AttentionOf(c).window) return "";
                    return "chunk= " + Word("window", {*chunk - 1, 0});
                  }),
      ChangedWord("chunk_one_more", "chunks of C + 1",
                  [](const Case& c) -> std::string {
                    const auto chunk = AttentionOf(c).chunk;
                    return chunk ? "chunk=" + std::to_string(*chunk + 1) : "";
                  }),
  };
}

// Which keys a batch has, and where packed sequences end.
std::vector<Defect> LengthDefects() {
  return {
      ChangedWord("length_of_first_batch", "every batch has the keys of the first",
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
      ChangedWord("segments_joined", "the last packed sequences are one",
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

// A scale of its own where none was asked for.
Defect Scaled(std::string name, std::string why, double (*of)(double D, double E)) {
  return ChangedWord(std::move(name), std::move(why), [of](const Case& c) -> std::string {
    if (!TextOf(c, "scale").empty()) return "";
    const auto extent = [&c](const char* letter) {
      return static_cast<double>(std::max<size_t>(1, ExtentOf(c, letter)));
    };
    return "scale=" + PrintValue(of(extent("D"), extent("E")));
  });
}

std::vector<Defect> ScaleDefects() {
  return {
      Scaled("scale_missing", "no 1/sqrt(D) (mlc-ai/mlc-llm#3426)",
             [](double, double) { return 1.0; }),
      Scaled("scale_by_width",
             "1/D in place of 1/sqrt(D), as when queries are scaled before, and scores again",
             [](double D, double) { return 1 / D; }),
      Scaled("scale_of_values", "the width of the values",
             [](double, double E) { return 1 / std::sqrt(E); }),
  };
}

Defect Swapped(std::string name, std::string why, std::string letter) {
  return ChangedInputs(std::move(name), std::move(why), [letter](const Case& c, Tensors& inputs) {
    const size_t n = ExtentOf(c, letter);
    if (n < 2) return false;
    for (size_t i = 1; i < 3; ++i) {  // k and v: what stands first, everywhere
      const auto& extents = c.info().signature.inputs[i].extents;
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

std::vector<Defect> InputDefects() {
  return {
      Swapped("batch_of_first", "every batch reads the keys and values of the first", "B"),
      Swapped("key_head_of_first", "every head reads the keys and values of the first", "K"),
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
  return ChangedWord("length_one_more", "one key of padding counts",
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
      ChangedRecipe("softmax_in_bf16", "the softmax is computed in bf16 whatever the dtype",
                    "softmax=bf16"),
      ChangedRecipe("softmax_in_f16", "the softmax is computed in f16", "softmax=f16"),
      ChangedRecipe("scores_in_bf16", "scores are kept in bf16 whatever the dtype", "score=bf16"),
      ChangedRecipe("scores_in_f16", "scores are kept in f16 whatever the dtype", "score=f16"),
      ChangedRecipe("dot_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("weights_in_bf16", "weights are kept in bf16 whatever the dtype", "weigh=bf16"),
  };
}

std::vector<Defect> AttentionDefects() {
  return Joined<Defect>(
      {MaskDefects(),
       ScaleDefects(),
       InputDefects(),
       AttentionRecipeDefects(),
       {ChangedRecipe("cap_in_bf16", "the soft cap is computed in bf16", "cap=bf16")}});
}

std::vector<NamedMutation<AttentionMutation>> AttentionMutations() {
  using M = AttentionMutation;
  return {
      {"key_heads_tiled",
       "head h reads key head h mod K, not floor(h / (H/K)) (onnx/onnx@062ee9228)",
       M::kKeyHeadsTiled},
      {"value_heads_tiled", "the same of the values alone", M::kValueHeadsTiled},
      {"self_masked", "a query does not see its own key (t < i)", M::kSelfMasked},
      {"next_leaked", "a query sees the next key too (t <= i + 1)", M::kNextLeaked},
      {"aligned_by_capacity", "queries are the last of the cache's room, not of its tokens",
       M::kByCaseLength},
      {"chunk_by_query", "chunks are counted without what is cached", M::kChunkByQuery},
      {"cap_after_mask", "masked scores become -c, not -infinity (onnx/onnx@fe30560bd)",
       M::kCapAfterMask},
      {"cap_after_largest", "c tanh((score - largest) / c) (google/gemma.cpp@2a0e6ee)",
       M::kCapAfterMax},
      {"cap_not_in_first_tile", "the first tile is not capped (google/gemma.cpp@4974f24)",
       M::kCapNotInFirstTile},
      {"cap_before_scale", "scores are capped before they are scaled", M::kCapBeforeScale},
      {"cap_not_scaled_back", "tanh(score / c), not times c", M::kCapNotScaledBack},
      {"finite_mask", "what is masked has the score -1e4, which scores reach (ahrefs/ocannl#548)",
       M::kFiniteMask},
      {"empty_rows_mean",
       "with a finite number for -infinity a row without keys is the mean of "
       "all values",
       M::kMeanOfEmpty},
      {"empty_lse_positive", "lse of no keys is +infinity (flash-attention)", M::kEmptyLsePositive},
      {"softmax_over_queries", "the softmax goes over the wrong axis", M::kOverQueries},
      {"softmax_missing", "the scores weigh as they are", M::kNoSoftmax},
      {"padded_lanes_count",
       "lanes beyond the last key count with score 0 "
       "(google/gemma.cpp@542ad09)",
       M::kPaddedLanes},
      {"not_rescaled", "tiles are added up although the largest score rose", M::kNoRescale},
      {"sum_not_rescaled", "the sum of the weights is not rescaled, y is", M::kSumNotRescaled},
      {"last_tile_lost", "keys beyond whole tiles are not read", M::kLastTileLost},
      {"lse_base_2", "lse is to base 2 (FlashInfer)", M::kLseBase2},
      {"lse_less_largest", "lse lacks the largest score", M::kLseLessLargest},
  };
}

}  // namespace sextant::oracle
