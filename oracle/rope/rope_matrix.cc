#include "reference/rope/rope_matrix.h"

#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/scaling_defects.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

Response AskMatrixAt(const Case& c, Tensors inputs, const Ask& ask,
                     const std::function<double(double)>& change) {
  for (double& p : InputNamed(inputs, "position").data) p = change(p);
  return ask(c, inputs);
}

// Element (i, j) of matrix s.
struct Index {
  size_t width;
  size_t operator()(size_t s, size_t i, size_t j) const { return (s * width + i) * width + j; }
};

// Calls check(s, i, j) for every element.
template <class Check>
void ForEachElement(const Case& c, Check check) {
  const size_t length = ExtentOf(c, "S"), width = ExtentOf(c, "D");
  for (size_t s = 0; s < length; ++s) {
    for (size_t i = 0; i < width; ++i) {
      for (size_t j = 0; j < width; ++j) check(s, i, j);
    }
  }
}

Comparisons CheckIdentity(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Index at{ExtentOf(c, "D")};
  const Response m = AskMatrixAt(c, inputs, ask, [](double) { return 0; });
  Comparisons comparisons;
  ForEachElement(c, [&](size_t s, size_t i, size_t j) {
    comparisons.Equal(m(0, at(s, i, j)), i == j ? AmplitudeOf(c) : 0, {m, 0, at(s, i, j)});
  });
  return comparisons;
}

// R^T R = a^2
Comparisons CheckOrthogonal(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Index at{ExtentOf(c, "D")};
  const Response m = ask(c, inputs);
  const Measured a = AmplitudeOf(c);
  Comparisons comparisons;
  ForEachElement(c, [&](size_t s, size_t i, size_t j) {
    Measured sum = 0;
    for (size_t k = 0; k < at.width; ++k) sum = sum + m(0, at(s, k, i)) * m(0, at(s, k, j));
    comparisons.Equal(sum, i == j ? a * a : 0, {m, 0, at(s, i, j)});
  });
  return comparisons;
}

// R_m^T R_n = a R_(n-m), here for m = 7.
Comparisons CheckAngles(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Index at{ExtentOf(c, "D")};
  const Response n = ask(c, inputs), m = AskMatrixAt(c, inputs, ask, [](double) { return 7; }),
                 between = AskMatrixAt(c, inputs, ask, [](double p) { return p - 7; });
  const Measured a = AmplitudeOf(c);
  Comparisons comparisons;
  ForEachElement(c, [&](size_t s, size_t i, size_t j) {
    Measured sum = 0;
    for (size_t k = 0; k < at.width; ++k) sum = sum + m(0, at(s, k, i)) * n(0, at(s, k, j));
    comparisons.Equal(sum, a * between(0, at(s, i, j)), {between, 0, at(s, i, j)});
  });
  return comparisons;
}

// R_m R_n = R_n R_m, here for m = 7.
Comparisons CheckRopeMatrixOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Index at{ExtentOf(c, "D")};
  const Response n = ask(c, inputs), m = AskMatrixAt(c, inputs, ask, [](double) { return 7; });
  Comparisons comparisons;
  ForEachElement(c, [&](size_t s, size_t i, size_t j) {
    Measured one = 0, other = 0;
    for (size_t k = 0; k < at.width; ++k) {
      one = one + m(0, at(s, i, k)) * n(0, at(s, k, j));
      other = other + n(0, at(s, i, k)) * m(0, at(s, k, j));
    }
    comparisons.Equal(one, other, {n, 0, at(s, i, j)});
  });
  return comparisons;
}

// Column h is the rotated unit vector h, which is head h of x.
Comparisons CheckRopeMatrixRope(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Index at{ExtentOf(c, "D")};
  const size_t length = ExtentOf(c, "S");
  const std::string line = c.ToString();
  const Case rope =
      Case::Parse("rope" + line.substr(line.find(' ')) + " H=" + std::to_string(at.width));
  Tensors unit = DrawInputs(rope);
  InputNamed(unit, "position").data = inputs[0].values.data;
  std::ranges::fill(InputNamed(unit, "x").data, 0);
  for (size_t h = 0; h < at.width; ++h) {
    for (size_t s = 0; s < length; ++s) InputNamed(unit, "x")(0, h, s, h) = 1;
  }
  const Response m = ask(c, inputs), y = ask(rope, unit);
  Comparisons comparisons;
  ForEachElement(c, [&](size_t s, size_t i, size_t h) {
    comparisons.Equal(m(0, at(s, i, h)), y(0, (h * length + s) * at.width + i),
                      {m, 0, at(s, i, h)});
  });
  return comparisons;
}

// A step of at most one radian rotates the first channel of every pair towards the second.
Comparisons CheckRopeMatrixSign(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Index at{ExtentOf(c, "D")};
  const Response m = AskMatrixAt(c, inputs, ask, [](double) { return 1; });
  Pairing pairing{};
  ParseValue(TextOf(c, "pairing"), pairing);
  Comparisons comparisons;
  if (NumberOf(c, "base", 0) < 1) return comparisons;
  for (size_t s = 0; s < ExtentOf(c, "S"); ++s) {
    for (size_t k = 0; k < at.width / 2; ++k) {
      const auto [i, j] = ChannelsOf(pairing, k, at.width);
      comparisons.AtMost(0, m(0, at(s, i, i)), {m, 0, at(s, i, i)});
      comparisons.AtMost(0, m(0, at(s, j, i)), {m, 0, at(s, j, i)});
    }
  }
  return comparisons;
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeMatrix>() {
  return {
      .properties =
          {{"identity_at_position_zero", "at position 0 nothing rotates", CheckIdentity},
           {"orthogonal", "R^T R is the identity times the squared amplitude", CheckOrthogonal},
           {"angles_add", "rotating by n and back by m equals rotating by n - m", CheckAngles},
           {"order_does_not_matter",
            "rotating by n and then by m equals rotating by m and then by n", CheckRopeMatrixOrder},
           {"is_rope", "the matrix times a vector equals rope of the vector", CheckRopeMatrixRope},
           {"rotates_from_first_to_second",
            "a positive position rotates the first channel of a pair towards the second",
            CheckRopeMatrixSign}},
      .defects = Joined<Defect>({PositionDefects(), RotationDefects<RopeMatrix>(),
                                 FrequencyDefects<RopeMatrix>(), ScalingDefects(),
                                 ExtensionDefects(), PrecisionDefects(RopeMatrix::kSteps)}),
      .measurements = RotationMeasurements<RopeMatrix>()};
}

}  // namespace sextant::oracle
