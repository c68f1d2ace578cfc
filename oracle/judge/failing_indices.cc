#include "oracle/judge/failing_indices.h"

#include <algorithm>

#include "reference/rope/rotated_channels.h"

namespace sextant::oracle {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);
constexpr std::string_view kTable = "layout*R/2";  // the columns of a table of cos or sin

// One axis: the value of an element is values[index_of(its indices on the output's axes)].
struct Axis {
  std::string name, derived_from;
  std::vector<int64_t> values;                      // ascending, each once
  std::function<size_t(const Shape& at)> index_of;  // kNone: no value
};

// The axes of the output with the names of the input's axes; empty if the output lacks one of them.
std::vector<size_t> AxesOf(const TensorSpec& input, const TensorSpec& output) {
  std::vector<size_t> axes;
  for (const std::string& extent : input.extents) {
    const auto at = std::ranges::find(output.extents, extent);
    if (at == output.extents.end()) return {};
    axes.push_back(static_cast<size_t>(at - output.extents.begin()));
  }
  return axes;
}

bool IsAxis(const TensorSpec& input, const TensorSpec& output) {
  return input.role == Role::kInteger && !AxesOf(input, output).empty();
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
  axis.index_of = [index, shape = input.shape, axes = AxesOf(spec, output)](const Shape& at) {
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
            return pairs[at.back()].value_or(kNone);
          }};
}

std::vector<Axis> AllAxes(const OutputOf& of) {
  std::vector<Axis> axes;
  const Shape shape = of.c.ShapeOf(of.output);
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back(
        {of.output.extents[i], "", UpTo(shape[i]), [i](const Shape& at) { return at[i]; }});
  }
  for (const TensorSpec& input : of.c.info().signature.inputs) {
    if (of.inputs && IsAxis(input, of.output))
      axes.push_back(AxisOfInput(input, Find(*of.inputs, input.name).values, of.output));
  }
  if (HasPairs(of.c.operation(), of.output)) axes.push_back(AxisOfPairs(of.c, of.output));
  return axes;
}

FailingIndices IndicesOn(const Axis& axis, const std::vector<bool>& fails, bool elsewhere) {
  FailingIndices indices{axis.name, axis.derived_from, axis.values.size()};
  bool before = false;  // the value before fails
  for (size_t i = 0; i < axis.values.size(); ++i) {
    if (fails[i] && !before) indices.ranges.emplace_back(axis.values[i], axis.values[i]);
    if (fails[i]) indices.ranges.back().second = axis.values[i];
    before = fails[i];
  }
  indices.elsewhere = elsewhere;
  indices.everywhere = std::ranges::count(fails, false) == 0;
  return indices;
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

std::vector<FailingIndices> FailingIndicesOf(const OutputOf& of, const std::vector<bool>& fails) {
  const std::vector<Axis> axes = AllAxes(of);
  std::vector<std::vector<bool>> fails_at;
  std::vector<bool> elsewhere(axes.size());
  for (const Axis& axis : axes) fails_at.emplace_back(axis.values.size());
  const Shape shape = of.c.ShapeOf(of.output);
  Shape at(shape.size());
  for (size_t flat = 0; flat < fails.size(); ++flat) {
    if (!fails[flat]) continue;
    size_t rest = flat;
    for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) at[i] = rest % shape[i];
    for (size_t a = 0; a < axes.size(); ++a) {
      const size_t index = axes[a].index_of(at);
      if (index == kNone) {
        elsewhere[a] = true;
      } else {
        fails_at[a][index] = true;
      }
    }
  }
  std::vector<FailingIndices> all;
  for (size_t a = 0; a < axes.size(); ++a)
    all.push_back(IndicesOn(axes[a], fails_at[a], elsewhere[a]));
  return all;
}

}  // namespace sextant::oracle
