// Measurements of rotations by given tables of cos and sin: layout, sums, direction and gain.
#include <algorithm>
#include <cmath>

#include "oracle/rope/measured/measured_op.h"
#include "oracle/rope/measured/rotation.h"
#include "reference/rope/rope_rotate.h"

namespace sextant::oracle {
namespace {

struct MeasuredRotate : RopeRotate {
  RotaryModel model;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& cos, const Tensor<Real>& sin,
                  Tensor<Real>& y) const {
    PairTables<Real> tables{cos, sin};
    const ScopedStep at(Step::kRotate);
    for (Real& c : tables.cos.data) {
      if (model.gain != 1) c = c * Real(model.gain);
    }
    for (Real& s : tables.sin.data) {
      if (model.gain != 1) s = s * Real(model.gain);
      if (!model.forward) s = -s;
    }
    Rotate(model, tables, x, y);
  }
};

// Pairs without frequencies.
RotaryModel RightModelOf(const RopeRotate& op) {
  RotaryModel model;
  model.forward = op.direction == Direction::kForward;
  model.amplitude_power = 0;
  for (int64_t k = 0; k < op.R.value / 2; ++k) {
    const auto width = static_cast<size_t>(op.R.value), start = static_cast<size_t>(op.offset);
    const auto [i, j] = ChannelsOf(op.pairing, static_cast<size_t>(k), width);
    model.read.push_back({start + i, start + j});
  }
  model.written = model.read;
  return model;
}

// The gains for which all pairs turn by the tables; `backwards`: in the other direction. Empty if
// there is none.
LongRange GainOfTables(const Observation& seen, const PairFits& fits,
                       const std::vector<size_t>& token_of, bool backwards) {
  LongRange gain{0};
  for (size_t t = 0; t < fits.tokens; ++t) {
    for (size_t k = 0; k < fits.pairs; ++k) {
      const size_t at = token_of[t] * fits.pairs + k;
      const double c = seen.inputs[1].values.data[at], s = seen.inputs[2].values.data[at];
      const Complex right(c, backwards ? -s : s);
      const long double size = std::norm(right);
      if (size == 0 || std::isinf(fits(t, k).bar)) continue;
      const Complex ratio = fits(t, k).z * std::conj(right) / size;
      const long double bar = fits(t, k).bar / std::sqrt(size);
      if (!(std::abs(ratio.imag()) <= bar)) return {1, 0};
      gain.Intersect({ratio.real() - bar, ratio.real() + bar});
    }
  }
  return gain;
}

std::vector<Explanation> ExplainRotate(const Observation& seen) {
  const auto at = std::ranges::find(seen.answer, seen.golden[0].name, &NamedTensor::name);
  if (at == seen.answer.end() || at->values.data.empty()) return {};
  using Model = Wrapped<MeasuredRotate, false>;
  Model operation;
  CopyAttributes(seen.c, operation);
  const RotaryModel right = RightModelOf(operation.op());
  const Tensor<double>& x = seen.inputs[0].values;
  constexpr size_t kTokens = 256, kHeads = 4;
  const RotaryRows rows = RowsOf({x, at->values, &seen.permitted[0].error}, kTokens, kHeads);
  RotationErrors errors(seen.c, seen.recipe, 1);
  std::vector<Explanation> all;
  for (const Layout& layout : PossibleLayouts(right, operation.op().R.value, rows, errors)) {
    if (layout.read.size() != right.read.size()) continue;
    MeasuredRotate measured = operation.op();
    RotaryModel& model = measured.model = right;
    model.read = layout.read;
    model.written = layout.written;
    model.flow = layout.flow;
    std::vector<Part> parts;
    if (!layout.name.empty()) parts.push_back({layout.name, layout.sentence});
    const std::optional<PairFits> fits = FitsOf(rows, model, errors);
    if (!fits) continue;
    LongRange gain = GainOfTables(seen, *fits, rows.token_of, false);
    if (gain.IsEmpty()) {
      gain = GainOfTables(seen, *fits, rows.token_of, true);
      model.forward = !right.forward;
      parts.push_back({"turns_backwards", "all pairs turn in the other direction"});
    }
    if (gain.IsEmpty()) continue;
    if (!gain.Contains(1)) {
      model.gain = SimplestRatioIn(gain);
      parts.push_back({"gain", Phrase("every pair is multiplied by ", model.gain, " in addition")});
    }
    if (parts.empty()) continue;
    all.push_back(ExplanationOf(
        parts, {std::make_shared<Model>(measured), SharedInputs::Of(seen.inputs), seen.recipe}));
  }
  return all;
}

}  // namespace

template <>
std::vector<Measurement> RotationMeasurements<RopeRotate>() {
  return {ExplainRotate};
}

}  // namespace sextant::oracle
