#include "oracle/attention/attention_properties.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "oracle/attention/attention_parts.h"

namespace sextant::oracle {

AttentionAttributes AttentionOf(const Case& c) { return AttributesIn<AttentionAttributes>(c); }

namespace {

bool AreOf(DType dtype, const Tensor<double>& numbers) {
  return std::ranges::all_of(numbers.data, [&](double x) { return RoundTo(dtype, x) == x; });
}

// Rows without keys may be unspecified.
bool IsJudged(const KeyRange& keys) { return !keys.IsEmpty(); }

Comparisons CheckAttentionHull(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  const VisibleKeys seen(c);
  const auto& v = inputs[2].values.data;
  const bool sink = HasInput(inputs, "sink");
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kAttended); ++i) {
    const size_t row = i / n.E;
    const KeyRange keys = seen(row);
    if (!IsJudged(keys)) continue;
    double least = sink ? 0 : INFINITY, most = sink ? 0 : -INFINITY;
    for (size_t t = keys.first; t < keys.last; ++t) {
      const double value = v[(n.KeyRow(row) + t) * n.E + i % n.E];
      least = std::min(least, value);
      most = std::max(most, value);
    }
    comparisons.AtMost(y(kAttended, i), most, {y, kAttended, i});
    comparisons.AtMost(least, y(kAttended, i), {y, kAttended, i});
  }
  return comparisons;
}

// Not with a sink, which takes a part of every weight.
Comparisons CheckOnes(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (HasInput(inputs, "sink")) return {};
  const AttentionSizes n(c);
  const VisibleKeys seen(c);
  const Response y = ask(c, Filled(inputs, {"v"}, 1));
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kAttended); ++i) {
    if (IsJudged(seen(i / n.E))) comparisons.Equal(y(kAttended, i), 1, {y, kAttended, i});
  }
  return comparisons;
}

// Value t is 1 in channel t mod E and 0 elsewhere, so the channels of y add up to the sum of the
// weights.
Comparisons CheckAttentionProbes(const Case& c, Tensors inputs, const Ask& ask) {
  const AttentionSizes n(c);
  const VisibleKeys seen(c);
  auto& v = InputNamed(inputs, "v").data;
  for (size_t i = 0; i < v.size(); ++i) v[i] = i / n.E % std::max<size_t>(1, n.T) % n.E == i % n.E;
  const Response y = ask(c, inputs), all = ask(c, Filled(inputs, {"v"}, 1));
  Comparisons comparisons;
  for (size_t row = 0; n.E > 0 && row < n.rows(); ++row) {
    if (!IsJudged(seen(row))) continue;
    Measured sum = 0;
    for (size_t e = 0; e < n.E; ++e) sum = sum + y(kAttended, row * n.E + e);
    comparisons.Equal(sum, all(kAttended, row * n.E), {y, kAttended, row * n.E});
  }
  return comparisons;
}

// With queries of 0 all scores of a row are equal: y is the mean of the seen values, and lse is the
// logarithm of their number. A sink of 0 counts as one more value of 0.
Comparisons CheckAttentionMean(const Case& c, Tensors inputs, const Ask& ask) {
  const AttentionSizes n(c);
  const VisibleKeys seen(c);
  for (const char* name : {"q", "bias", "sink"}) {
    if (HasInput(inputs, name)) inputs = Filled(inputs, {name}, 0);
  }
  const auto& v = inputs[2].values.data;
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  for (size_t row = 0; row < n.rows(); ++row) {
    const KeyRange keys = seen(row);
    if (!IsJudged(keys)) continue;
    const auto count = static_cast<double>(keys.size());
    for (size_t e = 0; e < n.E; ++e) {
      Measured sum = 0;
      for (size_t t = keys.first; t < keys.last; ++t) sum = sum + v[(n.KeyRow(row) + t) * n.E + e];
      const double all = count + (HasInput(inputs, "sink") ? 1 : 0);
      comparisons.Equal(y(kAttended, row * n.E + e) * all, sum, {y, kAttended, row * n.E + e});
    }
    if (y.Has(kLse)) comparisons.Equal(y(kLse, row), LogOf(count), {y, kLse, row});
  }
  return comparisons;
}

// Without a mask, keys, values and biases in reverse order give the same y and lse.
Comparisons CheckAttentionOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  Case unmasked = c;
  for (const char* word : {"mask=none", "window=", "chunk=", "key_length=", "segments="}) {
    unmasked = unmasked.With(word);
  }
  Tensors reversed = inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& extents = c.signature().inputs[i].extents;
    const auto axis = std::ranges::find(extents, "T");
    if (axis == extents.end()) continue;
    const auto& shape = inputs[i].values.shape;
    size_t stride = 1;
    for (auto a = static_cast<size_t>(axis - extents.begin()) + 1; a < shape.size(); ++a) {
      stride *= shape[a];
    }
    const size_t T = ExtentOf(c, "T");
    for (size_t j = 0; j < inputs[i].values.data.size(); ++j) {
      const size_t t = j / stride % T;
      reversed[i].values.data[j] = inputs[i].values.data[j - t * stride + (T - 1 - t) * stride];
    }
  }
  Comparisons comparisons;
  if (ExtentOf(c, "T") > 0)
    ExpectEqual(ask(unmasked, inputs), ask(unmasked, reversed), comparisons);
  return comparisons;
}

// Changes the first or the last key and its value. The results of queries that do not see it must
// not change.
Comparisons CheckUnseen(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  const VisibleKeys seen(c);
  Comparisons comparisons;
  if (n.T == 0) return comparisons;
  const Response before = ask(c, inputs);
  for (const size_t changed : {size_t{0}, n.T - 1}) {
    Tensors other = inputs;
    for (const size_t which : {1, 2}) {
      auto& tensor = other[which].values;
      const size_t width = tensor.shape[3];
      for (size_t i = 0; i < tensor.data.size(); ++i) {
        double& x = tensor.data[i];
        if (i / width % n.T == changed) x = RoundTo(c.dtype(), std::clamp(4 - x / 2, -1e4, 1e4));
      }
    }
    const Response after = ask(c, other);
    for (size_t i = 0; i < before.size(kAttended); ++i) {
      const KeyRange keys = seen(i / n.E);
      if (!IsJudged(keys) || (keys.first <= changed && changed < keys.last)) continue;
      comparisons.Equal(before(kAttended, i), after(kAttended, i), {after, kAttended, i});
    }
  }
  return comparisons;
}

// If all keys are equal, k adds a constant to all scores of a query, which does not change y. Not
// with a sink, to whose score nothing is added.
Comparisons CheckAttentionConstant(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  const VisibleKeys seen(c);
  Comparisons comparisons;
  // A cap after the bias is not linear: what k adds to a score then depends on the bias.
  const bool capped = IsSet(c, "soft_cap") && IsSet(c, "add_bias");
  if (capped || n.T == 0 || HasInput(inputs, "sink")) return comparisons;
  Tensors same = inputs;
  Tensor<double>& k = InputNamed(same, "k");
  const size_t D = k.shape[3];
  for (size_t i = 0; i < k.data.size(); ++i) k.data[i] = k.data[i / (n.T * D) * (n.T * D) + i % D];
  const Response a = ask(c, same), b = ask(c, Filled(inputs, {"k"}, 0));
  for (size_t i = 0; i < a.size(kAttended); ++i) {
    if (IsJudged(seen(i / n.E)))
      comparisons.Equal(a(kAttended, i), b(kAttended, i), {a, kAttended, i});
  }
  return comparisons;
}

// Halved queries with twice the scale give the same scores. The default scale is D^-1/2, which is
// exact where D is a power of 4.
Comparisons CheckAttentionScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const double root = 1 / std::sqrt(static_cast<double>(ExtentOf(c, "D")));
  if (!IsSet(c, "scale")) {
    int exponent = 0;
    if (std::frexp(root, &exponent) != 0.5) return comparisons;
    ExpectEqualVisible(c, ask(c, inputs), ask(c.With("scale=" + PrintValue(root)), inputs),
                       comparisons);
  } else if (TextOf(c, "add_bias") != "before_scale") {
    const Tensors half = Multiplied(inputs, {"q"}, 0.5);
    if (AreOf(c.dtype(), InputNamed(half, "q")))
      ExpectEqualVisible(c, ask(c, inputs), ask(Multiplied(c, "scale", 2), half), comparisons);
  }
  return comparisons;
}

Comparisons CheckAttentionValues(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  const VisibleKeys seen(c);
  const Tensors twice = Multiplied(inputs, {"v"}, 2);
  Comparisons comparisons;
  if (!AreOf(c.dtype(), InputNamed(twice, "v"))) return comparisons;
  const Response a = ask(c, inputs), b = ask(c, twice);
  for (size_t i = 0; i < a.size(kAttended); ++i) {
    if (IsJudged(seen(i / n.E)))
      comparisons.Equal(a(kAttended, i) * 2, b(kAttended, i), {b, kAttended, i});
  }
  return comparisons;
}

}  // namespace

std::vector<Property> AttentionProperties() {
  std::vector<Property> properties = {
      {"inside_the_hull", "y lies between the smallest and the largest seen value",
       CheckAttentionHull},
      {"channels_share_weights", "all channels of y have the same weights", CheckAttentionProbes},
      {"equal_scores_give_the_mean",
       "with equal scores y is the mean of the values, and lse the logarithm of their number",
       CheckAttentionMean},
      {"keys_in_any_order", "without a mask the order of the keys does not matter",
       CheckAttentionOrder},
      {"unseen_keys_do_not_count", "a key that a query does not see does not change its result",
       CheckUnseen},
      {"scaled", "the scale multiplies the scores; its default is D^-1/2", CheckAttentionScale},
      {"linear_in_values", "twice the values give twice y", CheckAttentionValues},
      {"weights_sum_to_one", "the weights sum to 1: values of 1 give 1", CheckOnes},
      {"constant_scores_do_not_count",
       "a constant added to all scores of a query does not change y", CheckAttentionConstant},
  };
  for (Property& property : AttentionPartProperties()) properties.push_back(std::move(property));
  return properties;
}

}  // namespace sextant::oracle
