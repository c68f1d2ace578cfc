#include "reference/rope/rope_sections.h"

#include <algorithm>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration_properties.h"
#include "oracle/rope/decoding_property.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_properties.h"
#include "oracle/rope/scaling_defects.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

RopeSections StructOf(const Case& c) {
  RopeSections op;
  for (const Attribute& a : c.operation().Attributes()) {
    SetAttribute(op, RopeSections::kName, a.name,
                 a.dimension ? std::to_string(ExtentOf(c, a.name)) : a.text);
  }
  return op;
}

// Text has the same position on every axis.
Comparisons CheckText(const Case& c, Tensors inputs, const Ask& ask) {
  const Case rope = AsRope(c);
  Tensors plain = DrawInputs(rope);
  plain[0].values = inputs[0].values;
  plain[1].values = PositionsOfAxis(inputs[1].values, 0);
  const size_t length = ExtentOf(c, "S"), axes = ExtentOf(c, "A");
  std::vector<double>& position = inputs[1].values.data;
  for (size_t i = 0; i < position.size(); ++i) {
    position[i] = plain[1].values.data[i / (axes * length) * length + i % length];
  }
  const Response here = ask(c, inputs), there = ask(rope, plain);
  Comparisons comparisons;
  ExpectEqual(here, there, comparisons);
  return comparisons;
}

// Setting the positions of all other axes to 0 does not change the pairs of an axis.
Comparisons CheckRopeSectionsAxes(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const std::vector<size_t> axis_of = StructOf(c).Axes();
  const size_t length = ExtentOf(c, "S"), axes = ExtentOf(c, "A");
  const Response together = ask(c, inputs);
  Comparisons comparisons;
  for (size_t a = 0; a < axes; ++a) {
    Tensors alone = inputs;
    std::vector<double>& position = alone[1].values.data;
    for (size_t i = 0; i < position.size(); ++i) {
      if (i / length % axes != a) position[i] = 0;
    }
    const Response y = ask(c, alone);
    window.ForEachPair([&](size_t, size_t k, size_t i, size_t j) {
      if (axis_of[k] != a) return;
      comparisons.Equal(y(0, i), together(0, i), {y, 0, i});
      comparisons.Equal(y(0, j), together(0, j), {y, 0, j});
    });
  }
  return comparisons;
}

using AxisOfPair = std::vector<size_t>;

// The formula with one mutation. Members with their default values change nothing.
struct MutatedSections : RopeSections {
  RotaryMutation mutation;
  AxisOfPair (*axes)(const RopeSections&) = [](const RopeSections& op) { return op.Axes(); };
  bool frequencies_restart = false;  // every axis begins with frequency 1

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const {
    const auto width = static_cast<size_t>(R.value), half = width / 2;
    const Head head{pairing, static_cast<size_t>(offset), width, x.shape[3]};
    const auto frequency = MutatedFrequencies<Real>(mutation, Frequencies(), width, head);
    Tensor<Real> right({half}), factor;
    Frequencies()(right, factor);
    const AxisOfPair axis_of = axes(*this);
    const Shape shape = {position.shape[0], position.shape[2], width};
    Tables<Real> tables{Tensor<Real>(shape), Tensor<Real>(shape)};
    AxisOfPair used(position.shape[1]);
    for (size_t k = 0; k < width; ++k) {
      const size_t a = axis_of[k % half], index = frequencies_restart ? used[a]++ : k;
      RopeTable::FillPair(PositionsOfAxis(position, a), frequency(index), factor(), k, tables.cos,
                          tables.sin);
    }
    Apply<Real>(mutation, head, direction == Direction::kForward, x, std::move(tables), y);
  }
};

Defect WithAxes(std::string name, std::string why, AxisOfPair (*axes)(const RopeSections&)) {
  MutatedSections mutated;
  mutated.axes = axes;
  return MutatedFormula(std::move(name), std::move(why), mutated);
}

Defect FrequenciesRestart() {
  MutatedSections mutated;
  mutated.frequencies_restart = true;
  return MutatedFormula("frequencies_restart",
                        "every section starts again at frequency 1, as in a vision encoder (ggml's "
                        "mode VISION instead of MROPE)",
                        mutated);
}

// Pairs use the positions of a wrong axis.
std::vector<Defect> AxisDefects() {
  return {
      WithAxes(
          "first_axis_for_all",
          "every pair uses the first axis: rows and columns are ignored (sgl-project/sglang#35744)",
          [](const RopeSections& op) { return AxisOfPair(op.Axes().size(), 0); }),
      WithAxes("last_axes_swapped", "rows and columns are exchanged (ggml-org/llama.cpp#13282)",
               [](const RopeSections& op) {
                 AxisOfPair axes = op.Axes();
                 const size_t last = op.sections.size() - 1;
                 for (size_t& a : axes) {
                   if (last >= 1 && a >= last - 1) a = 2 * last - 1 - a;
                 }
                 return axes;
               }),
      WithAxes("sections_reversed", "the sections are assigned to the axes in reverse order",
               [](const RopeSections& op) {
                 AxisOfPair axes = op.Axes();
                 for (size_t& a : axes) a = op.sections.size() - 1 - a;
                 return axes;
               }),
  };
}

// Sections are assigned to pairs in a wrong way.
std::vector<Defect> SectionDefects() {
  return {
      WithAxes("sections_in_channels",
               "the sizes of sections are used as numbers of channels instead of pairs",
               [](const RopeSections& op) {
                 const AxisOfPair right = op.Axes();
                 AxisOfPair axes;
                 for (size_t k = 0; k < right.size(); ++k) {
                   axes.push_back(right[std::min(2 * k, right.size() - 1)]);
                 }
                 return axes;
               }),
      WithAxes("interleaved_to_the_end",
               "interleaved axes alternate up to the last pair: the sizes of sections are ignored",
               [](const RopeSections& op) {
                 AxisOfPair axes = op.Axes();
                 for (size_t k = 0; k < axes.size(); ++k) {
                   if (op.order == SectionOrder::kInterleaved) axes[k] = k % op.sections.size();
                 }
                 return axes;
               }),
      WithAxes("trailing_axis_leads",
               "the trailing axis takes the first pairs instead of the last ones",
               [](const RopeSections& op) {
                 AxisOfPair axes = op.Axes();
                 if (op.order == SectionOrder::kTrailing) {
                   std::ranges::rotate(axes, axes.end() - op.sections[0]);
                 }
                 return axes;
               }),
      FrequenciesRestart(),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeSections>() {
  return {
      .properties = Joined<Property>(
          {PropertiesOfPositions(),
           {PairingsAgree(),
            DecodingIsPrefill(),
            LinearScalingStretches(),
            {"text_is_rope", "with the same position on every axis the result is that of rope",
             CheckText},
            {"axes_do_not_mix", "a pair of channels depends only on the positions of its own axis",
             CheckRopeSectionsAxes}}}),
      .defects = Joined<Defect>({PositionDefects(), AxisDefects(), SectionDefects(),
                                 MutationDefects<MutatedSections>(RotationMutations()),
                                 MutationDefects<MutatedSections>(FrequencyMutations()),
                                 ScalingDefects(), PrecisionDefects(RopeSections::kSteps)}),
      .measurements = RotationMeasurements<RopeSections>()};
}

}  // namespace sextant::oracle
