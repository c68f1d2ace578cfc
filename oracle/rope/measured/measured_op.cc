#include "oracle/rope/measured/measured_op.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/rope/measured/rotation.h"

namespace sextant::oracle {
namespace {

// Pairs of one window, with exponents 2k/R, on one axis.
void AddWindow(Pairing pairing, int64_t offset, int64_t R, RotaryModel& model) {
  for (int64_t k = 0; k < R / 2; ++k) {
    const auto [i, j] = ChannelsOf(pairing, static_cast<size_t>(k), static_cast<size_t>(R));
    const auto start = static_cast<size_t>(offset);
    model.read.push_back({start + i, start + j});
    model.pairs.push_back({.k = 2 * k, .n = R, .scaled_as = k});
  }
  model.written = model.read;
}

RotaryModel ModelOf(const RopeAttributes& op) {
  RotaryModel model;
  model.scaling = model.amplitude_of = op.scaling;
  model.setting = op.Setting();
  model.forward = op.direction == Direction::kForward;
  AddWindow(op.pairing, op.offset, op.R.value, model);
  return model;
}

}  // namespace

RotaryModel RightModel(const Rope& op) { return ModelOf(op); }
RotaryModel RightModel(const RopeComplex& op) { return ModelOf(op); }

RotaryModel RightModel(const RopeShift& op) {
  RotaryModel model = ModelOf(op);
  model.amplitude_power = 0;
  return model;
}

RotaryModel RightModel(const RopeSections& op) {
  RotaryModel model = ModelOf(op);
  const std::vector<size_t> axes = op.Axes();
  for (size_t k = 0; k < axes.size(); ++k) model.pairs[k].axis = axes[k];
  return model;
}

RotaryModel RightModel(const RopeAxial& op) {
  RotaryModel model;
  model.setting.base = op.base;
  model.setting.R = op.R.value;
  model.forward = op.direction == Direction::kForward;
  model.amplitude_power = 0;
  model.has_coordinates = true;
  const auto windows = static_cast<int64_t>(op.Windows());
  for (int64_t w = 0; w < windows; ++w) {
    const int64_t width = op.R.value / windows;
    AddWindow(op.pairing, op.offset + w * width, width, model);
  }
  for (size_t k = 0; k < model.pairs.size(); ++k) {
    PairFrequency& pair = model.pairs[k];
    pair.axis = k / op.PairsPerAxis();
    const auto [i, n] = op.FrequencyIndexOf(pair.axis, k % op.PairsPerAxis());
    pair.k = op.frequencies == AxialFrequencies::kLang ? 2 * i : 0;
    pair.n = 2 * n;
    if (op.frequencies != AxialFrequencies::kPixel) continue;
    const double part = n == 1 ? 0 : static_cast<double>(i) / static_cast<double>(n - 1);
    pair.factor = (1 + (op.max_freq / 2 - 1) * part) * std::numbers::pi;
  }
  return model;
}

RotaryModel RightModel(const RopeGiven& op) {
  RotaryModel model;
  model.setting.R = op.R.value;
  model.forward = op.direction == Direction::kForward;
  model.amplitude_power = 0;
  model.gain = op.attention_factor;
  AddWindow(op.pairing, op.offset, op.R.value, model);
  return model;
}

RotaryModel RightModel(const Xpos& op) {
  RotaryModel model = ModelOf(op.Rotary());
  model.amplitude_power = 0;
  model.growth = {.gamma = op.gamma,
                  .scale_base = op.scale_base,
                  .center = static_cast<double>(op.center),
                  .is_of_key = op.role == XposRole::kKey};
  return model;
}

RotaryModel RightModel(const RopeMatrix& op) {
  RotaryModel model;
  model.scaling = model.amplitude_of = op.scaling;
  model.setting = op.Setting();
  AddWindow(op.pairing, 0, op.D.value, model);
  return model;
}

Tensor<double> WithAxes(const Tensor<double>& position, size_t length) {
  const Shape& shape = position.shape;
  if (shape.size() == 3) return position;
  if (shape.size() == 2) return {{shape[0], 1, shape[1]}, position.data};
  Tensor<double> repeated({shape[0], 1, length});
  for (size_t i = 0; i < repeated.data.size(); ++i) repeated.data[i] = position.data[i / length];
  return repeated;
}

namespace {

// Positions [axes, B S] in the shape of the input: [B,S], [B,A,S] or [B].
Tensor<double> InShapeOf(const Tensor<double>& input, const Positions& positions) {
  Tensor<double> changed(input.shape);
  const size_t batch = input.shape[0], axes = input.shape.size() == 3 ? input.shape[1] : 1;
  const size_t length = positions[0].size() / std::max<size_t>(batch, 1);
  const size_t kept = input.shape.size() == 1 ? 1 : length;
  for (size_t i = 0; i < changed.data.size(); ++i) {
    const size_t b = i / (axes * kept), a = i / kept % axes;
    changed.data[i] = positions[a][b * length + i % kept];
  }
  return changed;
}

Positions PositionsIn(const Tensor<double>& with_axes) {
  Positions positions(with_axes.shape[1]);
  for (size_t b = 0; b < with_axes.shape[0]; ++b) {
    for (size_t a = 0; a < positions.size(); ++a) {
      for (size_t s = 0; s < with_axes.shape[2]; ++s) positions[a].push_back(with_axes(b, a, s));
    }
  }
  return positions;
}

// The unit vectors [1,D,S,D], and their images, the columns of matrix [S,D,D].
std::pair<Tensor<double>, Tensor<double>> UnitVectors(const Tensor<double>& matrix) {
  const size_t S = matrix.shape[0], D = matrix.shape[1];
  Tensor<double> x({1, D, S, D}), y(x.shape);
  for (size_t s = 0; s < S; ++s) {
    for (size_t h = 0; h < D; ++h) {
      x(0, h, s, h) = 1;
      for (size_t i = 0; i < D; ++i) y(0, h, s, i) = matrix(s, i, h);
    }
  }
  return {std::move(x), std::move(y)};
}

constexpr size_t kWitnessTokens = 8, kWitnessHeads = 4, kTokens = 4096, kHeads = 2;

// Measures the rows of tensors that must outlive the question.
void MeasureRows(const RotatedTensors& of, RotaryQuestion& question) {
  const Observation& seen = question.seen;
  const RotaryModel& right = question.right;
  const double gain = GainOf(right, seen.c, seen.recipe);
  const auto errors =
      std::make_shared<RotationErrors>(seen.c, seen.recipe, std::max(1.0, gain * gain));
  question.layouts = [=] {
    const RotaryRows rows = RowsOf(of, kWitnessTokens, kWitnessHeads);
    return PossibleLayouts(right, right.setting.R, rows, *errors);
  };
  const auto fits_in = [=](size_t heads, const RotaryModel& model,
                           ChannelSums sums) -> std::optional<TokenFits> {
    const RotaryRows rows = RowsOf(of, kTokens, heads);
    const std::optional<PairFits> fits = FitsOf(rows, model, *errors, sums);
    return fits ? std::optional(TokenFits{*fits, rows.token_of}) : std::nullopt;
  };
  question.fits = [=](const RotaryModel& model) {
    return fits_in(kHeads, model, ChannelSums::kBoth);
  };
  if (of.x.shape[1] < 2) return;  // one sum of one head has two unknown numbers
  question.fits_of_sums = [=](const RotaryModel& model, ChannelSums sums) {
    return fits_in(kWitnessHeads, model, sums);
  };
}

// Integer coordinates may be measured one by one.
void SetCoordinates(const RopeAxial& op, const Tensor<double>& position, RotaryQuestion& question) {
  const auto is_integer = [](double p) { return p == std::floor(p); };
  question.right.has_coordinates = !std::ranges::all_of(position.data, is_integer);
  question.is_configured = op.frequencies == AxialFrequencies::kLang;
}

template <class Op>
std::vector<Explanation> ExplainWith(const Observation& seen, bool x_has_errors) {
  using Model = Wrapped<MeasuredOp<Op>, false>;
  constexpr bool kIsMatrix = std::is_same_v<Op, RopeMatrix>;
  const size_t input = kIsMatrix ? 0 : 1;
  const auto at = std::ranges::find(seen.answer, seen.golden[0].name, &NamedTensor::name);
  if (at == seen.answer.end() || at->values.data.empty()) return {};
  Model right;
  CopyAttributes(seen.c, right);
  std::pair<Tensor<double>, Tensor<double>> unit;
  if constexpr (kIsMatrix) unit = UnitVectors(at->values);
  const Tensor<double>& x = kIsMatrix ? unit.first : seen.inputs[0].values;
  const Tensor<double>& y = kIsMatrix ? unit.second : at->values;
  Tensor<double> position = seen.inputs[input].values;
  if (kIsMatrix) position.shape.insert(position.shape.begin(), 1);
  const bool is_given = seen.inputs.size() > 2;
  RotaryQuestion question{.seen = seen,
                          .right = RightModel(right.op()),
                          .positions = PositionsIn(WithAxes(position, x.shape[2])),
                          .length = x.shape[2],
                          .heads = kIsMatrix ? 1 : x.shape[1],
                          .is_configured = !is_given,
                          .given = is_given ? &seen.inputs[2].values : nullptr,
                          .is_whole_answer = !x_has_errors,
                          .layouts = {},
                          .fits = {},
                          .fits_of_sums = {},
                          .hypothesis = {}};
  if constexpr (std::is_same_v<Op, RopeAxial>) SetCoordinates(right.op(), position, question);
  MeasureRows({x, y, kIsMatrix ? nullptr : &seen.permitted[0].error, x_has_errors}, question);
  question.hypothesis = [&](const RotaryModel& model, const Positions& positions) {
    MeasuredOp<Op> measured = right.op();
    measured.model = model;
    Tensors inputs = seen.inputs;
    inputs[input].values.data = InShapeOf(position, positions).data;
    return Hypothesis{std::make_shared<Model>(measured), std::move(inputs), seen.recipe,
                      model.ReadsOtherRows()};
  };
  return ExplainRotation(question);
}

template <class Op>
std::vector<Explanation> Explain(const Observation& seen) {
  return ExplainWith<Op>(seen, false);
}

}  // namespace

std::vector<Explanation> ExplainRopeOfComputed(const Observation& seen) {
  return ExplainWith<Rope>(seen, true);
}

template <class Op>
std::vector<Measurement> RotationMeasurements() {
  return {Explain<Op>};
}
template std::vector<Measurement> RotationMeasurements<Rope>();
template std::vector<Measurement> RotationMeasurements<RopeComplex>();
template std::vector<Measurement> RotationMeasurements<RopeShift>();
template std::vector<Measurement> RotationMeasurements<RopeSections>();
template std::vector<Measurement> RotationMeasurements<RopeAxial>();
template std::vector<Measurement> RotationMeasurements<RopeGiven>();
template std::vector<Measurement> RotationMeasurements<RopeMatrix>();
template std::vector<Measurement> RotationMeasurements<Xpos>();

}  // namespace sextant::oracle
