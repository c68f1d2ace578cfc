#include "reference/attention/rope_attention.h"

#include <algorithm>

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/attention_parts.h"
#include "oracle/attention/attention_properties.h"
#include "oracle/attention/measured/attention.h"
#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "reference/rope/rope_rotated.h"

namespace sextant::oracle {
namespace {

enum class RotationMutation { kNone, kValues, kKeysTwice, kKeysBack, kKeysOfShorter };

struct MutatedRopeAttention : RopeAttention {
  AttentionMutation mutation{};
  RotationMutation rotation = RotationMutation::kNone;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<double>& position_q, const Tensor<double>& position_k,
                  Tensor<Real>& y, Tensor<Real>& lse) const {
    RopeAttributes of_keys = *this;
    if (rotation == RotationMutation::kKeysBack) {
      of_keys.direction =
          direction == Direction::kForward ? Direction::kTranspose : Direction::kForward;
    }
    if (rotation == RotationMutation::kKeysOfShorter && seq_len)
      of_keys.seq_len = std::max<int64_t>(1, *seq_len / 2);
    const Tensor<Real> query = Rotated(*this, q, position_q);
    Tensor<Real> key = Rotated(of_keys, k, position_k), value = v;
    if (rotation == RotationMutation::kKeysTwice)
      key = Rotated(of_keys, Tensor<Real>(key), position_k);
    if (rotation == RotationMutation::kValues && v.shape == k.shape)
      value = Rotated(*this, v, position_k);
    AttendMutated<Real>(mutation, *this, {.q = query, .k = key, .v = value}, y, lse);
  }
};

struct RopeAttentionByParts : RopeAttention {
  MeasuredParts parts;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<double>& position_q, const Tensor<double>& position_k,
                  Tensor<Real>& y, Tensor<Real>& lse) const {
    Tensor<Real> query = q, key = k, value = v;
    GatherHeads(parts, query, key, value);
    query = Rotated(*this, Tensor<Real>(query), position_q);
    key = Rotated(*this, Tensor<Real>(key), position_k);
    AttendGathered<Real>(parts, *this, {.q = query, .k = key, .v = value}, y, lse);
  }
};

std::vector<Defect> RotationDefects() {
  return MutatedFormulas<MutatedRopeAttention, &MutatedRopeAttention::rotation>({
      {"values_rotated", "values are rotated too", RotationMutation::kValues},
      {"keys_rotated_twice", "cached keys, which are already rotated, are rotated again",
       RotationMutation::kKeysTwice},
      {"keys_of_shorter_sequence",
       "cached keys are rotated by the frequencies of half the sequence length, "
       "queries by those of the full length (huggingface/transformers#25104)",
       RotationMutation::kKeysOfShorter},
      {"keys_rotated_back", "keys are rotated in the other direction", RotationMutation::kKeysBack},
  });
}

std::vector<Defect> RotationInputDefects() {
  return {
      MissingInput("queries_not_rotated",
                   "queries are rotated as if at position 0 (Blaizzy/mlx-vlm#1983)", "position_q"),
      MissingInput("keys_not_rotated", "keys in the cache are not rotated", "position_k"),
      CountedInput("queries_counted_from_zero",
                   "new queries are counted from 0 although keys are cached", "position_q"),
      CountedInput("keys_counted_from_zero",
                   "keys are counted from the start of the cache although some were evicted",
                   "position_k"),
      ShiftedInput("queries_one_late",
                   "the sequence length after appending is used as the position of the query "
                   "(fla-org/flash-linear-attention#766)",
                   "position_q", 1),
      ClampedInput("negative_queries_clamped", "negative positions of queries are replaced by 0",
                   "position_q"),
      ClampedInput("negative_keys_clamped", "negative positions of keys are replaced by 0",
                   "position_k"),
      ChangedInputs("positions_of_first_batch", "every batch uses the positions of the first one",
                    [](const Case& c, Tensors& inputs) {
                      for (const char* name : {"position_q", "position_k"}) {
                        auto& p = InputNamed(inputs, name);
                        for (size_t i = 0; i < p.data.size(); ++i) {
                          p.data[i] = p.data[i % p.shape[1]];
                        }
                      }
                      return ExtentOf(c, "B") > 1;
                    }),
  };
}

std::vector<Defect> RotationPrecisionDefects() {
  return {
      ChangedRecipe("table_in_bf16", "cos and sin are stored in bf16 for every dtype",
                    "table=bf16"),
      ChangedRecipe("angle_in_bf16", "angles are computed in bf16", "angle=bf16"),
      ChangedRecipe("rotated_in_bf16", "rotated queries and keys are stored in bf16", "keep=bf16"),
  };
}

// Only the differences of positions matter.
Comparisons CheckTranslation(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors later = inputs;
  for (const char* name : {"position_q", "position_k"}) {
    for (double& p : InputNamed(later, name).data) p += 7;
  }
  Comparisons comparisons;
  ExpectEqualVisible(c, ask(c, inputs), ask(c, later), comparisons);
  return comparisons;
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeAttention>() {
  std::vector<Property> properties = AttentionProperties();
  // Equal keys at different positions are rotated differently.
  std::erase_if(properties, [](const Property& property) {
    return property.name == "constant_scores_do_not_count";
  });
  properties.push_back({"translation_invariant",
                        "shifting all positions by the same distance changes nothing",
                        CheckTranslation});
  return {.properties = std::move(properties),
          .defects = Joined<Defect>({MutatedFormulas<MutatedRopeAttention>(AttentionMutations()),
                                     RotationDefects(), RotationInputDefects(),
                                     RotationPrecisionDefects(), AttentionDefects()}),
          .measurements = {MeasureAttention<RopeAttentionByParts>}};
}

}  // namespace sextant::oracle
