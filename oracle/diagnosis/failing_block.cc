#include "oracle/diagnosis/failing_block.h"

#include <algorithm>
#include <set>

#include "oracle/diagnosis/answered_tensor.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewestRows = 4;

}  // namespace

std::optional<FailingBlock> FailingBlockOf(const Observation& seen) {
  if (seen.golden.size() != 1) return std::nullopt;
  const auto tensor = AnsweredTensorOf(seen, 0);
  if (!tensor || tensor->failing.empty()) return std::nullopt;
  FailingBlock block{"", seen.permitted};
  std::vector<char> outside(tensor->got.size());
  for (const AxisView& axis : tensor->axes) {
    const std::vector<size_t> indices = axis.IndicesOf(tensor->failing);
    if (indices.size() == axis.extent) continue;
    block.text +=
        (block.text.empty() ? "" : ", ") + axis.name + " " + IndicesText(indices, axis.extent);
    for (size_t i = 0; i < outside.size(); ++i)
      outside[i] |= !std::ranges::binary_search(indices, axis.IndexOf(i));
  }
  size_t inside = 0;
  for (size_t i = 0; i < outside.size(); ++i) {
    if (outside[i]) block.permitted[0].error.data[i] = kNaN;
    inside += outside[i] == 0;
  }
  std::set<size_t> rows;
  for (const size_t flat : tensor->failing) rows.insert(flat / RowWidth(tensor->shape));
  const bool mostly_fails = 2 * tensor->failing.size() > inside;
  if (block.text.empty() || !mostly_fails || rows.size() < kFewestRows) return std::nullopt;
  return block;
}

}  // namespace sextant::oracle
