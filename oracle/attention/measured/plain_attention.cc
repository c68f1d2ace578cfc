#include "oracle/attention/measured/plain_attention.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "reference/rope/rope_rotated.h"

namespace sextant::oracle {

namespace {

template <class Attributes>
Attributes AttributesFor(const Case& c, const Operation& operation) {
  auto all = AttributesIn<Attributes>(c);  // with the dimensions
  for (const Attribute& own : AttributesOf(all)) {
    for (const Attribute& attribute : operation.Attributes())
      if (attribute.name == own.name && !own.dimension)
        SetAttribute(all, c.name(), own.name, attribute.text);
  }
  return all;
}

// An input rotated by the positions in another one; empty if the model has no such positions.
std::vector<double> Turned(const Case& c, const Hypothesis& model, size_t input,
                           const std::string& position) {
  const Tensors& inputs = model.inputs;
  if (!HasInput(inputs, position)) return {};
  const auto& [name, dtype, values] = inputs[input];
  const ScopedRecipe following(model.recipe, c.dtype());
  Tensor<Rounded> x;
  x.shape = values.shape;
  x.data.clear();
  for (const double element : values.data) x.data.emplace_back(element, dtype);
  const auto rope = AttributesFor<RopeAttributes>(c, *model.operation);
  const Tensor<Rounded> turned = Rotated(rope, x, InputNamed(inputs, position));
  std::vector<double> y(turned.data.size());
  std::ranges::transform(turned.data, y.begin(), &Rounded::value);
  return y;
}

// Input i, rotated and by its scale, where the case has these; empty if it has neither.
std::vector<double> Prepared(const Case& c, const Hypothesis& model, size_t i,
                             const std::string& position, const std::string& scale_name) {
  std::vector<double> x = position.empty() ? std::vector<double>() : Turned(c, model, i, position);
  const Tensor<double>* const scale = FindValues(model.inputs, scale_name);
  if (!scale) return x;
  const Tensor<double>& values = model.inputs[i].values;
  if (x.empty()) x = values.data;
  const size_t heads = values.shape[1], K = scale->shape[1],
               count = values.shape[2] * values.shape[3];
  for (size_t at = 0; at < x.size(); ++at) {
    const size_t row = at / count;
    x[at] *= (*scale)(row / heads, row % heads / (heads / K));
  }
  return x;
}

}  // namespace

AttentionAttributes AttentionOf(const Case& c, const Operation& operation) {
  return AttributesFor<AttentionAttributes>(c, operation);
}

PlainAttention::PlainAttention(const Case& c, const Hypothesis& model)
    : op_(AttentionOf(c, *model.operation)),
      n_(c),
      D_(ExtentOf(c, "D")),
      scale_(op_.scale.value_or(1 / std::sqrt(static_cast<double>(D_)))),
      add_bias_(TextOf(c, "add_bias")),
      prepared_q_(Prepared(c, model, 0, "position_q", "q_scale")),
      prepared_k_(Prepared(c, model, 1, "position_k", "k_scale")),
      prepared_v_(Prepared(c, model, 2, "", "v_scale")),
      q_(prepared_q_.empty() ? model.inputs[0].values.data : prepared_q_),
      k_(prepared_k_.empty() ? model.inputs[1].values.data : prepared_k_),
      v_(prepared_v_.empty() ? model.inputs[2].values.data : prepared_v_) {
  const Tensors& inputs = model.inputs;
  if (const Tensor<double>* bias = FindValues(inputs, "bias")) bias_ = &bias->data;
  if (const Tensor<double>* sink = FindValues(inputs, "sink")) sink_ = &sink->data;
}

namespace {
double Capped(double score, double cap, bool clips) {
  return clips ? std::clamp(score, -cap, cap) : cap * std::tanh(score / cap);
}
}  // namespace

std::vector<double> PlainAttention::ScoresOf(size_t row, size_t g, double factor,
                                             bool clips) const {
  const auto query = std::span(q_).subspan(row * D_, D_);
  const size_t first = (row / (n_.H * n_.S) * n_.K + g) * n_.T;
  std::vector<double> scores(n_.T);
  for (size_t t = 0; t < n_.T; ++t) {
    const auto key = std::span(k_).subspan((first + t) * D_, D_);
    double score = 0;
    for (size_t d = 0; d < D_; ++d) score += query[d] * key[d];
    const double bias = bias_ ? (*bias_)[row * n_.T + t] : 0;
    score = (score + (add_bias_ == "before_scale" ? bias : 0)) * scale_ * factor;
    if (add_bias_ == "before_cap") score += bias;
    if (op_.soft_cap) score = Capped(score, *op_.soft_cap, clips);
    scores[t] = score + (add_bias_.empty() ? bias : 0);
  }
  return scores;
}

std::span<const double> PlainAttention::ValueOf(size_t row, size_t g, size_t t) const {
  const size_t key = (row / (n_.H * n_.S) * n_.K + g) * n_.T + t;
  return std::span(v_).subspan(key * n_.E, n_.E);
}

double PlainAttention::SinkOf(size_t row) const {
  return sink_ ? (*sink_)[row / n_.S % n_.H] : -kInfinity;
}

double PlainAttention::CountOf(size_t row, size_t t) const {
  const KeyRange keys = op_.KeysOf(row / (n_.H * n_.S), row % n_.S);
  return keys.first <= t && t < keys.last;
}

std::vector<double> PlainAttention::WeightsOf(size_t row) const {
  std::vector<double> weights = ScoresOf(row, KeyHeadOf(row / n_.S % n_.H));
  double largest = SinkOf(row);
  for (size_t t = 0; t < n_.T; ++t)
    if (CountOf(row, t) > 0) largest = std::max(largest, weights[t]);
  double sum = largest > -kInfinity ? std::exp(SinkOf(row) - largest) : 0;
  for (size_t t = 0; t < n_.T; ++t) {
    weights[t] = std::exp(weights[t] - largest);
    if (CountOf(row, t) > 0) sum += weights[t];
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> PlainAttention::Answer(size_t row, size_t key_head, size_t value_head) const {
  const KeyRange keys = op_.KeysOf(row / (n_.H * n_.S), row % n_.S);
  if (keys.IsEmpty()) return {};
  const std::vector<double> scores = ScoresOf(row, key_head);
  const auto seen = std::span(scores).subspan(keys.first, keys.size());
  const double largest = std::max(SinkOf(row), *std::ranges::max_element(seen));
  double sum = std::exp(SinkOf(row) - largest);
  std::vector<double> y(n_.E);
  for (size_t t = keys.first; t < keys.last; ++t) {
    const double weight = std::exp(scores[t] - largest);
    const auto value = ValueOf(row, value_head, t);
    sum += weight;
    for (size_t e = 0; e < n_.E; ++e) y[e] += weight * value[e];
  }
  for (double& x : y) x /= sum;
  return y;
}

}  // namespace sextant::oracle
