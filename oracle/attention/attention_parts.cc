#include "oracle/attention/attention_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::oracle {

PartOfCase PartOf(const Case& c, const Tensors& inputs, const Slice& slice,
                  const std::vector<std::string>& words) {
  PartOfCase part{c, inputs};
  for (size_t i = 0; i < inputs.size(); ++i) {
    part.inputs[i].values = ExtractSlice(inputs[i].values, c.signature().inputs[i], slice);
  }
  std::vector<std::string> changes = words;
  for (const auto& [letter, range] : slice.ranges)
    changes.push_back(letter + "=" + std::to_string(range.second));
  // Input lists in the case line have the extents of the whole. They are not needed: the inputs are
  // given.
  part.c = c.WithDrawnInputs().With(changes);
  return part;
}

namespace {

// True if the element is specified: its query sees a key.
bool IsSpecified(const VisibleKeys& seen, const AttentionSizes& n, size_t output, size_t i) {
  return !seen(output == kAttended ? i / n.E : i).IsEmpty();
}

}  // namespace

void ExpectEqualSlice(const Case& c, const Response& whole, const Slice& slice,
                      const Response& part, Comparisons& comparisons) {
  const VisibleKeys seen(c);
  const AttentionSizes n(c);
  for (size_t o = 0; o < whole.outputs.size(); ++o) {
    if (!whole.Has(o) || !part.Has(o)) continue;
    const auto at = IndicesIn(whole.shape(o), c.info().signature.outputs[o], slice);
    for (size_t i = 0; i < at.size(); ++i) {
      if (IsSpecified(seen, n, o, at[i])) {
        comparisons.Equal(whole(o, at[i]), part(o, i), {whole, o, at[i]});
      }
    }
  }
}

void ExpectEqualVisible(const Case& c, const Response& a, const Response& b,
                        Comparisons& comparisons) {
  ExpectEqualSlice(c, a, {}, b, comparisons);
}

namespace {

Slice FirstTokens(size_t count) { return {{{"S", {0, count}}, {"T", {0, count}}}}; }

// Compares the first packed sequence with the same sequence alone. The case is cut to as many
// queries as keys.
Comparisons CheckSegment(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  Comparisons comparisons;
  if (!IsSet(c, "segments")) return comparisons;
  const std::vector<int64_t> segments = *AttentionOf(c).segments;
  const size_t tokens = std::min(n.S, n.T), length = static_cast<size_t>(segments.at(0));
  const int64_t packed = std::accumulate(segments.begin(), segments.end(), int64_t{0});
  if (length == 0 || static_cast<size_t>(packed) > tokens) return comparisons;
  const PartOfCase square =
      PartOf(c, inputs, FirstTokens(tokens), {"key_length=", "query_offset="});
  const PartOfCase alone = PartOf(square.c, square.inputs, FirstTokens(length), {"segments="});
  ExpectEqualSlice(square.c, ask(square.c, square.inputs), FirstTokens(length),
                   ask(alone.c, alone.inputs), comparisons);
  return comparisons;
}

// With mask=causal: compares a prefill with its queries in blocks, each block with the keys up to
// its last query.
Comparisons CheckCache(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  Comparisons comparisons;
  if (n.S > n.T || n.S == 0) return comparisons;
  Case causal = c;
  for (const char* word : {"mask=causal", "query_offset=", "align=", "key_length=", "segments="}) {
    causal = causal.With(word);
  }
  const Response prefill = ask(causal, inputs);
  for (const size_t block : {size_t{1}, (n.S + 1) / 2}) {
    for (size_t s = 0; s < n.S; s += block) {
      const size_t count = std::min(block, n.S - s);
      const Slice part{{{"S", {s, count}}, {"T", {0, n.T - n.S + s + count}}}};
      const PartOfCase step = PartOf(causal, inputs, part);
      ExpectEqualSlice(causal, prefill, {{{"S", {s, count}}}}, ask(step.c, step.inputs),
                       comparisons);
    }
  }
  return comparisons;
}

// Compares all queries at once with the same queries in chunks, each with the same keys and with
// the index of its first query as query_offset.
Comparisons CheckChunks(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  const AttentionAttributes op = AttentionOf(c);
  IntegerList first;
  for (size_t b = 0; b < n.B; ++b) first.push_back(op.FirstIndex(b));
  Comparisons comparisons;
  if (first.empty() || n.S == 0 || std::ranges::min(first) < 0) return comparisons;
  if (std::ranges::max(first) > kLargestInteger - static_cast<int64_t>(n.S)) return comparisons;
  const Response whole = ask(c, inputs);
  const size_t chunk = (n.S + 1) / 2;
  for (size_t s = 0; s < n.S; s += chunk) {
    const Slice rows{{{"S", {s, std::min(chunk, n.S - s)}}}};
    IntegerList offset = first;
    for (int64_t& index : offset) index += static_cast<int64_t>(s);
    const PartOfCase part =
        PartOf(c, inputs, rows, {"align=", "query_offset=" + PrintValue(offset)});
    ExpectEqualSlice(c, whole, rows, ask(part.c, part.inputs), comparisons);
  }
  return comparisons;
}

// Compares shared keys and values with the same ones repeated for every head of the group.
Comparisons CheckRepeated(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  Comparisons comparisons;
  if (n.H == 0) return comparisons;
  PartOfCase repeated = PartOf(c, inputs, {}, {"K=" + std::to_string(n.H)});
  for (NamedTensor& input : repeated.inputs) {
    const std::vector<std::string>& extents = FindTensor(c.signature(), input.name)->extents;
    if (extents.size() < 2 || extents[1] != "K") continue;
    const Tensor<double> shared = input.values;
    Shape shape = shared.shape;
    shape[1] = 1;
    const size_t size = CountOf(shape) / std::max<size_t>(1, shape[0]);
    shape[1] = n.H;
    input.values = Tensor<double>(shape);
    for (size_t i = 0; i < input.values.data.size(); ++i) {
      const size_t head = i / size, from = head / n.H * n.K + head % n.H / (n.H / n.K);
      input.values.data[i] = shared.data[from * size + i % size];
    }
  }
  ExpectEqualVisible(c, ask(c, inputs), ask(repeated.c, repeated.inputs), comparisons);
  return comparisons;
}

// Compares the last head of the last batch with the same head alone.
Comparisons CheckAlone(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  Comparisons comparisons;
  if (n.B == 0 || n.H == 0) return comparisons;
  const Slice last{{{"B", {n.B - 1, 1}}, {"H", {n.H - 1, 1}}, {"K", {n.K - 1, 1}}}};
  std::vector<std::string> words;
  const AttentionAttributes op = AttentionOf(c);
  const auto last_of = [&](const char* name, const std::optional<IntegerList>& list) {
    if (list) words.push_back(std::string(name) + "=[" + std::to_string(list->back()) + "]");
  };
  last_of("key_length", op.key_length);
  last_of("query_offset", op.query_offset);
  const PartOfCase alone = PartOf(c, inputs, last, words);
  ExpectEqualSlice(c, ask(c, inputs), last, ask(alone.c, alone.inputs), comparisons);
  return comparisons;
}

// e^x of a number with an error: e^(x + d) = e^x e^d.
Measured ExpOf(const Measured& x) {
  if (!std::isfinite(x.value()) || !std::isfinite(x.error())) return x;
  const double grown = (Exp(BoostReal(x.error())) - BoostReal(1.0)).High();
  return Nearest(Exp(BoostReal(x.value())).High()) * Measured(1, grown);
}

// Without a mask: y = sum e^(lse_part - lse) y_part for the keys in two parts. Not with a sink,
// which would take its part twice.
Comparisons CheckSplit(const Case& c, const Tensors& inputs, const Ask& ask) {
  const AttentionSizes n(c);
  Comparisons comparisons;
  if (n.T < 2 || HasInput(inputs, "sink")) return comparisons;
  PartOfCase all = PartOf(c, inputs, {}, {"mask=none"});
  for (const char* word : {"window=", "chunk=", "key_length=", "segments="}) {
    all.c = all.c.With(word);
  }
  const size_t first = (n.T + 1) / 2;
  const Response whole = ask(all.c, inputs);
  if (!whole.Has(kLse)) return comparisons;
  std::vector<Measured> sum(whole.size(kAttended), 0);
  for (const auto& [from, count] : {std::pair{size_t{0}, first}, {first, n.T - first}}) {
    const PartOfCase part = PartOf(all.c, inputs, {{{"T", {from, count}}}});
    const Response y = ask(part.c, part.inputs);
    if (!y.Has(kLse)) return comparisons;
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] = sum[i] + ExpOf(y(kLse, i / n.E) - whole(kLse, i / n.E)) * y(kAttended, i);
    }
  }
  for (size_t i = 0; i < sum.size(); ++i)
    comparisons.Equal(whole(kAttended, i), sum[i], {whole, kAttended, i});
  return comparisons;
}

}  // namespace

std::vector<Property> AttentionPartProperties() {
  return {
      {"segments_are_alone", "a packed sequence gives the same as the sequence alone",
       CheckSegment},
      {"cached_as_at_once", "queries one by one, in blocks and all at once give the same",
       CheckCache},
      {"chunks_as_at_once",
       "queries in chunks, each with its query_offset, and all at once give the same", CheckChunks},
      {"shared_keys_are_repeated", "repeating shared keys and values for each head changes nothing",
       CheckRepeated},
      {"heads_and_batches_alone", "a head of a batch gives the same as the head alone", CheckAlone},
      {"parts_merge",
       "the results of two halves of the keys, weighted by e^lse, add up to the whole", CheckSplit},
  };
}

}  // namespace sextant::oracle
