#include "tools/api/part_as_case.h"

#include <algorithm>
#include <map>

#include "reference/prove/case_of_part.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/part.h"

namespace sextant::tools {
namespace {

constexpr double kElements = 0x1p16;

// The index along each axis of an element of a tensor.
std::map<std::string, size_t> PlaceOf(const TensorSpec& spec, const Shape& shape, size_t flat) {
  std::map<std::string, size_t> place;
  for (size_t axis = shape.size(); axis-- > 0; flat /= shape[axis])
    place[spec.extents[axis]] = flat % shape[axis];
  return place;
}

Slice SliceAround(const Case& c, const std::map<std::string, size_t>& place) {
  double elements = 0;
  for (const TensorSpec& spec : c.info().signature.outputs)
    elements += static_cast<double>(CountOf(c.ShapeOf(spec)));
  Slice slice;
  for (const char letter : c.info().slices) {
    const std::string name(1, letter);
    const auto at = place.find(name);
    if (elements <= kElements || at == place.end() || !IsIndependent(c.operation(), letter))
      continue;
    const auto extent = static_cast<size_t>(c.dimensions().at(name));
    const double wanted = static_cast<double>(extent) * kElements / elements;
    const size_t size = std::clamp<size_t>(static_cast<size_t>(wanted), 1, extent);
    slice.ranges[name] = {std::min(at->second - at->second % size, extent - size), size};
    elements *= static_cast<double>(size) / static_cast<double>(extent);
  }
  return slice;
}

}  // namespace

std::optional<PartAsCase> PartAround(const Case& c, const TensorReaders& inputs,
                                     const TensorReaders& outputs, const TensorSpec& output,
                                     size_t index) {
  const Slice part = SliceAround(c, PlaceOf(output, c.ShapeOf(output), index));
  if (part.ranges.empty()) return std::nullopt;
  auto line = CaseOfPart(c, part);
  if (!line) return std::nullopt;
  PartAsCase own{part, *std::move(line), InputsOfPart(c, inputs, part, 0).values(), {}};
  for (const TensorReader& answer : outputs) {
    const auto& specs = c.info().signature.outputs;
    const auto spec = std::ranges::find(specs, answer.name(), &TensorSpec::name);
    own.outputs.push_back(ReadSlice(answer, *spec, part));
  }
  return own;
}

}  // namespace sextant::tools
