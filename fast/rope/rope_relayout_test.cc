#include "fast/rope/rope_relayout.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace sextant::fast {
namespace {

// Permutes the rows 0, 1, 2, ..., each of `width` equal bytes. Returns the first byte of each row.
std::vector<int> RowsAfter(const Relayout& r, size_t width = 3) {
  const size_t rows = r.H * r.D;
  std::vector<unsigned char> weight(rows * width), y(weight.size(), 255);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<unsigned char>(i / width);
  RelayoutRows(r, weight.data(), width, y.data());
  std::vector<int> first;
  for (size_t i = 0; i < rows; ++i) {
    first.push_back(y[i * width]);
    for (size_t k = 1; k < width; ++k) EXPECT_EQ(y[i * width + k], y[i * width]);
  }
  return first;
}

TEST(RelayoutRows, GathersEvenRowsBeforeOddOnes) {
  EXPECT_EQ(RowsAfter({.H = 1, .D = 6, .R = 6}), (std::vector<int>{0, 2, 4, 1, 3, 5}));
}

TEST(RelayoutRows, IsInvertible) {
  const Relayout back{.H = 1, .D = 6, .R = 6, .from = Pairing::kHalf, .to = Pairing::kInterleaved};
  EXPECT_EQ(RowsAfter(back), (std::vector<int>{0, 3, 1, 4, 2, 5}));
}

TEST(RelayoutRows, KeepsRowsOutsideTheWindowOfEachHead) {
  const Relayout r{.H = 2, .D = 7, .R = 4, .offset = 2};
  EXPECT_EQ(RowsAfter(r), (std::vector<int>{0, 1, 2, 4, 3, 5, 6, 7, 8, 9, 11, 10, 12, 13}));
}

TEST(RelayoutRows, ToTheSamePairingIsACopy) {
  std::vector<int> same(8);
  std::iota(same.begin(), same.end(), 0);
  EXPECT_EQ(RowsAfter({.H = 2, .D = 4, .R = 4, .to = Pairing::kInterleaved}), same);
}

}  // namespace
}  // namespace sextant::fast
