#include "oracle/attention/measured/cross.h"

#include <functional>
#include <memory>
#include <set>

#include "oracle/attention/measured/attention.h"
#include "oracle/attention/measured/heads.h"
#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/attributes.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/diagnosis/vocabulary/exchanged_axes.h"
#include "oracle/property/changed_inputs.h"
#include "reference/attention/cross_attention.h"
#include "reference/attention/multi_head.h"

namespace sextant::oracle {
namespace {

struct CrossParts {
  MeasuredParts attention;
  // The column of the mean from which a column is read; null: itself.
  std::function<size_t(size_t c)> column;
  bool keys_of_x = false, values_of_x = false;  // projected from x, which has as many tokens
  bool adds_x = false;                          // to y
  size_t padding = 0;  // rows of 0 after memory, whose keys and values are the biases
};

// Keys or values [1,K,T,D], and `more` tokens after them that are the bias.
template <class Real>
Tensor<Real> WithBiasRows(const Tensor<Real>& x, const Tensor<Real>& bias, size_t more) {
  const size_t K = x.shape[1], T = x.shape[2], D = x.shape[3];
  Tensor<Real> y({1, K, T + more, D});
  for (size_t i = 0; i < y.data.size(); ++i) {
    const size_t d = i % D, t = i / D % (T + more), g = i / D / (T + more);
    y.data[i] = t < T ? x.data[(g * T + t) * D + d] : bias.data[g * D + d];
  }
  return y;
}

template <class Real>
Tensor<Real> CrossHeadsOf(const std::vector<size_t>& heads, const Tensor<Real>& x) {
  if (heads.empty()) return x;
  Tensor<Real> read({1, heads.size(), x.shape[2], x.shape[3]});
  const size_t size = x.shape[2] * x.shape[3];
  for (size_t i = 0; i < read.data.size(); ++i)
    read.data[i] = x.data[heads[i / size] * size + i % size];
  return read;
}

struct CrossByParts : CrossAttention {
  CrossParts parts{};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& memory,
                  const MultiHeadWeights<Real>& w, Tensor<Real>& y, Tensor<Real>& q,
                  Tensor<Real>& k, Tensor<Real>& v, Tensor<Real>& mean) const {
    Attention attention = MakeAttention();
    const auto heads = static_cast<size_t>(H.value), shared = static_cast<size_t>(K.value);
    const Tensor<Real>&of_k = parts.keys_of_x ? x : memory, &of_v = parts.values_of_x ? x : memory;
    const Tensor<Real> own_q = IntermediateAs(SplitHeads(Projected(x, w.wq, w.bq), heads), q);
    Tensor<Real> keys = IntermediateAs(SplitHeads(Projected(of_k, w.wk, w.bk), shared), k);
    Tensor<Real> values = IntermediateAs(SplitHeads(Projected(of_v, w.wv, w.bv), shared), v);
    if (parts.padding > 0) {
      keys = WithBiasRows(keys, w.bk, parts.padding);
      values = WithBiasRows(values, w.bv, parts.padding);
      attention.T.value = static_cast<int64_t>(keys.shape[2]);
    }
    if (!parts.attention.key_heads.empty()) {
      keys = CrossHeadsOf(parts.attention.key_heads, keys);
      values = CrossHeadsOf(parts.attention.value_heads, values);
      attention.K = attention.H;
    }
    Tensor<Real> weighed(own_q.shape), lse({1, heads, x.shape[0]});
    AttendMeasured<Real>(parts.attention, attention, {.q = own_q, .k = keys, .v = values}, weighed,
                         lse);
    mean = Reordered(MergeHeads(weighed));
    y = Projected(Intermediate(mean), w.wo, w.bo);
    for (size_t i = 0; parts.adds_x && i < y.data.size(); ++i) y.data[i] = y.data[i] + x.data[i];
  }

 private:
  template <class Real>
  Tensor<Real> Reordered(const Tensor<Real>& mean) const {
    if (!parts.column) return mean;
    Tensor<Real> y(mean.shape);
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t c = i % mean.shape[1];
      y.data[i] = mean.data[i - c + parts.column(c)];
    }
    return y;
  }
};

using PartsEdit = std::function<void(CrossParts& parts)>;
Choice Parts(const std::string& sentence, const PartsEdit& edit) {
  return Edit<CrossByParts>(sentence, [edit](CrossByParts& op) { edit(op.parts); });
}

// The mean [S,H D] is stored as [S,D,H], or the other way round, or its heads are in another order.
std::vector<Choice> OrdersOfMean(size_t H, size_t D) {
  std::vector<Choice> choices;
  const auto add = [&](const std::string& text, const std::function<size_t(size_t c)>& column) {
    choices.push_back(Parts("the " + text, [=](CrossParts& parts) { parts.column = column; }));
  };
  if (H < 2) return choices;
  add("channels of the mean are in another order: D by H, interleaved heads, expected H by D",
      PlaceWithExchangedAxes({D, H}, 0, 1));
  add("channels of the mean are in another order: H by D read as D by H, interleaved heads",
      PlaceWithExchangedAxes({H, D}, 0, 1));
  for (const AxisOrder& order : OrdersOf(H))
    if (order.is_usual)
      add("heads of the mean are in another order: " + order.text,
          [=](size_t c) { return order.from(c / D) * D + c % D; });
  return choices;
}

// Changes the parts of the attention.
std::shared_ptr<const Operation> WithAttention(const Operation& operation, const EditParts& edit) {
  CrossByParts changed = dynamic_cast<const TypedOperation<CrossByParts>&>(operation).op();
  edit(changed.parts.attention);
  return std::make_shared<Wrapped<CrossByParts, false>>(changed);
}

std::vector<Choice> CrossKeys(size_t S, size_t T) {
  std::vector<Choice> choices;
  const auto sees = [&](const std::string& text, std::function<bool(size_t s, size_t t)> of) {
    choices.push_back(Parts(text, [of](CrossParts& parts) {
      parts.attention.counts = [of](size_t, size_t, size_t s, size_t t) -> double {
        return of(s, t);
      };
    }));
  };
  sees("memory has a causal mask: key t is seen if t <= s",
       [](size_t s, size_t t) { return t <= s; });
  if (S != T) {
    sees("memory has a causal mask from the last key backwards: key t is seen if t <= s " +
             std::string(T < S ? "- " : "+ ") + std::to_string(T < S ? S - T : T - S),
         [=](size_t s, size_t t) { return t + S <= s + T; });
  }
  std::set<size_t> paddings;  // to multiples of vectors and tiles
  for (const size_t multiple : {4, 8, 16, 32, 64, 128})
    paddings.insert((multiple - T % multiple) % multiple);
  paddings.erase(0);
  for (const size_t padding : paddings) {
    choices.push_back(Parts("memory is padded by " + std::to_string(padding) + " rows of 0, to " +
                                std::to_string(T + padding) +
                                ": they have weights, and their keys and values are the biases",
                            [padding](CrossParts& parts) { parts.padding = padding; }));
  }
  for (size_t few = 1; few < std::min<size_t>(5, T); ++few) {
    const std::string count = few == 1 ? "key is" : std::to_string(few) + " keys are";
    sees("the first " + count + " missing", [=](size_t, size_t t) { return t >= few; });
    sees("the last " + count + " missing", [=](size_t, size_t t) { return t + few < T; });
  }
  return choices;
}

std::vector<Deviation> OfParts(const Case& c) {
  const size_t H = ExtentOf(c, "H"), S = ExtentOf(c, "S"), T = ExtentOf(c, "T");
  std::vector<Choice> keys, sums, sequences;
  if (TextOf(c, "key_length").empty()) keys = CrossKeys(S, T);
  for (const double zeros : {1, 2, 3, 4, 5, 6, 7, 8}) {
    sums.push_back(Parts("e^0 is added " + PrintValue(zeros) + " times to the sum of e^score",
                         [zeros](CrossParts& parts) { parts.attention.zeros = zeros; }));
  }
  if (S == T) {
    sequences = {Parts("keys and values are projected from x, not from memory",
                       [](CrossParts& parts) { parts.keys_of_x = parts.values_of_x = true; }),
                 Parts("keys are projected from x, not from memory",
                       [](CrossParts& parts) { parts.keys_of_x = true; }),
                 Parts("values are projected from x, not from memory",
                       [](CrossParts& parts) { parts.values_of_x = true; })};
  }
  return {OneOf("sum_has_zeros", "sum", sums),
          OneOf("mean_reordered", "order", OrdersOfMean(H, ExtentOf(c, "D"))),
          HeadsOf(c, nullptr, WithAttention),
          OneOf("keys_changed", "keys", keys),
          OneOf("projected_from_x", "sequence", sequences),
          OneOf("residual_inside", "residual",
                {Parts("the residual x is added to y",
                       [](CrossParts& parts) { parts.adds_x = true; })})};
}

// Other inputs, which are named by what they are: "the bias bo is missing".
std::vector<Deviation> OfInputs(const Case& c, const Tensors& inputs) {
  std::vector<Deviation> changes = InputChanges(c, inputs);
  for (Deviation& change : changes) {
    const char* noun = change.factor.starts_with("b")   ? "the bias "
                       : change.factor.starts_with("w") ? "the weight "
                                                        : "";
    change.sentence = [noun](const std::string& text) { return noun + text; };
  }
  return changes;
}

}  // namespace

std::vector<Explanation> MeasureCross(const Observation& seen) {
  const auto operation = std::make_shared<Wrapped<CrossByParts, false>>();
  CopyAttributes(seen.c, *operation);
  return FittedTo(
      seen, {operation, SharedInputs::Of(seen.inputs), seen.recipe},
      AndAttributes(Joined<Deviation>({OfParts(seen.c), AttentionDeviations(seen.c, seen.inputs),
                                       OfInputs(seen.c, seen.inputs)}),
                    seen.c, seen.inputs));
}

}  // namespace sextant::oracle
