#include "oracle/attention/measured/rows.h"

#include <cmath>
#include <optional>

namespace sextant::oracle {
namespace {

template <class Real>
class MeasuredRows : public AttentionRows<Real> {
 public:
  MeasuredRows(const MeasuredParts& parts, const AttentionAttributes& op,
               const AttentionTensors<Real>& in)
      : Formula(op, in), parts_(parts), first_b_(SliceBegin("B")), first_s_(SliceBegin("S")) {}

 private:
  using Formula = AttentionRows<Real>;
  using Formula::in_;
  using typename Formula::ScoredKeys;

  double CountOf(const QueryIndex& at, size_t t) const {
    return parts_.counts(first_b_ + at.b, first_s_ + at.s, t);
  }
  KeyRange KeysOf(const QueryIndex& at) const override {
    if (!parts_.counts) return Formula::KeysOf(at);
    size_t first = 0, last = in_.k.shape[2];
    while (first < last && CountOf(at, first) == 0) ++first;
    while (first < last && CountOf(at, last - 1) == 0) --last;
    return first < last ? KeyRange{first, last} : KeyRange{};
  }
  // Gathered keys and values have a head for each query head.
  size_t KeyHeadOf(size_t h) const override { return parts_.inputs ? h : Formula::KeyHeadOf(h); }

  ScoredKeys Scored(const QueryIndex& at, const KeyRange& keys) override {
    const ScoredKeys all = Formula::Scored(at, keys);
    if (!parts_.counts) return all;
    ScoredKeys seen;
    for (size_t j = 0; j < all.keys.size(); ++j) {
      const double count = CountOf(at, all.keys[j]);
      if (count == 0) continue;
      seen.keys.push_back(all.keys[j]);
      seen.scores.push_back(count == 1 ? all.scores[j] : all.scores[j] + Real(std::log(count)));
    }
    return seen;
  }

  const MeasuredParts& parts_;
  const size_t first_b_, first_s_;
};

// The rows of a tensor [B,K,T,D] that the query heads of this slice read, as [B,H,T,D].
template <class Real>
Tensor<Real> Gathered(const NamedTensor& from, const std::vector<size_t>& heads, size_t B,
                      size_t H) {
  const Shape& shape = from.values.shape;
  const size_t K = shape[1], size = shape[2] * shape[3];
  Tensor<Real> to;
  to.shape = {B, H, shape[2], shape[3]};
  to.data.clear();
  for (size_t i = 0; i < B * H; ++i) {
    const size_t b = SliceBegin("B") + i / H, head = heads[SliceBegin("H") + i % H];
    for (size_t j = 0; j < size; ++j)
      to.data.emplace_back(from.values.data[(b * K + head) * size + j], from.dtype);
  }
  return to;
}

}  // namespace

template <class Real>
void AttendMeasured(const MeasuredParts& parts, const AttentionAttributes& op,
                    const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse) {
  if (!parts.inputs) return MeasuredRows<Real>(parts, op, in).Answer(y, lse);
  const size_t B = in.q.shape[0], H = in.q.shape[1];
  const auto k = Gathered<Real>((*parts.inputs)[1], parts.key_heads, B, H);
  const auto v = Gathered<Real>((*parts.inputs)[2], parts.value_heads, B, H);
  const AttentionTensors<Real> gathered{
      .q = in.q, .k = k, .v = v, .bias = in.bias, .sink = in.sink, .scale_bias = in.scale_bias};
  MeasuredRows<Real>(parts, op, gathered).Answer(y, lse);
}

template void AttendMeasured(const MeasuredParts&, const AttentionAttributes&,
                             const AttentionTensors<Counted>&, Tensor<Counted>&, Tensor<Counted>&);
template void AttendMeasured(const MeasuredParts&, const AttentionAttributes&,
                             const AttentionTensors<Rounded>&, Tensor<Rounded>&, Tensor<Rounded>&);

}  // namespace sextant::oracle
