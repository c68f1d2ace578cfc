// Wrong orders in which implementations read columns, channels or heads.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sextant::oracle {

struct ColumnOrder {
  std::string name;                  // "rolled"
  std::string text;                  // "rolled by one to the left"
  std::function<size_t(size_t)> of;  // the right column of the number that column j has
};

// Of n columns. All differ.
std::vector<ColumnOrder> ColumnOrdersOf(size_t n);

// The numbers in another order.
std::vector<double> InOrder(const std::vector<double>& numbers, const ColumnOrder& order);

// The place of column j of the first (0) or second (1) half, if blocks of both come by turns.
inline size_t PlaceByTurns(size_t j, size_t half, size_t block) {
  return j / block * 2 * block + half * block + j % block;
}
// The other way round: of the place i of both, among both halves of `width` columns.
inline size_t PlaceInHalves(size_t i, size_t width, size_t block) {
  const size_t at = i / block;
  return at % 2 * width + at / 2 * block + i % block;
}
// The sizes of such blocks that divide the width of a half: powers of two, a half and a quarter.
std::vector<size_t> BlockSizesOf(size_t width);

}  // namespace sextant::oracle
