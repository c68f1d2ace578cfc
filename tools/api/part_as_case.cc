#include "tools/api/part_as_case.h"

#include <algorithm>
#include <map>

#include "reference/base/error.h"
#include "reference/case/aliases.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/part.h"
#include "tools/api/completed_line.h"

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

// The line of the case with the extents of the slice, without the words that draw inputs.
std::string LineOf(const Case& c, const Slice& slice) {
  std::string line;
  for (const std::string& word : WordsIn(c.ToString())) {
    const size_t equals = word.find('=');
    const auto at = slice.ranges.find(word.substr(0, equals));
    if (word.starts_with('@')) continue;
    line += at == slice.ranges.end() || equals == word.npos
                ? word + " "
                : at->first + "=" + std::to_string(at->second.second) + " ";
  }
  return line;
}

}  // namespace

std::optional<PartAsCase> PartAround(const Case& c, const TensorReaders& inputs,
                                     const TensorReaders& outputs, const TensorSpec& output,
                                     size_t index) {
  const Slice part = SliceAround(c, PlaceOf(output, c.ShapeOf(output), index));
  if (part.ranges.empty()) return std::nullopt;
  try {
    PartAsCase own{part, Case::Parse(LineOf(c, part)), {}, {}};
    const auto fits = [&](const TensorSpec& spec) {
      return own.c.ShapeOf(spec) == ShapeIn(c.ShapeOf(spec), spec, part) &&
             own.c.DTypeOf(spec) == c.DTypeOf(spec);
    };
    if (!std::ranges::all_of(c.signature().inputs, fits) ||
        !std::ranges::all_of(c.info().signature.outputs, fits))
      return std::nullopt;
    own.inputs = InputsOfPart(c, inputs, part, 0).values();
    for (const TensorReader& answer : outputs) {
      const auto& specs = c.info().signature.outputs;
      const auto spec = std::ranges::find(specs, answer.name(), &TensorSpec::name);
      own.outputs.push_back(ReadSlice(answer, *spec, part));
    }
    return own;
  } catch (const Error&) {  // an attribute has as many numbers as the whole case has sequences
    return std::nullopt;
  }
}

}  // namespace sextant::tools
