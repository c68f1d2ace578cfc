#include "tools/api/input_faults.h"

#include <algorithm>

#include "fixtures/store/golden_plan.h"
#include "reference/prove/slices.h"
#include "tools/api/difference.h"

namespace sextant::tools {
namespace {

// Of the elements that the record has: all, or those of a slice.
std::string ValueFault(const std::string& path, const TensorSource& stored,
                       const TensorReader& drawn, const std::vector<Run>& runs) {
  constexpr size_t kAtOnce = size_t{1} << 20;  // elements
  size_t begin = 0;
  for (const auto& [first, count] : runs) {
    for (size_t k = 0; k < count; k += kAtOnce) {
      std::vector<double> got(std::min(kAtOnce, count - k)), expected(got.size());
      stored.Read(begin, got);
      drawn.Read(first + k, expected);
      std::string fault =
          Difference(path, stored.shape(), got, expected, [begin](size_t i) { return begin + i; });
      if (!fault.empty()) return fault;
      begin += got.size();
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> InputFaults(const fixtures::LargeRecord& record, const Case& c,
                                     const TensorReaders& drawn) {
  std::vector<std::string> faults;
  const Slice slice = ParseSlice(c, record.slice);
  size_t expected = 0;
  for (size_t i = 0; i < drawn.size(); ++i) {
    const TensorSpec& spec = c.signature().inputs[i];
    const bool is_cut = fixtures::IsCut(spec, slice);
    if (!is_cut && !fixtures::IsFirst(slice)) continue;
    ++expected;
    const auto at = std::ranges::find_if(
        record.inputs, [&](const auto& stored) { return stored->name() == drawn[i].name(); });
    if (at == record.inputs.end()) continue;
    const TensorSource& stored = **at;
    const std::string path = "inputs/" + stored.name();
    const Slice own = is_cut ? slice : Slice();
    const Shape shape = ShapeIn(drawn[i].shape(), spec, own);
    if (stored.dtype() != drawn[i].dtype()) {
      faults.push_back(path + " is " + std::string(NameOf(stored.dtype())) + ", expected " +
                       std::string(NameOf(drawn[i].dtype())));
    }
    std::string fault =
        stored.shape() == shape
            ? ValueFault(path, stored, drawn[i], RunsIn(drawn[i].shape(), spec, own))
            : path + " has shape " + ToString(stored.shape()) + ", expected " + ToString(shape);
    if (!fault.empty()) faults.push_back(std::move(fault));
  }
  if (record.inputs.size() != expected)
    faults.push_back("the record does not have the inputs of its signature");
  for (const auto& stored : record.inputs) {
    if (!FindTensor(c.signature(), stored->name()))
      faults.push_back("inputs/" + stored->name() + " is not an input of the operation");
  }
  return faults;
}

}  // namespace sextant::tools
