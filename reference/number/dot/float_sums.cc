#include "reference/number/dot/float_sums.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace sextant {
namespace {

using Kind = SumOrder::Kind;

// One half plus the other.
void AddHalves(std::span<const float> row, const float* block, float* sums) {
  if (row.size() == 1) return AddFloatProducts(row, block, sums);
  const size_t half = row.size() / 2;
  float second[kRoundedRows];
  AddHalves(row.first(half), block, sums);
  AddHalves(row.subspan(half), block + half * kRoundedRows, second);
  for (size_t j = 0; j < kRoundedRows; ++j) sums[j] += second[j];
}

// The terms of each column from the last to the first, sorted by magnitude.
void AddLargestFirst(std::span<const float> row, const float* block, float* sums) {
  const auto size = [](float x) { return std::isnan(x) ? INFINITY : std::abs(x); };
  std::vector<float> terms(row.size());
  for (size_t j = 0; j < kRoundedRows; ++j) {
    for (size_t i = 0; i < row.size(); ++i)
      terms[row.size() - 1 - i] = row[i] * block[i * kRoundedRows + j];
    std::ranges::stable_sort(terms, std::greater(), size);
    sums[j] = std::accumulate(terms.begin() + 1, terms.end(), terms[0]);
  }
}

}  // namespace

FloatSums::FloatSums(const SumOrder& order, size_t width) : order_(order) {
  if (order.kind == Kind::kBackwards) {
    for (size_t i = width; i > 0; --i) index_.push_back(i - 1);
  }
  if (order.kind == Kind::kLanes) {
    for (size_t lane = 0; lane < std::min(order.size, width); ++lane) {
      for (size_t i = lane; i < width; i += order.size) index_.push_back(i);
      ends_.push_back(index_.size());
    }
  }
  if (order.kind == Kind::kBlocks) {
    for (size_t end = order.size; end < width; end += order.size) ends_.push_back(end);
  }
  if (ends_.empty() || ends_.back() < width) ends_.push_back(width);
}

std::vector<float> FloatSums::BlockInOrder(std::vector<float> block) const {
  if (index_.empty()) return block;
  std::vector<float> ordered;
  ordered.reserve(block.size());
  for (const size_t i : index_) {
    const auto column = block.begin() + static_cast<ptrdiff_t>(i * kRoundedRows);
    ordered.insert(ordered.end(), column, column + kRoundedRows);
  }
  return ordered;
}

std::vector<float> FloatSums::RowInOrder(std::span<const float> row) const {
  std::vector<float> ordered(row.begin(), row.end());
  for (size_t i = 0; i < index_.size(); ++i) ordered[i] = row[index_[i]];
  return ordered;
}

void FloatSums::Add(std::span<const float> row, const float* block, float* sums) const {
  if (order_.kind == Kind::kHalves) return AddHalves(row, block, sums);
  if (order_.kind == Kind::kLargestFirst) return AddLargestFirst(row, block, sums);
  AddParts(row, block, sums);
}

void FloatSums::AddParts(std::span<const float> row, const float* block, float* sums) const {
  AddFloatProducts(row.first(ends_[0]), block, sums);
  float part[kRoundedRows];
  for (size_t p = 1; p < ends_.size(); ++p) {
    const size_t first = ends_[p - 1];
    AddFloatProducts(row.subspan(first, ends_[p] - first), block + first * kRoundedRows, part);
    for (size_t j = 0; j < kRoundedRows; ++j) sums[j] += part[j];
  }
}

}  // namespace sextant
