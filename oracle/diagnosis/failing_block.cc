#include "oracle/diagnosis/failing_block.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "oracle/diagnosis/answered_tensor.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewestRows = 4;

}  // namespace

// Of all answered outputs: the indices of each axis that fail in some of them, by its name.
std::optional<FailingBlock> FailingBlockOf(const Observation& seen) {
  std::vector<std::optional<AnsweredTensor>> tensors;
  std::vector<std::pair<std::string, std::vector<size_t>>> axes;  // indices that fail
  std::map<std::string, size_t> extents;
  for (size_t o = 0; o < seen.golden.size(); ++o) {
    tensors.push_back(AnsweredTensorOf(seen, o));
    if (!tensors.back()) continue;
    for (const AxisView& axis : tensors.back()->axes) {
      extents[axis.name] = axis.extent;
      auto at = std::ranges::find(axes, axis.name, [](const auto& one) { return one.first; });
      if (at == axes.end()) at = axes.insert(at, {axis.name, {}});
      std::vector<size_t> all;
      std::ranges::set_union(at->second, axis.IndicesOf(tensors.back()->failing),
                             std::back_inserter(all));
      at->second = std::move(all);
    }
  }
  FailingBlock block{"", seen.permitted};
  std::erase_if(axes, [&](const auto& one) { return one.second.size() == extents[one.first]; });
  for (const auto& [name, indices] : axes)
    block.text +=
        (block.text.empty() ? "" : ", ") + name + " " + IndicesText(indices, extents[name]);
  size_t inside = 0, failing = 0;
  std::set<std::pair<size_t, size_t>> rows;
  for (size_t o = 0; o < tensors.size(); ++o) {
    if (!tensors[o]) continue;
    const AnsweredTensor& tensor = *tensors[o];
    for (size_t i = 0; i < tensor.got.size(); ++i) {
      const bool is_inside = std::ranges::all_of(tensor.axes, [&](const AxisView& axis) {
        const auto at = std::ranges::find(axes, axis.name, [](const auto& one) { return one.first; });
        return at == axes.end() || std::ranges::binary_search(at->second, axis.IndexOf(i));
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
