#include "oracle/diagnosis/answer/failing_block.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/answer/telling_input.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewestRows = 4;

// The indices of an axis that fail in some answered output.
struct FailingAxis {
  std::string name;
  size_t extent;
  std::vector<size_t> indices;
};

const FailingAxis* AxisNamed(const std::vector<FailingAxis>& axes, const std::string& name) {
  const auto at = std::ranges::find(axes, name, &FailingAxis::name);
  return at == axes.end() ? nullptr : &*at;
}

// Those of which some index does not fail.
std::vector<FailingAxis> FailingAxes(const std::vector<std::optional<AnsweredTensor>>& tensors) {
  std::vector<FailingAxis> axes;
  for (const auto& tensor : tensors) {
    if (!tensor) continue;
    for (const AxisView& axis : tensor->axes) {
      auto at = std::ranges::find(axes, axis.name, &FailingAxis::name);
      if (at == axes.end()) at = axes.insert(at, {axis.name, axis.extent, {}});
      std::vector<size_t> all;
      std::ranges::set_union(at->indices, axis.IndicesOf(tensor->failing), std::back_inserter(all));
      at->indices = std::move(all);
    }
  }
  std::erase_if(axes, [](const FailingAxis& axis) { return axis.indices.size() == axis.extent; });
  return axes;
}

}  // namespace

std::optional<FailingBlock> FailingBlockOf(const Observation& seen) {
  std::vector<std::optional<AnsweredTensor>> tensors;
  for (size_t o = 0; o < seen.golden.size(); ++o) tensors.push_back(AnsweredTensorOf(seen, o));
  const std::vector<FailingAxis> axes = FailingAxes(tensors);
  FailingBlock block{"", seen.permitted};
  for (const auto& [name, extent, indices] : axes)
    block.text += (block.text.empty() ? "" : ", ") + name + " " + IndicesText(indices, extent) +
                  TellingInput(seen, name, indices);
  size_t inside = 0, failing = 0;
  std::set<std::pair<size_t, size_t>> rows;
  for (size_t o = 0; o < tensors.size(); ++o) {
    if (!tensors[o]) continue;
    const AnsweredTensor& tensor = *tensors[o];
    for (size_t i = 0; i < tensor.got.size(); ++i) {
      const bool is_inside = std::ranges::all_of(tensor.axes, [&](const AxisView& axis) {
        const FailingAxis* at = AxisNamed(axes, axis.name);
        return !at || std::ranges::binary_search(at->indices, axis.IndexOf(i));
      });
      if (!is_inside) block.permitted[o].error.data[i] = kNaN;
      inside += is_inside;
    }
    failing += tensor.failing.size();
    for (const size_t flat : tensor.failing) rows.emplace(o, flat / RowWidth(tensor.shape));
  }
  const bool mostly_fails = 2 * failing > inside;
  if (block.text.empty() || !mostly_fails || rows.size() < kFewestRows) return std::nullopt;
  return block;
}

}  // namespace sextant::oracle
