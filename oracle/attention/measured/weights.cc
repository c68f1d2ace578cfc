#include "oracle/attention/measured/weights.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "oracle/attention/measured/key_sentences.h"
#include "oracle/attention/measured/plain_attention.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostQuestions = 32;

// The weights [B,H,S,T], and the sums of the rows [B,H,S]. With a sink, sums are not 1, so that
// heads cannot be told from them.
struct Weights {
  Tensor<double> of;
  std::vector<double> sums;
  bool has_sources = true;
};

// Values for the block of keys from `first` on: the channel of a key is 1, or the number of its
// head.
void SetBlock(size_t first, const AttentionSizes& n, bool has_sources, std::vector<double>& v) {
  for (size_t i = 0; i < v.size(); ++i) {
    const size_t t = i / n.E % n.T, head = i / n.E / n.T;
    const bool is_one = t >= first && t - first == i % n.E;
    v[i] = is_one ? (has_sources ? static_cast<double>(head + 1) : 1) : 0;
  }
}

std::optional<Weights> AskWeights(const Observation& seen, const AttentionSizes& n) {
  if (!seen.subject || n.E == 0 || (n.T + n.E - 1) / n.E > kMostQuestions) return std::nullopt;
  Weights weights{Tensor<double>({n.B, n.H, n.S, n.T}), {}, !HasInput(seen.inputs, "sink")};
  // A head's number must be a number of the dtype.
  weights.has_sources &= RoundTo(seen.inputs[2].dtype, static_cast<double>(n.B * n.K)) == n.B * n.K;
  Tensors inputs = seen.inputs;
  for (size_t first = 0; first < n.T; first += n.E) {
    SetBlock(first, n, weights.has_sources, inputs[2].values.data);
    const Answer answer = seen.subject->answer(seen.c, inputs);
    if (answer.status != Answer::Status::kAnswered) return std::nullopt;
    const auto y = std::ranges::find(answer.outputs, "y", &NamedTensor::name);
    if (y == answer.outputs.end() || y->values.data.size() != n.rows() * n.E) return std::nullopt;
    for (size_t row = 0; row < n.rows(); ++row) {
      for (size_t t = first; t < std::min(n.T, first + n.E); ++t)
        weights.of.data[row * n.T + t] = y->values.data[row * n.E + t - first];
    }
  }
  for (size_t row = 0; row < n.rows(); ++row) {
    double sum = 0;
    for (size_t t = 0; t < n.T; ++t) sum += weights.of.data[row * n.T + t];
    if (!std::isfinite(sum)) return std::nullopt;
    weights.sums.push_back(sum);
  }
  return weights;
}

// Which keys count, [B,S,T], and what the mask says. A key is seen if it has a weight in any head.
// It is missing only if its right weight exceeds the rounding error of 1 in some head.
struct Visible {
  std::vector<double> counts, expected;
};
Visible VisibleIn(const Weights& weights, const PlainAttention& plain, DType dtype) {
  const AttentionSizes& n = plain.sizes();
  Visible visible{std::vector<double>(n.B * n.S * n.T), std::vector<double>(n.B * n.S * n.T)};
  std::vector<char> decided(visible.counts.size());
  for (size_t row = 0; row < n.rows(); ++row) {
    const std::vector<double> scores = plain.ScoresOf(row, plain.KeyHeadOf(row / n.S % n.H));
    double largest = plain.SinkOf(row), sum = 0;
    for (size_t t = 0; t < n.T; ++t)
      if (plain.CountOf(row, t) > 0) largest = std::max(largest, scores[t]);
    for (size_t t = 0; t < n.T; ++t)
      if (plain.CountOf(row, t) > 0) sum += std::exp(scores[t] - largest);
    for (size_t t = 0; t < n.T; ++t) {
      const size_t i = (row / (n.H * n.S) * n.S + row % n.S) * n.T + t;
      visible.expected[i] = plain.CountOf(row, t);
      if (weights.of.data[row * n.T + t] != 0) visible.counts[i] = 1;
      decided[i] |= std::exp(scores[t] - largest) / sum > UnitRoundoffOf(dtype);
    }
  }
  for (size_t i = 0; i < decided.size(); ++i)
    if (!decided[i] && visible.counts[i] == 0) visible.counts[i] = visible.expected[i];
  return visible;
}

// All queries lack the same keys, or see the same distances, or what differs is counted.
KeySentence SentenceOf(const Visible& visible, const AttentionSizes& n,
                       const AttentionAttributes& op) {
  std::vector<double> by_key(n.T, 1), by_distance(n.S + n.T - 1), expected(n.S + n.T - 1);
  const int64_t least = -op.FirstIndex(0) - static_cast<int64_t>(n.S) + 1;
  size_t missing = 0, leaked = 0;
  for (size_t i = 0; i < visible.counts.size(); ++i) {
    const size_t s = i / n.T % n.S, t = i % n.T, distance = t + n.S - 1 - s;
    missing += visible.counts[i] < visible.expected[i];
    leaked += visible.counts[i] > visible.expected[i];
    if (visible.counts[i] < visible.expected[i]) by_key[t] = 0;
    by_distance[distance] = std::max(by_distance[distance], visible.counts[i]);
    expected[distance] = std::max(expected[distance], visible.expected[i]);
  }
  bool is_by_key = leaked == 0, is_by_distance = n.B == 1 || !op.key_length;
  for (size_t i = 0; i < visible.counts.size(); ++i) {
    const size_t s = i / n.T % n.S, t = i % n.T;
    is_by_key &= visible.counts[i] == std::min(visible.expected[i], by_key[t]);
    is_by_distance &= visible.counts[i] == by_distance[t + n.S - 1 - s];
  }
  if (missing + leaked == 0) return {};
  if (is_by_key) return SentenceOfKeys(by_key, std::vector<double>(n.T, 1));
  if (is_by_distance) return SentenceOfDistances(by_distance, expected, least);
  return {"visible_keys_changed",
          "queries do not see " + std::to_string(missing) + " keys that they should see, and see " +
              std::to_string(leaked) + " that they should not see, in all batches"};
}

std::optional<Deviation> KeysOf(const Weights& weights, const PlainAttention& plain, DType dtype,
                                const WithParts& with_parts) {
  const AttentionSizes& n = plain.sizes();
  const Visible visible = VisibleIn(weights, plain, dtype);
  const KeySentence sentence = SentenceOf(visible, n, plain.attributes());
  if (sentence.text.empty()) return std::nullopt;
  const auto counts = std::make_shared<const std::vector<double>>(visible.counts);
  const KeyCounts count = [counts, S = n.S, T = n.T](size_t b, size_t s, size_t t) {
    return (*counts)[(b * S + s) * T + t];
  };
  return Deviation{
      .name = sentence.name,
      .factor = "keys",
      .values = {{1}},
      .changed = [count, with_parts](const Hypothesis& base, double) -> std::optional<Hypothesis> {
        const auto edit = [&](MeasuredParts& parts) { parts.counts = count; };
        return Hypothesis{with_parts(*base.operation, edit), base.inputs, base.recipe};
      },
      .sentence = [text = sentence.text](const std::string&) { return text; }};
}

std::string Listed(const std::vector<size_t>& heads) {
  std::string text;
  for (const size_t head : heads) text += (text.empty() ? "" : " ") + std::to_string(head);
  return text;
}

// The value head of each query head; empty if rows of a head differ, or read another batch.
std::vector<size_t> ValueHeads(const Weights& weights, const AttentionSizes& n) {
  std::vector<size_t> heads(n.H, n.K);
  for (size_t row = 0; row < n.rows(); ++row) {
    if (weights.sums[row] == 0) continue;  // it sees no key
    const size_t first = row / (n.H * n.S) * n.K + 1, h = row / n.S % n.H;
    const double head = std::round(weights.sums[row]) - static_cast<double>(first);
    if (!(0 <= head && head < static_cast<double>(n.K))) return {};
    if (heads[h] != n.K && heads[h] != static_cast<size_t>(head)) return {};
    heads[h] = static_cast<size_t>(head);
  }
  if (std::ranges::find(heads, n.K) != heads.end()) return {};
  return heads;
}

std::optional<Deviation> HeadsOf(const Weights& weights, const PlainAttention& plain,
                                 const Tensors& inputs, const WithParts& with_parts) {
  if (!weights.has_sources) return std::nullopt;
  const std::vector<size_t> heads = ValueHeads(weights, plain.sizes());
  std::vector<size_t> expected;
  for (size_t h = 0; h < plain.sizes().H; ++h) expected.push_back(plain.KeyHeadOf(h));
  if (heads.empty() || heads == expected) return std::nullopt;
  const auto whole = std::make_shared<const Tensors>(inputs);
  const std::string text = "query heads 0 to " + std::to_string(heads.size() - 1) +
                           " read the heads " + Listed(heads) + ", expected " + Listed(expected);
  return Deviation{
      .name = "heads_read",
      .factor = "heads",
      .values = {{0, text}, {1, "of values alone, " + text}},
      .changed = [=](const Hypothesis& base, double values_alone) -> std::optional<Hypothesis> {
        const auto edit = [&](MeasuredParts& parts) {
          parts.inputs = whole;
          parts.key_heads = values_alone == 1 ? expected : heads;
          parts.value_heads = heads;
        };
        return Hypothesis{with_parts(*base.operation, edit), base.inputs, base.recipe};
      },
      .sentence = [](const std::string& which) { return which; }};
}

}  // namespace

std::vector<Deviation> WeightsByAsking(const Observation& seen, const Hypothesis& base,
                                       const WithParts& with_parts) {
  const PlainAttention plain(seen.c, base);
  std::vector<Deviation> found;
  const auto weights = AskWeights(seen, plain.sizes());
  if (!weights) return found;
  if (auto keys = KeysOf(*weights, plain, seen.c.dtype(), with_parts))
    found.push_back(std::move(*keys));
  if (auto heads = HeadsOf(*weights, plain, seen.inputs, with_parts))
    found.push_back(std::move(*heads));
  return found;
}

}  // namespace sextant::oracle
