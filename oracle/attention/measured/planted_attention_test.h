// Attention with planted bugs, in plain loops of doubles: it shares no code with the formulas.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {

struct PlantedAttention {
  double scale = 1, cap = 0, sink_count = 1;
  double zeros = 0, increase = 0, gain = 1;  // added to the sum: zeros e^0, increase e^largest
  bool sink_is_shifted = true;               // by the largest score, as the others
  size_t later = 0;                          // key t weighs the value of key t + later
  std::optional<double> masked_score = {};
  std::function<bool(size_t s, size_t t)> sees = [](size_t, size_t) { return true; };
  std::function<size_t(size_t h)> query_head = [](size_t h) { return h; };
  std::function<size_t(size_t h)> key_head = [](size_t h) { return h; };
  std::function<size_t(size_t h)> value_head = nullptr;  // null: the key head
  std::function<double(size_t h, double score)> score = [](size_t, double x) { return x; };
  // The score of key t for query s of head h.
  std::function<double(size_t h, size_t s, size_t t, double score)> score_at =
      [](size_t, size_t, size_t, double x) { return x; };
  double least_weight = 0;         // keys with less weight are dropped; the sum has them
  bool has_hidden_in_sum = false;  // the sum has the keys that are not seen
  // e^sink in units of e^largest, given both and the sum of the keys in these units; null: as
  // above.
  std::function<double(double sink, double largest, double keys)> sink_term = nullptr;
  std::function<double(size_t h, const std::vector<double>& sinks)> sink =
      [](size_t h, const std::vector<double>& sinks) { return sinks[h]; };

  double Score(const Tensors& in, size_t b, size_t h, size_t s, size_t t) const {
    if (!sees(s, t)) return masked_score.value_or(-INFINITY);
    return AnyScore(in, b, h, s, t);
  }
  double AnyScore(const Tensors& in, size_t b, size_t h, size_t s, size_t t) const {
    const Shape &q = in[0].values.shape, &k = in[1].values.shape;
    double sum = 0;
    for (size_t d = 0; d < q[3]; ++d) {
      sum += in[0].values.data[((b * q[1] + query_head(h)) * q[2] + s) * q[3] + d] *
             in[1].values.data[((b * k[1] + key_head(h)) * k[2] + t) * k[3] + d];
    }
    return score_at(h, s, t, score(h, cap > 0 ? cap * std::tanh(sum * scale / cap) : sum * scale));
  }

  Tensors Answer(const Case& c, const Tensors& in) const {
    const Shape &q = in[0].values.shape, &v = in[2].values.shape;
    Tensor<double> y({q[0], q[1], q[2], v[3]});
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t e = i % v[3], s = i / v[3] % q[2], h = i / v[3] / q[2] % q[1],
                   b = i / v[3] / q[2] / q[1];
      const size_t head = value_head ? value_head(h) : key_head(h);
      std::vector<double> scores;
      for (size_t t = 0; t < v[2]; ++t) scores.push_back(Score(in, b, h, s, t));
      const double largest = std::ranges::max(scores);
      if (std::isinf(largest)) continue;  // no keys: 0
      double sum = zeros * std::exp(-largest) + increase, weighted = 0;
      for (size_t t = 0; t < v[2] && has_hidden_in_sum; ++t)
        if (!sees(s, t)) sum += std::exp(AnyScore(in, b, h, s, t) - largest);
      double keys = 0;
      for (const double score : scores) keys += std::exp(score - largest);
      if (in.size() > 3 && sink_term)
        sum += sink_term(sink(h, in[3].values.data), largest, keys);
      else if (in.size() > 3)
        sum += sink_count * std::exp(sink(h, in[3].values.data) - (sink_is_shifted ? largest : 0));
      for (size_t t = 0; t < v[2]; ++t) {
        const double weight = std::exp(scores[t] - largest);
        const size_t key = (t + later) % v[2];
        sum += weight;
        if (weight < least_weight * keys) continue;
        weighted += weight * in[2].values.data[((b * v[1] + head) * v[2] + key) * v[3] + e];
      }
      y.data[i] = RoundTo(c.dtype(), gain * weighted / sum);
    }
    return {{"y", c.dtype(), y}};
  }
};

// The causes of the answer of a subject that may be asked further questions. `planted` has a
// function Answer as above.
template <class Planted>
std::vector<std::string> CausesOfSubject(const std::string& line, const Planted& planted,
                                         int* questions = nullptr) {
  const AskedCase question(line);
  const Subject subject{"planted", "native", [&](const Case& c, const Tensors& inputs) {
                          if (questions) ++*questions;
                          return Answer{.message = "", .outputs = planted.Answer(c, inputs)};
                        }};
  return question.Causes(planted.Answer(question.c, question.inputs), &subject);
}

// The right answer to cases with D = 16 and three query heads for each key head.
inline PlantedAttention GroupedAttention() {
  PlantedAttention planted{.scale = 0.25};
  planted.key_head = [](size_t h) { return h / 3; };
  return planted;
}
inline PlantedAttention CausalAttention() {
  PlantedAttention planted = GroupedAttention();
  planted.sees = [](size_t s, size_t t) { return t <= s; };
  return planted;
}

}  // namespace sextant::oracle
