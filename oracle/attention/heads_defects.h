// Defects of operations with multi-head attention and the inputs wq, bq, wk, bk, wv, bv, wo, bo:
// mutations of the formula, and wrong inputs.
#pragma once

#include <string>
#include <vector>

#include "oracle/defect/defect.h"
#include "reference/attention/attention_rows.h"
#include "reference/attention/multi_head.h"

namespace sextant::oracle {

enum class HeadsMutation {
  kNone,
  kHeadsNotTransposed,      // the memory of [H,S,D] is read as [S,H*D]
  kHeadsNotTransposedBack,  // the memory of [S,H*D] is read as [H,S,D]
  kInterleaved,             // head h has columns h, H + h, 2H + h ...
  kKeyHeadsTiled,           // query head h reads key head h mod K
  kFirstKeyHead,            // all query heads read the first key head
  kScaleMissing,            // scores are not scaled
  kScaleOfAllHeads,         // scores are divided by sqrt(H*D)
  kScaleByWidth,            // scores are divided by D
  kScaledTwice,             // queries are scaled, and scores again
  kSoftmaxOverQueries,
  kSoftmaxMissing,
  kMaskAhead,          // a query sees itself and later keys
  kSelfMasked,         // a query does not see itself
  kMaskFromTheEnd,     // the last query has the index of the last key that is not padding
  kOnlyItself,         // a token sees only itself
  kPaddingOnly,        // only padding is read
  kBiasWithEveryHead,  // bo is added H times
  kMeanOfEmpty,        // a query that sees no key gets the mean of all values
  kOneHead,            // one softmax over the products of all heads
};

// Mutations of every multi-head attention, and those of self-attention only.
std::vector<NamedMutation<HeadsMutation>> HeadsMutations();
std::vector<NamedMutation<HeadsMutation>> MaskMutations();

// Missing biases, transposed and exchanged weights.
std::vector<Defect> HeadsInputDefects();
Defect MissingBias(const std::string& bias);
Defect TransposedWeight(const std::string& weight);  // its memory is read as [in,out]
// Steps and intermediates in a too narrow format.
std::vector<Defect> HeadsRecipeDefects();

// The tensors that are projected to queries, keys and values.
template <class Real>
struct Sequences {
  const Tensor<Real>&queries, &keys, &values;
};

// Multi-head attention with one mutation. The arguments of the constructor must outlive it.
template <class Real>
class MutatedHeads {
 public:
  MutatedHeads(HeadsMutation mutation, const Attention& attention, const Sequences<Real>& sequences,
               const MultiHeadWeights<Real>& w)
      : mutation_(mutation), attention_(attention), sequences_(sequences), w_(w) {}

  // Returns attention_out [S,M] and stores the intermediates in `out`.
  Tensor<Real> Answer(const MultiHeadTensors<Real>& out) const {
    const size_t H = Extent(attention_.H), K = Extent(attention_.K);
    const Tensor<Real> q =
        IntermediateAs(SplitHeads(Projected(sequences_.queries, w_.wq, w_.bq), H), out.q);
    const Tensor<Real> k =
        IntermediateAs(SplitHeads(Projected(sequences_.keys, w_.wk, w_.bk), K), out.k);
    const Tensor<Real> v =
        IntermediateAs(SplitHeads(Projected(sequences_.values, w_.wv, w_.bv), K), out.v);
    Tensor<Real> mean(q.shape);
    const size_t D = q.shape[3];
    for (size_t h = 0; h < H; ++h) {
      const Scored scored = ScoresOf(q, k, h);
      for (size_t s = 0; s < q.shape[2]; ++s) {
        for (size_t d = 0; d < D; ++d) mean(0, h, s, d) = Mean(scored, s, v, KeyHead(h), d);
      }
    }
    out.mean = MergeHeads(mean);
    Tensor<Real> y = Projected(Intermediate(out.mean), w_.wo, w_.bo);
    if (Is(HeadsMutation::kBiasWithEveryHead)) {
      const ScopedStep at(Step::kBias);
      for (size_t i = 0; i < y.data.size(); ++i) {
        for (size_t more = 1; more < H; ++more) y.data[i] = y.data[i] + w_.bo(i % y.shape[1]);
      }
    }
    return y;
  }

 private:
  // The scores of a head, and the keys that each query sees.
  struct Scored {
    std::vector<std::vector<Real>> scores;  // one for every key in `keys`
    std::vector<KeyRange> keys;
  };

  bool Is(HeadsMutation mutation) const { return mutation_ == mutation; }
  static size_t Extent(const Dimension& dimension) { return static_cast<size_t>(dimension.value); }

  size_t KeyHead(size_t h) const {
    if (Is(HeadsMutation::kFirstKeyHead)) return 0;
    if (Is(HeadsMutation::kKeyHeadsTiled)) return h % Extent(attention_.K);
    return attention_.KeyHeadOf(h);
  }
  // The column of channel d of head h in [S,heads*D].
  size_t Column(size_t h, size_t d, size_t heads, size_t D) const {
    return Is(HeadsMutation::kInterleaved) ? d * heads + h : h * D + d;
  }
  // [S,heads*D] as [1,heads,S,D].
  Tensor<Real> SplitHeads(const Tensor<Real>& x, size_t heads) const {
    const size_t S = x.shape[0], D = heads == 0 ? 0 : x.shape[1] / heads;
    Tensor<Real> y({1, heads, S, D});
    if (Is(HeadsMutation::kHeadsNotTransposedBack)) {
      y.data = x.data;
      return y;
    }
    for (size_t h = 0; h < heads; ++h) {
      for (size_t s = 0; s < S; ++s) {
        for (size_t d = 0; d < D; ++d) y(0, h, s, d) = x(s, Column(h, d, heads, D));
      }
    }
    return y;
  }
  // [1,H,S,D] as [S,H*D].
  Tensor<Real> MergeHeads(const Tensor<Real>& x) const {
    const size_t H = x.shape[1], S = x.shape[2], D = x.shape[3];
    Tensor<Real> y({S, H * D});
    if (Is(HeadsMutation::kHeadsNotTransposed)) {
      y.data = x.data;
      return y;
    }
    for (size_t h = 0; h < H; ++h) {
      for (size_t s = 0; s < S; ++s) {
        for (size_t d = 0; d < D; ++d) y(s, Column(h, d, H, D)) = x(0, h, s, d);
      }
    }
    return y;
  }

  KeyRange Keys(size_t s) const {
    if (Is(HeadsMutation::kOnlyItself)) return {s, s + 1};
    if (Is(HeadsMutation::kPaddingOnly) && attention_.key_length) {
      const auto read = static_cast<size_t>((*attention_.key_length)[0]);
      if (read < Extent(attention_.T)) return {read, Extent(attention_.T)};
    }
    if (attention_.mask != Mask::kCausal) return attention_.KeysOf(0, s);
    Attention other = attention_;
    if (Is(HeadsMutation::kMaskFromTheEnd)) other.align = Align::kBottomRight;
    const KeyRange keys = other.KeysOf(0, s);
    const bool sees_itself = keys.last == s + 1;  // unless it is padding
    if (Is(HeadsMutation::kSelfMasked) && sees_itself && s > 0) return {keys.first, s};
    other.mask = Mask::kNone;
    const KeyRange all = other.KeysOf(0, s);
    if (Is(HeadsMutation::kMaskAhead) && s < all.last) return {s, all.last};
    return keys;
  }

  Scored ScoresOf(const Tensor<Real>& q, const Tensor<Real>& k, size_t h) const {
    const size_t D = q.shape[3], S = q.shape[2], H = q.shape[1];
    Attention attributes = attention_;
    if (Is(HeadsMutation::kScaleMissing)) attributes.scale = 1;
    if (Is(HeadsMutation::kScaleByWidth) && !attributes.scale)
      attributes.scale = 1 / static_cast<double>(D);
    const ScoreFunction<Real> score_function(attributes,
                                             Is(HeadsMutation::kScaleOfAllHeads) ? H * D : D);
    const ScoreScale<Real> again(attributes.scale, D);
    const auto product = [&](size_t head, size_t s, size_t t) {
      return Dot(RowAt(q, head * S + s), RowAt(k, KeyHead(head) * k.shape[2] + t));
    };
    Scored scored;
    for (size_t s = 0; s < S; ++s) {
      scored.keys.push_back(Keys(s));
      auto& row = scored.scores.emplace_back();
      for (size_t t = scored.keys[s].first; t < scored.keys[s].last; ++t) {
        std::vector<Real> products = {product(h, s, t)};
        for (size_t other = 0; Is(HeadsMutation::kOneHead) && other < H; ++other) {
          if (other != h) products.push_back(product(other, s, t));
        }
        Real sum;
        {
          const ScopedStep at(Step::kDot);
          sum = SumOf(products);
        }
        row.push_back(score_function(Is(HeadsMutation::kScaledTwice) ? again(sum) : sum));
      }
    }
    return scored;
  }

  // Channel d of the result for a query that sees no key.
  Real EmptyMean(const Tensor<Real>& v, size_t head, size_t d) const {
    if (attention_.empty_rows == EmptyRows::kUnspecified) return Real();
    Real mean(0.0);
    const size_t count = Is(HeadsMutation::kMeanOfEmpty) ? v.shape[2] : 0;
    for (size_t t = 0; t < count; ++t)
      mean = mean + v(0, head, t, d) / Real(static_cast<double>(count));
    return mean;
  }

  // The weighted mean of channel d of the values for query s.
  Real Mean(const Scored& scored, size_t s, const Tensor<Real>& v, size_t head, size_t d) const {
    const KeyRange& keys = scored.keys[s];
    if (keys.IsEmpty()) return EmptyMean(v, head, d);
    std::vector<Real> values, weights;
    for (size_t t = keys.first; t < keys.last; ++t) values.push_back(v(0, head, t, d));
    if (Is(HeadsMutation::kSoftmaxMissing)) return Dot<Real>(scored.scores[s], values);
    if (!Is(HeadsMutation::kSoftmaxOverQueries))
      return SoftmaxRow<Real>(scored.scores[s]).Mean(values);
    for (size_t t = keys.first; t < keys.last; ++t) {
      std::vector<Real> column;
      size_t own = 0;
      for (size_t other = 0; other < scored.keys.size(); ++other) {
        const KeyRange& seen = scored.keys[other];
        if (t < seen.first || t >= seen.last) continue;
        if (other == s) own = column.size();
        column.push_back(scored.scores[other][t - seen.first]);
      }
      weights.push_back(SoftmaxRow<Real>(column).weights()[own]);
    }
    return Dot<Real>(weights, values);
  }

  HeadsMutation mutation_;
  const Attention& attention_;
  const Sequences<Real>& sequences_;
  const MultiHeadWeights<Real>& w_;
};

}  // namespace sextant::oracle
