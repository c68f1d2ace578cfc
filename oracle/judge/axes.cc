#include "oracle/judge/axes.h"

#include <algorithm>

#include "reference/rope/rotated_channels.h"

namespace sextant::oracle {
namespace {

constexpr std::string_view kTable = "layout*R/2";  // the columns of a table of cos or sin

// The axes of the output with the names of the input's axes; empty if the output lacks one of them.
std::vector<size_t> SharedAxes(const TensorSpec& input, const TensorSpec& output) {
  std::vector<size_t> axes;
  for (const std::string& extent : input.extents) {
    const auto at = std::ranges::find(output.extents, extent);
    if (at == output.extents.end()) return {};
    axes.push_back(static_cast<size_t>(at - output.extents.begin()));
  }
  return axes;
}

bool IsAxis(const TensorSpec& input, const TensorSpec& output) {
  return input.role == Role::kInteger && !SharedAxes(input, output).empty();
}

bool HasPairs(const Operation& operation, const TensorSpec& output) {
  if (output.extents.empty()) return false;
  return output.extents.back() == "R/2" || output.extents.back() == kTable ||
         (output.extents.back() == "D" && RotatesChannels(operation));
}

std::vector<int64_t> UpTo(size_t count) {
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<int64_t>(i);
  return values;
}

Axis AxisOfInput(const TensorSpec& spec, const Tensor<double>& input, const TensorSpec& output) {
  Axis axis{spec.name, spec.extents.back(), {}, nullptr};
  for (const double x : input.data) axis.values.push_back(static_cast<int64_t>(x));
  std::ranges::sort(axis.values);
  axis.values.erase(std::ranges::unique(axis.values).begin(), axis.values.end());
  std::vector<size_t> index;  // for each element of the input, in axis.values
  for (const double x : input.data) {
    const auto at = std::ranges::lower_bound(axis.values, static_cast<int64_t>(x));
    index.push_back(static_cast<size_t>(at - axis.values.begin()));
  }
  axis.index_of = [index, shape = input.shape, axes = SharedAxes(spec, output)](const Shape& at) {
    size_t flat = 0;
    for (size_t i = 0; i < axes.size(); ++i) flat = flat * shape[i] + at[axes[i]];
    return index[flat];
  };
  return axis;
}

Axis AxisOfPairs(const Case& c, const TensorSpec& output) {
  const std::string& last = output.extents.back();
  if (last == "R/2") {
    return {"pair", last, UpTo(c.ShapeOf(output).back()),
            [](const Shape& at) { return at.back(); }};
  }
  if (last == kTable) {
    const auto pairs = static_cast<size_t>(c.dimensions().at("R")) / 2;
    std::vector<size_t> pair_of(c.ShapeOf(output).back());
    for (size_t k = 0; k < pairs; ++k) {
      const auto [first, second] = ColumnsOf(c, k);
      pair_of[first] = pair_of[second] = k;
    }
    return {"pair", last, UpTo(pairs), [pair_of](const Shape& at) { return pair_of[at.back()]; }};
  }
  const RotatedChannels channels(c);
  return {"pair", last, UpTo(channels.pairs),
          [pairs = channels.PairOfEachChannel()](const Shape& at) {
            return pairs[at.back()].value_or(Axis::kNone);
          }};
}

}  // namespace

std::vector<std::string> AxisNamesOf(const Operation& operation, const TensorSpec& output) {
  std::vector<std::string> names = output.extents;
  for (const TensorSpec& input : operation.info().signature.inputs) {
    if (IsAxis(input, output)) names.push_back(input.name);
  }
  if (HasPairs(operation, output)) names.emplace_back("pair");
  return names;
}

std::vector<Axis> AxesOf(const OutputOf& of) {
  std::vector<Axis> axes;
  const Shape shape = of.c.ShapeOf(of.output);
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back(
        {of.output.extents[i], "", UpTo(shape[i]), [i](const Shape& at) { return at[i]; }});
  }
  for (const TensorSpec& input : of.c.signature().inputs) {
    if (of.inputs && IsAxis(input, of.output))
      axes.push_back(AxisOfInput(input, Find(*of.inputs, input.name).values, of.output));
  }
  if (HasPairs(of.c.operation(), of.output)) axes.push_back(AxisOfPairs(of.c, of.output));
  return axes;
}

}  // namespace sextant::oracle
