#include "oracle/rope/decoding_property.h"

#include "oracle/property/common_properties.h"
#include "oracle/rope/configuration.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

struct Rows {
  size_t first, count;
};

// The case when `length` tokens have come; empty: its configuration knows no length.
Case AtLength(const Case& c, std::optional<int64_t> length) {
  return length ? c.With("seq_len=" + std::to_string(*length)) : c;
}

// How long the sequence is before the last `rows` tokens come. A length that leaves no room for
// them is one of a sequence that began elsewhere.
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

// What becomes of these rows alone, against what became of them among all.
void CheckRows(const Case& c, const Tensors& inputs, const Rows& rows, const Response& all,
               const Ask& ask, Findings& findings) {
  const Signature& signature = c.info().signature;
  const Slice slice = SliceOf(rows);
  Tensors part = inputs;
  for (size_t i = 0; i < part.size(); ++i) {
    part[i].values = Take(inputs[i].values, signature.inputs[i], slice);
  }
  const Response alone = ask(c.With("S=" + std::to_string(rows.count)), part);
  const auto at = IndicesIn(all.shape(), signature.outputs[0], slice);
  for (size_t i = 0; i < at.size(); ++i)
    findings.Equal(alone(0, i), all(0, at[i]), {all, 0, at[i]});
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

Findings DecodedAgainstPrefilled(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  const size_t rows = ExtentOf(c, "S"), fresh = NewRows(c);
  if (fresh == 0) return findings;
  const Response all = ask(c, inputs);
  const Case before = AtLength(c, LengthBefore(c, fresh));
  CheckRows(before, inputs, {0, rows - fresh}, all, ask, findings);
  CheckRows(c, inputs, {rows - fresh, fresh}, all, ask, findings);
  return findings;
}

Property DecodingIsPrefill() {
  return {"decoding_is_prefill",
          "rows rotated as they come, each once, are as if rotated all at once",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            return SameAtBothLengths(c) ? DecodedAgainstPrefilled(c, inputs, ask) : Findings{};
          }};
}

}  // namespace sextant::oracle
