#include "reference/rope/rope_axial.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/decoding_property.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_properties.h"
#include "reference/case/draw.h"
#include "reference/rope/rope_sections.h"

namespace sextant::oracle {
namespace {

// The coordinates [B,A,S], with those of every axis but `axis` set to 0.
Tensors OnlyAxis(const Case& c, Tensors inputs, size_t axis) {
  const size_t length = ExtentOf(c, "S"), axes = ExtentOf(c, "A");
  std::vector<double>& position = inputs[1].values.data;
  for (size_t i = 0; i < position.size(); ++i) {
    if (i / length % axes != axis) position[i] = 0;
  }
  return inputs;
}

// The pairs of axis a are a P .. a P + P - 1. They do not depend on the other axes.
Comparisons CheckRopeAxialAxes(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const size_t axes = ExtentOf(c, "A"), own = window.pairs / axes;
  const Response together = ask(c, inputs);
  Comparisons comparisons;
  for (size_t a = 0; a < axes; ++a) {
    const Response y = ask(c, OnlyAxis(c, inputs, a));
    window.ForEachPair([&](size_t, size_t k, size_t i, size_t j) {
      if (k / own != a) return;
      comparisons.Equal(y(0, i), together(0, i), {y, 0, i});
      comparisons.Equal(y(0, j), together(0, j), {y, 0, j});
    });
  }
  return comparisons;
}

// With frequencies=lang each block is `rope` of R/A channels by its own axis. `rope` takes integers
// only.
Comparisons CheckBlocks(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Case blocks = c.With("arrangement=blocks").With("frequencies=lang");
  Tensors whole = inputs;
  for (double& p : whole[1].values.data) p = std::floor(p);
  const Response y = ask(blocks, whole);
  const Window window(blocks);
  const size_t axes = ExtentOf(c, "A"), own = window.pairs / axes;
  Comparisons comparisons;
  for (size_t a = 0; a < axes; ++a) {
    const Case rope = AsRope(blocks)
                          .With("R=" + std::to_string(2 * own))
                          .With("offset=" + std::to_string(window.offset + 2 * own * a));
    Tensors plain = DrawInputs(rope);
    plain[0].values = inputs[0].values;
    plain[1].values = PositionsOfAxis(whole[1].values, a);
    const Response rotated = ask(rope, plain);
    window.ForEachPair([&](size_t, size_t k, size_t i, size_t j) {
      if (k / own != a) return;
      comparisons.Equal(y(0, i), rotated(0, i), {y, 0, i});
      comparisons.Equal(y(0, j), rotated(0, j), {y, 0, j});
    });
  }
  return comparisons;
}

// With interleaved pairing the channels of a pair are adjacent in both arrangements.
Comparisons CheckInterleaved(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Case neighbours = c.With("pairing=interleaved");
  const Response blocks = ask(neighbours.With("arrangement=blocks"), inputs),
                 halves = ask(neighbours.With("arrangement=halves"), inputs);
  Comparisons comparisons;
  ExpectEqual(blocks, halves, comparisons);
  return comparisons;
}

// With arrangement=alternating, frequency k of the list belongs to pair k / A of axis k mod A. With
// one axis it belongs to pair k.
Comparisons CheckDealing(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Case dealt = c.With("arrangement=alternating"), one = dealt.With("A=1");
  const Window window(dealt);
  const size_t axes = ExtentOf(c, "A"), own = window.pairs / axes;
  Tensors first = inputs, same = inputs;
  first[1].values = PositionsOfAxis(inputs[1].values, 0);
  first[1].values.shape = {inputs[1].values.shape[0], 1, inputs[1].values.shape[2]};
  const size_t length = ExtentOf(c, "S");
  std::vector<double>& position = same[1].values.data;
  for (size_t i = 0; i < position.size(); ++i) {
    position[i] = first[1].values.data[i / (axes * length) * length + i % length];
  }
  Tensors moved = same;
  window.ForEachPair([&](size_t r, size_t k, size_t i, size_t j) {
    const auto [to_i, to_j] = window.Pair(r, k % axes * own + k / axes);
    moved[0].values.data[to_i] = inputs[0].values.data[i];
    moved[0].values.data[to_j] = inputs[0].values.data[j];
  });
  const Response y = ask(one, first), z = ask(dealt, moved);
  Comparisons comparisons;
  window.ForEachPair([&](size_t r, size_t k, size_t i, size_t j) {
    const auto [to_i, to_j] = window.Pair(r, k % axes * own + k / axes);
    comparisons.Equal(z(0, to_i), y(0, i), {z, 0, to_i});
    comparisons.Equal(z(0, to_j), y(0, j), {z, 0, to_j});
  });
  return comparisons;
}

// The first frequency is pi: coordinate 1 rotates by pi. If there are more, the last one is pi
// max_freq/2; with max_freq 8, coordinate 1/2 rotates by 2 pi.
Comparisons CheckPixel(const Case& c, Tensors inputs, const Ask& ask) {
  const Case pixel = c.With("frequencies=pixel").With("arrangement=halves").With("max_freq=8");
  const Window window(pixel);
  const size_t axes = ExtentOf(c, "A"), own = window.pairs / axes;
  const auto at = [&](double coordinate) {
    std::ranges::fill(inputs[1].values.data, coordinate);
    return ask(pixel, inputs);
  };
  const Response half = at(1), whole = at(0.5);
  Comparisons comparisons;
  for (size_t r = 0; own > 0 && r < window.rows; ++r) {
    for (size_t a = 0; a < axes; ++a) {
      const size_t i = window.Pair(r, a * own).first;
      comparisons.Equal(half(0, i), -inputs[0].values.data[i], {half, 0, i});
      if (own == 1) continue;
      const size_t j = window.Pair(r, a * own + own - 1).first;
      comparisons.Equal(whole(0, j), inputs[0].values.data[j], {whole, 0, j});
    }
  }
  return comparisons;
}

// An angle of 1/8 radian rotates (1, 0) to (cos, sin), both positive, in every pair of frequency 1.
Comparisons CheckConstant(const Case& c, Tensors inputs, const Ask& ask) {
  const Case constant = c.With("frequencies=constant").With("direction=forward");
  const Window window(constant);
  std::ranges::fill(inputs[0].values.data, 0);
  std::ranges::fill(inputs[1].values.data, 0.125);
  for (size_t r = 0; r < window.rows; ++r) {
    for (size_t k = 0; k < window.pairs; ++k) {
      inputs[0].values.data[window.Pair(r, k).first] = 1;
    }
  }
  const Response y = ask(constant, inputs);
  Comparisons comparisons;
  window.ForEachPair([&](size_t r, size_t, size_t i, size_t j) {
    const size_t first = window.Pair(r, 0).second;
    comparisons.AtMost(y(0, j) * 7, y(0, i), {y, 0, i});  // 7 tan 1/8 < 1
    comparisons.AtMost(0, y(0, j), {y, 0, j});
    comparisons.Equal(y(0, j), y(0, first), {y, 0, j});
  });
  return comparisons;
}

std::vector<Property> PropertiesOfRotation() {
  std::vector<Property> properties = PropertiesOfPositions();
  // Pixel frequencies rotate by more than a radian per step.
  std::erase_if(properties,
                [](const Property& p) { return p.name == "rotates_from_first_to_second"; });
  return properties;
}

// The formula with one mutation. Members with their default values change nothing.
struct MutatedAxial : RopeAxial {
  RotaryMutation mutation;
  bool without_pi = false;     // linspace(1, max_freq/2)
  bool axes_reversed = false;  // columns before rows

  template <class Real>
  Real FrequencyOf(const FrequencyIndex& index, const Head& head) const {
    const auto [i, n] = index;
    Real frequency(1.0);
    if (frequencies == AxialFrequencies::kLang) {
      const Exponent e = mutation.exponent
                             ? mutation.exponent(i, 2 * n, static_cast<int64_t>(head.D))
                             : Exponent{2 * i, 2 * n};
      frequency = InversePower<Real>(base, e.k, e.n);
    } else if (frequencies == AxialFrequencies::kPixel) {
      const ScopedStep at(Step::kFrequency);
      const Real one(1.0), part = Real(static_cast<double>(i)) /
                                  Real(static_cast<double>(std::max<int64_t>(n - 1, 1)));
      frequency = one + (Real(max_freq) / Real(2.0) - one) * part;
      if (!without_pi) frequency = frequency * (TwoPi<Real>() / Real(2.0));
    }
    return mutation.frequency_format ? ConvertedTo(*mutation.frequency_format, frequency)
                                     : frequency;
  }
  // Tables with twice the pairs of a window. A mutation that reads beyond the last pair finds the
  // frequencies that would follow.
  template <class Real>
  Tables<Real> TablesOf(size_t window, const Head& head, const Tensor<double>& position) const {
    const size_t pairs = head.R / 2, P = PairsPerAxis(), axes = position.shape[1];
    const Shape shape = {position.shape[0], position.shape[2], head.R};
    Tables<Real> tables{Tensor<Real>(shape), Tensor<Real>(shape)};
    for (size_t k = 0; k < head.R; ++k) {
      const size_t of_all = window * pairs + k % pairs, a = of_all / P;
      FrequencyIndex index = FrequencyIndexOf(a, of_all % P);
      if (k >= pairs) index.i += static_cast<int64_t>(pairs);
      const Real frequency = FrequencyOf<Real>(index, head);
      const size_t axis = axes_reversed ? axes - 1 - a : a;
      for (size_t b = 0; b < shape[0]; ++b) {
        for (size_t s = 0; s < shape[1]; ++s) {
          std::tie(tables.cos(b, s, k), tables.sin(b, s, k)) =
              TableEntry(CosSinAt(position(b, axis, s), frequency), Real(1.0));
        }
      }
    }
    return tables;
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const {
    const size_t windows = Windows();
    Head head{pairing, static_cast<size_t>(offset), static_cast<size_t>(R.value) / windows,
              x.shape[3]};
    y.data = x.data;
    for (size_t w = 0; w < windows; ++w, head.offset += head.R) {
      const Tensor<Real> before = y;
      Apply<Real>(mutation, head, direction == Direction::kForward, before,
                  TablesOf<Real>(w, head, position), y);
    }
  }
};

std::vector<Defect> AxialDefects() {
  MutatedAxial without_pi, axes_reversed;
  without_pi.without_pi = true;
  axes_reversed.axes_reversed = true;
  return {
      MutatedFormula("pixel_without_pi",
                     "the frequencies are linspace(1, max_freq/2) without the factor pi",
                     without_pi),
      MutatedFormula("axes_reversed",
                     "the axes are in reverse order: columns before rows, or rows before columns "
                     "(ggml-org/llama.cpp#13282)",
                     axes_reversed),
      ChangedWord(
          "max_freq_not_halved", "the frequencies end at max_freq instead of max_freq/2",
          [](const Case& c) { return "max_freq=" + PrintValue(2 * NumberOf(c, "max_freq", 0)); }),
      ChangedInputs("coordinates_cut", "coordinates are truncated to integers",
                    [](const Case&, Tensors& inputs) {
                      for (double& p : InputNamed(inputs, "position").data) p = std::trunc(p);
                      return true;
                    }),
      ChangedInputs("first_axis_for_all", "every axis uses the coordinates of the first axis",
                    [](const Case& c, Tensors& inputs) {
                      const size_t length = ExtentOf(c, "S"), axes = ExtentOf(c, "A");
                      std::vector<double>& position = InputNamed(inputs, "position").data;
                      for (size_t i = 0; i < position.size(); ++i) {
                        position[i] = position[i / (axes * length) * axes * length + i % length];
                      }
                      return axes > 1;
                    }),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeAxial>() {
  return {
      .properties = Joined<Property>(
          {PropertiesOfRotation(),
           {PairingsAgree(),
            DecodingIsPrefill(),
            {"axes_do_not_mix", "a pair of channels depends only on the coordinate of its own axis",
             CheckRopeAxialAxes},
            {"blocks_are_ropes",
             "with frequencies=lang each block of channels is rope by its own axis", CheckBlocks},
            {"neighbours_need_no_blocks",
             "with interleaved pairing, the arrangements blocks and halves agree",
             CheckInterleaved},
            {"frequencies_are_dealt_out",
             "with arrangement=alternating the axes share out the frequencies of one axis",
             CheckDealing},
            {"pixels_rotate_by_pi", "pixel frequencies range from pi to pi max_freq/2", CheckPixel},
            {"constant_is_the_angle",
             "with frequencies=constant every pair rotates by the same angle", CheckConstant}}}),
      .defects = Joined<Defect>({PositionDefects(), AxialDefects(),
                                 MutationDefects<MutatedAxial>(RotationMutations()),
                                 MutationDefects<MutatedAxial>(FrequencyMutations()),
                                 PrecisionDefects(RopeAxial::kSteps)}),
      .measurements = RotationMeasurements<RopeAxial>()};
}

}  // namespace sextant::oracle
