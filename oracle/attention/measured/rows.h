// Attention with measured parts: keys and heads, scores, the sum of the weights, values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/diagnosis/vocabulary/few_bits.h"
#include "reference/attention/attention_rows.h"

namespace sextant::oracle {

// A number of each query of each head; of each of its keys.
using OfQuery = std::function<double(size_t b, size_t h, size_t s)>;
using OfKey = std::function<double(size_t b, size_t h, size_t s, size_t t)>;

struct MeasuredParts {
  OfKey counts;  // how often a key counts: 0 if it is not seen, usually 1; null: by the mask
  // The key and value head of every query head; empty: those of the formula.
  std::vector<size_t> key_heads, value_heads;
  // Row h of y is that of this query head (and of its key and value heads above); empty: h.
  std::vector<size_t> query_heads;
  std::shared_ptr<const Tensors> inputs;  // of the whole case: a slice has only its own heads

  std::vector<double> score_factors;   // of every head, before the cap; empty: 1
  OfKey factors;                       // of the scores of keys, before the cap; null: 1
  OfKey added;                         // to the scores, after the cap; null: 0
  bool cap_clips = false;              // scores beyond the cap are cut off
  std::optional<double> masked_score;  // of keys that the mask hides
  bool masked_adds = false;            // that number is added to their scores
  bool largest_alone = false;          // only the key with the largest score counts
  // Scores are relative to the largest one up to the end of their tile of so many keys: sums of
  // earlier tiles are not rescaled. 0: to that of all.
  size_t tile = 0;
  double zeros = 0;     // so many terms e^0 are added to the sum of e^score
  double increase = 0;  // is added to the sum of e^(score - largest)
  // What else is added to the sum: e^score of the keys that the mask hides; e^0 for each of them;
  // what the sum has more if those of earlier tiles of `sum_tile` keys are not rescaled; e^score of
  // the keys that the mask shows and that do not count.
  enum class MoreTerms { kNone, kHidden, kZerosOfHidden, kTiles, kLost };
  MoreTerms more_terms = MoreTerms::kNone;
  size_t sum_tile = 0;
  // The score of the sink is relative to the largest score, or to the larger of that and the sink;
  // or it is compared with log2 of the sum instead of its natural logarithm.
  enum class SinkRule { kRight, kFromLargest, kFromLarger, kBase2 };
  SinkRule sink_rule = SinkRule::kRight;
  OfQuery sinks;     // null: the sinks of the heads
  size_t later = 0;  // the weight of key t multiplies the value of key (t + later) mod T
  double gain = 1;   // multiplies y
  // The weights are those of `tile` or are rounded, e^(score - largest) to this format; the sum of
  // the right ones divides them nevertheless.
  bool has_right_sum = false;
  std::optional<FewBits> weight_format;
};

// Attend with these parts. Instantiated for Counted and Rounded.
template <class Real>
void AttendMeasured(const MeasuredParts& parts, const AttentionAttributes& op,
                    const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse);

// The heads that all query heads of a slice read, each its own: they replace those of q, k and v if
// the parts have other heads.
template <class Real>
void GatherHeads(const MeasuredParts& parts, Tensor<Real>& q, Tensor<Real>& k, Tensor<Real>& v);

// Attend with these parts, where q, k and v have these heads.
template <class Real>
void AttendGathered(const MeasuredParts& parts, const AttentionAttributes& op,
                    const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse);

// The scores [B,H,S,T] with these parts, of attention without values.
template <class Real>
void ScoreMeasured(const MeasuredParts& parts, const AttentionAttributes& op, const Tensor<Real>& q,
                   const Tensor<Real>& k, Tensor<Real>& scores);

// Changes the parts of an operation that computes with them.
using EditParts = std::function<void(MeasuredParts&)>;
using WithParts =
    std::function<std::shared_ptr<const Operation>(const Operation&, const EditParts&)>;
// ByParts is an operation with the member `parts`.
template <class ByParts>
WithParts WithPartsOf() {
  return [](const Operation& operation, const EditParts& edit) {
    ByParts changed = dynamic_cast<const TypedOperation<ByParts>&>(operation).op();
    edit(changed.parts);
    return std::make_shared<Wrapped<ByParts, false>>(changed);
  };
}

}  // namespace sextant::oracle
