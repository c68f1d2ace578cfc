#include "oracle/diagnosis/answer/answered_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewestFailing = 8;  // elements of a part to which models can be fitted
constexpr size_t kRowParts = 4;

using IsIn = std::function<bool(size_t flat)>;

class Parts {
 public:
  Parts(const Observation& seen, size_t output, const AnsweredTensor& tensor)
      : seen_(seen),
        output_(output),
        tensor_(tensor),
        masks_{std::vector<char>(tensor.got.size(), 1)} {}

  void Add(const IsIn& is_in) {
    std::vector<char> mask(tensor_.got.size());
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = is_in(i);
    const auto failing = std::ranges::count_if(tensor_.failing, [&](size_t i) { return mask[i]; });
    if (failing < static_cast<ptrdiff_t>(kFewestFailing) || !masks_.insert(mask).second) return;
    all_.push_back(seen_.permitted);
    for (size_t i = 0; i < mask.size(); ++i)
      if (!mask[i]) all_.back()[output_].error.data[i] = kNaN;
  }
  std::vector<std::vector<PermittedTensor>>& all() { return all_; }

 private:
  const Observation& seen_;
  size_t output_;
  const AnsweredTensor& tensor_;
  std::set<std::vector<char>> masks_;
  std::vector<std::vector<PermittedTensor>> all_;
};

// Without the magnitude that most failing elements have, if several have one.
void AddOtherNumbers(const AnsweredTensor& tensor, Parts& parts) {
  std::map<double, size_t> counts;
  size_t nans = 0;
  for (const size_t flat : tensor.failing) {
    const double y = std::abs(tensor.got[flat]);
    ++(std::isnan(y) ? nans : counts[y]);
  }
  if (nans > 0) parts.Add([&](size_t i) { return !std::isnan(tensor.got[i]); });
  const auto most = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
  if (most == counts.end() || most->second < 2) return;
  parts.Add([&](size_t i) { return std::abs(tensor.got[i]) != most->first; });
}

void AddAxis(const AxisView& axis, Parts& parts) {
  const size_t n = axis.extent, half = (n + 1) / 2;
  const auto add = [&](const std::function<bool(size_t index)>& is_in) {
    parts.Add([&](size_t flat) { return is_in(axis.IndexOf(flat)); });
  };
  add([](size_t i) { return i > 0; });
  add([=](size_t i) { return i + 1 < n; });
  add([=](size_t i) { return i < half; });
  add([=](size_t i) { return i >= half; });
  add([](size_t i) { return i % 2 == 0; });
  add([](size_t i) { return i % 2 == 1; });
  add([](size_t i) { return i == 0; });
}

}  // namespace

std::vector<std::vector<PermittedTensor>> PartsOf(const Observation& seen) {
  std::vector<std::vector<PermittedTensor>> all;
  for (size_t o = 0; o < seen.golden.size(); ++o) {
    const auto tensor = AnsweredTensorOf(seen, o);
    if (!tensor || tensor->failing.empty()) continue;
    Parts parts(seen, o, *tensor);
    AddOtherNumbers(*tensor, parts);
    for (const NamedTensor& input : seen.inputs) {
      if (input.values.shape != tensor->shape) continue;
      parts.Add(
          [&](size_t i) { return tensor->got[i] != RoundTo(tensor->dtype, input.values.data[i]); });
    }
    for (const AxisView& axis : tensor->axes) AddAxis(axis, parts);
    const size_t rows = tensor->got.size() / std::max<size_t>(RowWidth(tensor->shape), 1);
    for (size_t q = 0; q < kRowParts && rows >= kRowParts; ++q)
      parts.Add([&](size_t i) { return i / RowWidth(tensor->shape) * kRowParts / rows == q; });
    std::ranges::move(parts.all(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sextant::oracle
