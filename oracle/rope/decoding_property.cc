#include "oracle/rope/decoding_property.h"

#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "oracle/rope/configuration.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

struct Rows {
  size_t first, count;
};

// The case at a sequence length; unchanged without one: the configuration does not depend on it.
Case AtLength(const Case& c, std::optional<int64_t> length) {
  return length ? c.With("seq_len=" + std::to_string(*length)) : c;
}

// The sequence length before the last `rows` tokens, at least 1. Attribute seq_len and extent S are
// independent, so seq_len may be smaller than `rows`.
std::optional<int64_t> LengthBefore(const Case& c, size_t rows) {
  if (TextOf(c, "scaling").empty()) return std::nullopt;
  const std::optional<int64_t> whole = Configuration(c).setting.seq_len;
  if (!whole) return std::nullopt;
  return std::max<int64_t>(1, *whole - static_cast<int64_t>(rows));
}

Slice SliceOf(const Rows& rows) {
  Slice slice;
  slice.ranges["S"] = {rows.first, rows.count};
  return slice;
}

// Compares the answer for these rows alone with their part of the answer for all rows.
void CheckRows(const Case& c, const Tensors& inputs, const Rows& rows, const Response& all,
               const Ask& ask, Comparisons& comparisons) {
  const Signature& signature = c.signature();
  const Slice slice = SliceOf(rows);
  Tensors part = inputs;
  for (size_t i = 0; i < part.size(); ++i) {
    part[i].values = ExtractSlice(inputs[i].values, signature.inputs[i], slice);
  }
  const Response alone = ask(c.With("S=" + std::to_string(rows.count)), part);
  const auto at = IndicesIn(all.shape(), signature.outputs[0], slice);
  for (size_t i = 0; i < at.size(); ++i)
    comparisons.Equal(alone(0, i), all(0, at[i]), {all, 0, at[i]});
}

size_t NewRows(const Case& c) { return ExtentOf(c, "S") / 2; }

bool SameAtBothLengths(const Case& c) {
  const std::optional<int64_t> before = LengthBefore(c, NewRows(c));
  if (!before) return true;
  const Configuration whole(c);
  RotarySetting shorter = whole.setting;
  shorter.seq_len = before;
  const ExactFrequencies a = FrequenciesOf(whole.scaling, whole.setting),
                         b = FrequenciesOf(whole.scaling, shorter);
  return a.of_pair == b.of_pair && a.amplitude == b.amplitude;
}

}  // namespace

Comparisons CompareDecodingWithPrefill(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const size_t rows = ExtentOf(c, "S"), added = NewRows(c);
  if (added == 0) return comparisons;
  const Response all = ask(c, inputs);
  const Case before = AtLength(c, LengthBefore(c, added));
  CheckRows(before, inputs, {0, rows - added}, all, ask, comparisons);
  CheckRows(c, inputs, {rows - added, added}, all, ask, comparisons);
  return comparisons;
}

Property DecodingIsPrefill() {
  return {"decoding_is_prefill",
          "rotating the rows in two parts (decoding) equals rotating all at once (prefill)",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            return SameAtBothLengths(c) ? CompareDecodingWithPrefill(c, inputs, ask)
                                        : Comparisons{};
          }};
}

}  // namespace sextant::oracle
