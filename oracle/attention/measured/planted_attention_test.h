// Attention with planted bugs, in plain loops of doubles: it shares no code with the formulas.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "oracle/catalog/causes.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {

struct PlantedAttention {
  double scale = 1, cap = 0, sink_count = 1;
  std::function<bool(size_t s, size_t t)> sees = [](size_t, size_t) { return true; };
  std::function<size_t(size_t h)> key_head = [](size_t h) { return h; };

  double Score(const Tensors& in, size_t b, size_t h, size_t s, size_t t) const {
    const Shape &q = in[0].values.shape, &k = in[1].values.shape;
    double sum = 0;
    for (size_t d = 0; d < q[3]; ++d) {
      sum += in[0].values.data[((b * q[1] + h) * q[2] + s) * q[3] + d] *
             in[1].values.data[((b * k[1] + key_head(h)) * k[2] + t) * k[3] + d];
    }
    return cap > 0 ? cap * std::tanh(sum * scale / cap) : sum * scale;
  }

  Tensors Answer(const Case& c, const Tensors& in) const {
    const Shape &q = in[0].values.shape, &v = in[2].values.shape;
    Tensor<double> y({q[0], q[1], q[2], v[3]});
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t e = i % v[3], s = i / v[3] % q[2], h = i / v[3] / q[2] % q[1],
                   b = i / v[3] / q[2] / q[1];
      double sum = in.size() > 3 ? sink_count * std::exp(in[3].values.data[h]) : 0, weighted = 0;
      for (size_t t = 0; t < v[2]; ++t) {
        if (!sees(s, t)) continue;
        const double weight = std::exp(Score(in, b, h, s, t));
        sum += weight;
        weighted += weight * in[2].values.data[((b * v[1] + key_head(h)) * v[2] + t) * v[3] + e];
      }
      y.data[i] = RoundTo(c.dtype(), weighted / sum);
    }
    return {{"y", c.dtype(), y}};
  }
};

// "name (sentence)" of every cause.
inline std::vector<std::string> CausesOfAnswer(const DrawnCase& question, const Tensors& answer,
                                               const Subject* subject = nullptr) {
  const Judge judge(question.c, question.inputs, question.recipe);
  std::vector<std::string> causes;
  for (const Cause& cause : CausesOf({question.c, question.inputs, question.recipe, judge.golden(),
                                      judge.permitted(), answer, subject}))
    causes.push_back(cause.name + " (" + cause.why + ")");
  return causes;
}

}  // namespace sextant::oracle
