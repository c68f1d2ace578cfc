#include "oracle/profile/grouping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "reference/attention/attention_mask.h"
#include "reference/base/error.h"

namespace sextant::oracle {
namespace {

using Keys = std::vector<double>;  // of each element; NaN: none

// The indices of a flat index.
Shape IndicesOf(const Shape& shape, size_t flat) {
  Shape at(shape.size());
  for (size_t i = shape.size(); i-- > 0; flat /= shape[i]) at[i] = flat % shape[i];
  return at;
}

Keys KeysOfAxis(const Axis& axis, const Shape& shape) {
  Keys keys;
  for (size_t i = 0; i < CountOf(shape); ++i) {
    const size_t index = axis.index_of(IndicesOf(shape, i));
    keys.push_back(index == Axis::kNone ? std::numeric_limits<double>::quiet_NaN()
                                        : static_cast<double>(axis.values[index]));
  }
  return keys;
}

// The first input of real numbers that has an element for each element of the output.
const NamedTensor* ArgumentOf(const OutputOf& of) {
  const auto& inputs = of.c.signature().inputs;
  for (size_t i = 0; of.inputs && i < inputs.size(); ++i) {
    if (inputs[i].role != Role::kInteger && inputs[i].extents == of.output.extents)
      return &(*of.inputs)[i];
  }
  return nullptr;
}

Keys KeysOfArgument(const NamedTensor& argument) {
  Keys keys;
  for (const double x : argument.values.data) {
    keys.push_back(x == 0 ? -std::numeric_limits<double>::infinity()
                          : std::floor(std::log2(std::abs(x))));
  }
  return keys;
}

// The mask of the case, if its operation has one; queries are on the axis S of the output.
std::optional<AttentionMask> MaskOf(const OutputOf& of) {
  AttentionMask mask;
  bool has = false;
  const auto names = AttributesOf(mask);
  for (const Attribute& attribute : of.c.operation().Attributes()) {
    const std::string text =
        attribute.dimension ? std::to_string(of.c.dimensions().at(attribute.name)) : attribute.text;
    const bool shared = std::ranges::count(names, attribute.name, &Attribute::name) > 0;
    if (shared && !text.empty()) SetAttribute(mask, of.c.name(), attribute.name, text);
    has = has || attribute.name == "mask";
  }
  if (!has || std::ranges::count(of.output.extents, "S") == 0) return std::nullopt;
  return mask;
}

Keys KeysOfLengths(const OutputOf& of, const AttentionMask& mask, const Shape& shape) {
  const auto axis_of = [&](const char* letter) {
    return static_cast<size_t>(std::ranges::find(of.output.extents, letter) -
                               of.output.extents.begin());
  };
  const size_t batch = axis_of("B"), query = axis_of("S");
  Keys keys;
  for (size_t i = 0; i < CountOf(shape); ++i) {
    const Shape at = IndicesOf(shape, i);
    const size_t b = batch < at.size() ? at[batch] : 0;
    keys.push_back(static_cast<double>(mask.KeysOf(b, at[query]).size()));
  }
  return keys;
}

Grouping Grouped(std::string axis, const Keys& keys) {
  Grouping grouping{std::move(axis)};
  for (const double key : keys) {
    if (!std::isnan(key)) grouping.keys.push_back(key);
  }
  std::ranges::sort(grouping.keys);
  grouping.keys.erase(std::ranges::unique(grouping.keys).begin(), grouping.keys.end());
  for (const double key : keys) {
    const auto at = std::ranges::lower_bound(grouping.keys, key);
    grouping.group.push_back(std::isnan(key) ? Grouping::kNone
                                             : static_cast<size_t>(at - grouping.keys.begin()));
  }
  return grouping;
}

std::optional<Grouping> GroupsIn(const OutputOf& of, const std::string& by) {
  const Shape shape = of.c.ShapeOf(of.output);
  if (by == "row") {
    Keys keys;
    const size_t width = RowWidth(shape);
    for (size_t i = 0; i < CountOf(shape); ++i) keys.push_back(static_cast<double>(i / width));
    return Grouped(by, keys);
  }
  if (by == "argument") {
    const NamedTensor* const argument = ArgumentOf(of);
    if (!argument) return std::nullopt;
    return Grouped("log2 |" + argument->name + "|", KeysOfArgument(*argument));
  }
  if (by == "key_length") {
    const auto mask = MaskOf(of);
    if (!mask) return std::nullopt;
    return Grouped(by, KeysOfLengths(of, *mask, shape));
  }
  for (const Axis& axis : AxesOf(of)) {
    const bool is_position = by == "position" && !axis.derived_from.empty() && axis.name != "pair";
    if (is_position || axis.name == by || (by == "head" && axis.name == "H"))
      return Grouped(axis.name, KeysOfAxis(axis, shape));
  }
  return std::nullopt;
}

}  // namespace

bool HasGroups(const OutputOf& of, const std::string& by) { return GroupsIn(of, by).has_value(); }

std::string UsualGroups(const OutputOf& of) {
  for (const char* const by : {"position", "key_length", "argument"}) {
    if (HasGroups(of, by)) return by;
  }
  return "row";
}

Grouping GroupsOf(const OutputOf& of, const std::string& by) {
  if (auto grouping = GroupsIn(of, by)) return *std::move(grouping);
  std::vector<std::string> names = {"row"};
  for (const char* const name : {"position", "pair", "head", "key_length", "argument"})
    if (HasGroups(of, name)) names.push_back(name);
  for (const Axis& axis : AxesOf(of))
    if (std::ranges::find(names, axis.name) == names.end()) names.push_back(axis.name);
  std::string exist;
  for (const std::string& name : names) exist += " " + name;
  throw Error("the elements of ", of.output.name, " of ", of.c.name(), " have no groups by '", by,
              "'; there are:", exist);
}

}  // namespace sextant::oracle
