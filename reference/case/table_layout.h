// The layouts of a table of cos and sin: values of an attribute that stand for a number in extents.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sextant {

// The columns of a table: one per pair, or two per pair in the order of one of the two pairings.
enum class TableLayout { kHalfWidth, kHalves, kInterleaved };
constexpr std::array<std::string_view, 3> NamesOf(TableLayout) {
  return {"half_width", "halves", "interleaved"};
}
constexpr int64_t ColumnsPerPair(TableLayout layout) {
  return layout == TableLayout::kHalfWidth ? 1 : 2;
}

}  // namespace sextant
