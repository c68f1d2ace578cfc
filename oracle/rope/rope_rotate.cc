#include "reference/rope/rope_rotate.h"

#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_properties.h"

namespace sextant::oracle {
namespace {

// Flat index into cos and sin of pair 0 for row r of x.
size_t TableRow(const Case& c, const Window& window, size_t r) {
  const size_t H = ExtentOf(c, "H"), S = ExtentOf(c, "S");
  return (r / (H * S) * S + r % S) * window.pairs;
}

// Calls check(table index, first channel, second channel) for every pair.
template <class Check>
void ForEachPair(const Case& c, Check check) {
  const Window window(c);
  window.ForEachPair(
      [&](size_t r, size_t k, size_t i, size_t j) { check(TableRow(c, window, r) + k, i, j); });
}

// y_i^2 + y_j^2 = (x_i^2 + x_j^2) (cos^2 + sin^2)
Comparisons CheckRopeRotateLength(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const auto square = [](const Measured& a) { return a * a; };
  Comparisons comparisons;
  ForEachPair(c, [&](size_t t, size_t i, size_t j) {
    const auto& x = inputs[0].values.data;
    comparisons.Equal(square(y(0, i)) + square(y(0, j)),
                      (square(x[i]) + square(x[j])) *
                          (square(inputs[1].values.data[t]) + square(inputs[2].values.data[t])),
                      {y, 0, i});
  });
  return comparisons;
}

// The transpose rotates (c x - s y, s x + c y) to (c^2 + s^2) (x, y). It multiplies the errors of
// the first answer by at most |c| + |s|.
Comparisons CheckTranspose(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response first = ask(c.With("direction=forward"), inputs);
  Tensors rotated = inputs;
  rotated[0].values = first.outputs[0].values;
  const Response back = ask(c.With("direction=transpose"), rotated);
  Comparisons comparisons;
  ForEachPair(c, [&](size_t t, size_t i, size_t j) {
    const double cosine = inputs[1].values.data[t], sine = inputs[2].values.data[t];
    const double carried = (first(0, i).error() + first(0, j).error()) *
                           (std::abs(cosine) + std::abs(sine)) * (1 + 0x1p-50);
    const Measured square = Measured(cosine) * cosine + Measured(sine) * sine;
    for (const size_t at : {i, j}) {
      comparisons.Equal(first(0, at), first(0, at), {first, 0, at});  // fails for NaN
      comparisons.Equal(back(0, at) + Measured(0, carried), square * inputs[0].values.data[at],
                        {back, 0, at});
    }
  });
  return comparisons;
}

// cos = 1, sin = 0 change nothing; cos = 0, sin = 1 rotate (x_i, x_j) to (-x_j, x_i).
Comparisons CheckQuarterRotation(const Case& c, const Tensors& inputs, const Ask& ask,
                                 bool quarter) {
  Tensors tables = inputs;
  std::ranges::fill(tables[1].values.data, quarter ? 0 : 1);
  std::ranges::fill(tables[2].values.data, quarter ? 1 : 0);
  const Response y = ask(c.With("direction=forward"), tables);
  Comparisons comparisons;
  ForEachPair(c, [&](size_t, size_t i, size_t j) {
    const auto& x = inputs[0].values.data;
    comparisons.Equal(y(0, i), quarter ? -x[j] : x[i], {y, 0, i});
    comparisons.Equal(y(0, j), quarter ? x[i] : x[j], {y, 0, j});
  });
  return comparisons;
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeRotate>() {
  return {
      .properties = {{"identity_without_turn", "cos = 1 and sin = 0 change nothing",
                      [](const Case& c, const Tensors& inputs, const Ask& ask) {
                        return CheckQuarterRotation(c, inputs, ask, false);
                      }},
                     {"quarter_rotation", "cos = 0 and sin = 1 rotate (a, b) to (-b, a)",
                      [](const Case& c, const Tensors& inputs, const Ask& ask) {
                        return CheckQuarterRotation(c, inputs, ask, true);
                      }},
                     {"keeps_length",
                      "the squared length of every pair of channels is multiplied by cos^2 + sin^2",
                      CheckRopeRotateLength},
                     {"transpose_rotates_back",
                      "rotation and transpose together multiply x by cos^2 + sin^2",
                      CheckTranspose},
                     ChannelsOutsidePass(),
                     LinearInX(),
                     PairingsAgree()},
      .defects =
          Joined<Defect>({RotationDefects<RopeRotate>(), PrecisionDefects(RopeRotate::kSteps)}),
      .measurements = RotationMeasurements<RopeRotate>()};
}

}  // namespace sextant::oracle
