#include "fast/block/decoder_block.h"

#include <algorithm>

#include "fast/attention/attend.h"
#include "fast/attention/multi_head.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/add.h"
#include "fast/layer/gated.h"
#include "fast/layer/linear.h"
#include "fast/layer/rms_norm.h"
#include "fast/rope/rope.h"
#include "reference/block/decoder_block.h"

namespace sextant::fast {
namespace {

// The steps of one block. Each returns a new array.
template <Element T>
class BlockParts {
 public:
  BlockParts(const DecoderBlockAttributes& op, const BlockExtents& n) : op_(op), n_(n) {}

  // [S,from] -> [S,to]
  std::vector<T> Projected(std::span<const T> x, std::span<const T> weight, size_t from,
                           size_t to) const {
    std::vector<T> y(n_.S * to);
    ApplyLinear<T>({.N = n_.S, .F = to, .K = from}, x.data(), weight.data(), nullptr, y.data());
    return y;
  }

  std::vector<T> Normed(std::span<const T> x, std::span<const Computed<T>> weight) const {
    std::vector<T> y(x.size());
    Normalize(x.data(), weight, y.data(), x.size() / std::max<size_t>(1, weight.size()),
              weight.size());
    return y;
  }

  // Queries or keys [S,heads*D], normalised per head, over all heads, or not at all.
  std::vector<T> QkNormed(std::vector<T> x,
                          const std::optional<std::span<const Computed<T>>>& weight) const {
    if (op_.qk_norm == QkNorm::kFull) return Normed(x, *weight);
    if (!op_.qk_norm || n_.D == 0) return x;
    std::vector<T> y(x.size());
    for (size_t first = 0; first < weight->size(); first += n_.D) {
      Normalize(x.data() + first, weight->subspan(first, n_.D), y.data() + first, n_.S,
                weight->size());
    }
    return y;
  }

  // [S,heads*D] -> [heads,S,D], rotated.
  std::vector<T> Rotated(const std::vector<T>& x, size_t heads, const Tensor<double>& position) {
    const Rotation r{.B = 1,
                     .H = heads,
                     .S = n_.S,
                     .D = n_.D,
                     .R = static_cast<size_t>(op_.R.value),
                     .offset = static_cast<size_t>(op_.offset),
                     .pairing = op_.pairing,
                     .direction = op_.direction};
    if (cosine_.empty()) {
      const Frequencies f = ScaledFrequencies(op_.Frequencies());
      cosine_.resize(n_.S * r.R / 2);
      sine_.resize(cosine_.size());
      FillTable<Computed<T>>(position.data, f.of_pair, f.amplitude, cosine_.data(), sine_.data());
    }
    std::vector<T> y(x.size());
    const auto width = static_cast<ptrdiff_t>(n_.D), row = static_cast<ptrdiff_t>(heads) * width;
    Rotate<T, Computed<T>>(r, {x.data(), 0, width, row},
                           DenseTable(r, cosine_.data(), sine_.data()), Dense(r, y.data()));
    return y;
  }

  // [A,B,D] -> [B,A,D]
  std::vector<T> Exchanged(size_t A, size_t B, const std::vector<T>& x) const {
    std::vector<T> y(x.size());
    ExchangeAxes(A, B, n_.D, x.data(), y.data());
    return y;
  }

  std::vector<T> Attended(const std::vector<T>& q, const std::vector<T>& k,
                          const std::vector<T>& v) const {
    const Attention attention = op_.MakeAttention();
    AttendInputs<T> in;
    in.attributes = &attention;
    in.D = in.E = n_.D;
    in.q = q.data();
    in.k = k.data();
    in.v = v.data();
    in.scale = ScaleOf(attention, n_.D);
    std::vector<T> y(q.size());
    std::vector<Computed<T>> lse(n_.H * n_.S);
    Attend(in, y.data(), lse.data());
    return y;
  }

  std::vector<T> Sum(std::span<const T> a, std::span<const T> b, const T* c = nullptr) const {
    std::vector<T> y(a.size());
    Add<T>(a.size(), a.data(), b.data(), c, y.data());
    return y;
  }

 private:
  void Normalize(const T* x, std::span<const Computed<T>> weight, T* y, size_t rows,
                 size_t step) const {
    const auto row = static_cast<ptrdiff_t>(step);
    NormalizeRows<T>({.N = rows,
                      .M = weight.size(),
                      .x_row = row,
                      .y_row = row,
                      .eps = op_.eps,
                      .unit_offset = op_.unit_offset},
                     x, weight.data(), y);
  }

  const DecoderBlockAttributes& op_;
  BlockExtents n_;
  std::vector<Computed<T>> cosine_, sine_;
};

}  // namespace

BlockExtents BlockExtentsOf(const Case& c) {
  return {.S = ExtentOf(c, "S"),
          .M = ExtentOf(c, "M"),
          .H = ExtentOf(c, "H"),
          .K = ExtentOf(c, "K"),
          .D = ExtentOf(c, "D"),
          .F = ExtentOf(c, "F")};
}

template <Element T>
BlockOutputs<T> RunBlock(const DecoderBlockAttributes& op, const BlockExtents& n,
                         std::span<const T> x, const Tensor<double>& position,
                         const BlockWeights<T>& w) {
  const bool branch = op.placement == Placement::kBranch;
  const bool sandwich = op.placement == Placement::kSandwich;
  const bool parallel = op.placement == Placement::kParallel;
  BlockParts<T> parts(op, n);
  BlockOutputs<T> out;
  out.normed = branch ? std::vector<T>(x.begin(), x.end()) : parts.Normed(x, w.attn_norm);
  const auto queries = parts.Projected(out.normed, w.wq, n.M, n.H * n.D);
  const auto keys = parts.Projected(out.normed, w.wk, n.M, n.K * n.D);
  const auto values = parts.Projected(out.normed, w.wv, n.M, n.K * n.D);
  out.q_rotated = parts.Rotated(parts.QkNormed(queries, w.q_norm), n.H, position);
  out.k_rotated = parts.Rotated(parts.QkNormed(keys, w.k_norm), n.K, position);
  const auto mean = parts.Attended(out.q_rotated, out.k_rotated, parts.Exchanged(n.S, n.K, values));
  out.attention_out = parts.Projected(parts.Exchanged(n.H, n.S, mean), w.wo, n.H * n.D, n.M);
  const std::vector<T> attended = branch     ? parts.Normed(out.attention_out, w.attn_norm)
                                  : sandwich ? parts.Normed(out.attention_out, *w.attn_post_norm)
                                             : out.attention_out;
  out.middle = parts.Sum(x, attended);

  const std::vector<T> before = parallel ? std::vector<T>(x.begin(), x.end()) : out.middle;
  const std::vector<T> read = branch ? before : parts.Normed(before, w.mlp_norm);
  const auto gate = parts.Projected(read, w.gate, n.M, n.F);
  const auto up = parts.Projected(read, w.up, n.M, n.F);
  out.hidden.resize(gate.size());
  const auto row = static_cast<ptrdiff_t>(n.F);
  Gate<T>({.N = n.S, .F = n.F, .gate_row = row, .up_row = row, .y_row = row, .kind = op.kind},
          gate.data(), up.data(), out.hidden.data());
  std::vector<T> fed = parts.Projected(out.hidden, w.down, n.F, n.M);
  if (branch) fed = parts.Normed(fed, w.mlp_norm);
  if (sandwich) fed = parts.Normed(fed, *w.mlp_post_norm);
  out.y = parallel ? parts.Sum(x, attended, fed.data()) : parts.Sum(out.middle, fed);
  return out;
}

template BlockOutputs<double> RunBlock(const DecoderBlockAttributes&, const BlockExtents&,
                                       std::span<const double>, const Tensor<double>&,
                                       const BlockWeights<double>&);
template BlockOutputs<float> RunBlock(const DecoderBlockAttributes&, const BlockExtents&,
                                      std::span<const float>, const Tensor<double>&,
                                      const BlockWeights<float>&);
template BlockOutputs<F16> RunBlock(const DecoderBlockAttributes&, const BlockExtents&,
                                    std::span<const F16>, const Tensor<double>&,
                                    const BlockWeights<F16>&);
template BlockOutputs<BF16> RunBlock(const DecoderBlockAttributes&, const BlockExtents&,
                                     std::span<const BF16>, const Tensor<double>&,
                                     const BlockWeights<BF16>&);

namespace {

StoredTensors RunDecoderBlock(const Case& c, const StoredTensors& inputs) {
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    BlockOutputs<T> block = RunBlock<T>(
        StructOf<DecoderBlock>(c), BlockExtentsOf(c), Elements<T>(inputs, "x").all(),
        ValuesOf(*FindInput(inputs, "position")), NamedElements<BlockWeights<T>>(inputs));
    block.Visit([&](const char* name, const std::vector<T>& values) {
      CopyTo(*std::ranges::find(outputs, name, &StoredTensor::name), values);
    });
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<DecoderBlock>() {
  return {DeclinesMixedTypes, RunDecoderBlock};
}

}  // namespace sextant::fast
