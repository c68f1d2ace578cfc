// The attention mask: its attributes, and the function that returns the visible keys of a query.
// For every combination of attributes these are one range of keys, so kernels can skip masked keys.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/attribute.h"

namespace sextant {

enum class Mask {
  kNone,    // all keys
  kCausal,  // the query's own key and all keys before it
};
constexpr std::array<std::string_view, 2> NamesOf(Mask) { return {"none", "causal"}; }

// The index of query s among the keys where the numbers of queries and keys differ.
enum class Align {
  kBottomRight,  // the last query belongs to the last key: flash-attn since 2.1, KV caches
  kTopLeft,      // the first query belongs to the first key: torch's is_causal, padded batches
};
constexpr std::array<std::string_view, 2> NamesOf(Align) { return {"bottom_right", "top_left"}; }

// The result for a query without visible keys.
enum class EmptyRows {
  kUnspecified,  // frameworks differ: NaN, 0, the mean of all values
  kZero,         // y = 0, lse = -infinity
};
constexpr std::array<std::string_view, 2> NamesOf(EmptyRows) { return {"unspecified", "zero"}; }

// An attribute such as [1,0] that may be unset.
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

struct AttentionMask;

// The member `align` as an attribute. Its text is empty where query_offset replaces it.
struct AlignAttribute {
  AttentionMask& of;
};
std::string PrintValue(const AlignAttribute& aligned);
void ParseValue(std::string_view text, AlignAttribute& aligned);
std::span<const std::string> PossibleValues(const AlignAttribute& aligned);

// Query s of batch b has index i = s + FirstIndex(b) among the keys, where L is the number of keys:
//   query_offset=[..]   FirstIndex is the number of the list, one per batch or one for all
//   align=bottom_right  L - S, also if neither attribute is set
//   align=top_left      0
// Key t, 0 <= t < L, is visible to it if all conditions hold whose attribute is set:
//   causal             t <= i
//   window=[l,r]       i - l <= t <= i + r: l keys before its own and r after it, as flash-attn's
//                      window_size; -1: no limit on that side. Hugging Face's sliding_window=W,
//                      which includes the query's own key, is window=[W-1,0].
//   chunk=C            floor(i / C) = floor(t / C) (Llama 4: with causal)
//   segments=[a,b,..]  i and t are in the same segment: the first a tokens, the next b, and so on;
//                      the remaining tokens are the last segment
// key_length=[..] gives L, one number per batch or one for all; unset: L = T.
struct AttentionMask {
  Mask mask = Mask::kNone;
  std::optional<Align> align{};
  std::optional<IntegerList> query_offset{};
  std::optional<IntegerList> window{};
  std::optional<int64_t> chunk{};
  std::optional<IntegerList> key_length{}, segments{};
  EmptyRows empty_rows = EmptyRows::kUnspecified;
  Dimension B{}, S{}, T{};
  void Visit(auto&& v) {
    v("mask", mask);
    AlignAttribute aligned{*this};
    v("align", aligned);
    v("query_offset", query_offset);
    VisitLimits(v);
    v("B", B);
    v("S", S);
    v("T", T);
  }
  // The attributes that apply wherever the first query is.
  void VisitLimits(auto&& v) {
    v("window", window);
    v("chunk", chunk);
    v("key_length", key_length);
    v("segments", segments);
    v("empty_rows", empty_rows);
  }
  void Check() const;  // throws Error

  int64_t KeyLength(size_t b) const;   // L
  int64_t FirstIndex(size_t b) const;  // of query 0 among the keys
  KeyRange KeysOf(size_t b, size_t s) const;

 private:
  void CheckOffsets() const;
};

}  // namespace sextant
