#include "oracle/catalog/smaller_case.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "oracle/diagnosis/work.h"
#include "reference/base/error.h"

namespace sextant::oracle {
namespace {

constexpr int64_t kMostElements = 4096;  // of the first output
constexpr int64_t kFewestRows = 2, kMostKeys = 64;
constexpr size_t kTimesSmaller = 4;  // the work

std::optional<Case> Changed(const Case& c, const std::vector<std::string>& words) {
  for (const Case& from : {c, c.WithDrawnInputs()}) {
    try {
      return from.With(words);
    } catch (const Error&) {
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Case> SmallerCasesOf(const Case& c) {
  Dimensions extents = c.dimensions();
  const std::vector<std::string>& axes = c.info().signature.outputs[0].extents;
  std::vector<std::string> rows;  // axes that may be shorter
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    const bool shares_keys = axes[i] == "H" && extents.contains("K");
    if (extents.contains(axes[i]) && !shares_keys) rows.push_back(axes[i]);
  }
  auto elements = static_cast<int64_t>(CountOf(c.ShapeOf(c.info().signature.outputs[0])));
  std::set<std::string> shorter;
  while (elements > kMostElements && !rows.empty()) {
    const std::string axis =
        *std::ranges::max_element(rows, {}, [&](const auto& name) { return extents[name]; });
    int64_t& extent = extents[axis];
    if (extent <= kFewestRows) break;
    elements = elements / extent * ((extent + 1) / 2);
    extent = (extent + 1) / 2;
    shorter.insert(axis);
  }
  std::vector<std::string> words;
  for (const std::string& axis : shorter)
    words.push_back(axis + "=" + std::to_string(extents[axis]));
  std::vector<Case> smaller;
  const auto add = [&] {
    auto changed = words.empty() ? std::nullopt : Changed(c, words);
    if (changed && kTimesSmaller * WorkOf(*changed) <= WorkOf(c))
      smaller.push_back(*std::move(changed));
  };
  if (extents.contains("T") && !shorter.contains("T") && extents["T"] > kMostKeys) {
    words.push_back("T=" + std::to_string(kMostKeys));
    add();  // fewer keys tell more
    words.pop_back();
  }
  add();
  return smaller;
}

}  // namespace sextant::oracle
