// Which keys a query sees: one list of attributes, one function. Every combination of them leaves
// a range of keys, so kernels skip what is masked and never compute it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/attribute.h"

namespace sextant {

enum class Mask {
  kNone,    // all keys
  kCausal,  // a query sees itself and what is before it
};
constexpr std::array<std::string_view, 2> NamesOf(Mask) { return {"none", "causal"}; }

// Where query s stands among the keys, if there are more of one than of the other.
enum class Align {
  kBottomRight,  // the last query is the last key: flash-attn from 2.1 on, caches
  kTopLeft,      // the first query is the first key: torch's is_causal, padded batches
};
constexpr std::array<std::string_view, 2> NamesOf(Align) { return {"bottom_right", "top_left"}; }

// What a query that sees no key is answered with.
enum class EmptyRows {
  kUnspecified,  // frameworks differ: NaN, 0, the mean of all values
  kZero,         // y = 0, lse = -infinity
};
constexpr std::array<std::string_view, 2> NamesOf(EmptyRows) { return {"unspecified", "zero"}; }

// "[1,0]" as an attribute that may be unset.
struct IntegerList : std::vector<int64_t> {
  using std::vector<int64_t>::vector;
};
inline std::string PrintValue(const IntegerList& list) {
  return PrintValue<int64_t>(static_cast<const std::vector<int64_t>&>(list));
}
inline void ParseValue(std::string_view text, IntegerList& list) {
  ParseValue<int64_t>(text, static_cast<std::vector<int64_t>&>(list));
}

// Keys first .. last-1; empty where first = last = 0.
struct KeyRange {
  size_t first = 0, last = 0;
  bool IsEmpty() const { return first == last; }
  size_t size() const { return last - first; }
  bool operator==(const KeyRange&) const = default;
};

// Query s of batch b stands at the place i of key i: i = s + L - S, or i = s if top_left, where L
// is the number of keys. It sees key t, 0 <= t < L, if all of these hold that are asked for:
//   causal             t <= i
//   window=[l,r]       i - l <= t <= i + r: l keys before its own and r after it, as flash-attn's
//                      window_size; -1: no limit on that side. Hugging Face's sliding_window=W,
//                      which counts the query's own key, is window=[W-1,0].
//   chunk=C            floor(i / C) = floor(t / C) (Llama 4: with causal)
//   segments=[a,b,..]  i and t are of one segment: the first a tokens, the next b, and so on; the
//                      last is what is left
//   key_length=[..]    L is that of the batch, one for each or one for all; without it L = T
struct AttentionMask {
  Mask mask = Mask::kNone;
  Align align = Align::kBottomRight;
  std::optional<IntegerList> window{};
  std::optional<int64_t> chunk{};
  std::optional<IntegerList> key_length{}, segments{};
  EmptyRows empty_rows = EmptyRows::kUnspecified;
  Dimension B{}, S{}, T{};
  void Visit(auto&& v) {
    v("mask", mask);
    v("align", align);
    VisitLimits(v);
    v("B", B);
    v("S", S);
    v("T", T);
  }
  // What else limits the keys that are seen, whatever the alignment.
  void VisitLimits(auto&& v) {
    v("window", window);
    v("chunk", chunk);
    v("key_length", key_length);
    v("segments", segments);
    v("empty_rows", empty_rows);
  }
  void Check() const;  // throws Error

  KeyRange KeysOf(size_t b, size_t s) const;
};

}  // namespace sextant
