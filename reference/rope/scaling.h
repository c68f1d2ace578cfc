// The scalings of rotary frequencies: one variant of structs {parameters, limits, formula}.
// A struct S of reference/scaling_<family>.h has
//   kName, Visit       reference/case/attribute.h
//   Check(setting)     throws Error on parameters for which the formula is undefined
//   Formula<Real>(setting)    a function (f, k) -> scaled frequency of pair k, radians per token;
//                             f is its unscaled one, base^-(2k/R). It lives no longer than S
//   Growth<Real>(setting)     optional: f is of the base times growth^(R/(R-2))
//   Amplitude<Real>(setting)  optional: the factor of cos and sin; 1 if it is not there
// The formulas are over any arithmetic with + - * / Exp Log Sqrt LogRatio Floor Clamp and TwoPiOf,
// found by argument-dependent look-up; so fast/ evaluates the same text in its own numbers. A new
// scaling is one struct and one word in RopeScaling.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reference/case/attribute.h"
#include "reference/rope/scaling_bands.h"
#include "reference/rope/scaling_base.h"
#include "reference/rope/scaling_lists.h"
#include "reference/rope/scaling_setting.h"
#include "reference/rope/scaling_uniform.h"
#include "reference/rope/scaling_yarn.h"

namespace sextant {

using RopeScaling =
    std::variant<NoScaling, LinearScaling, NtkScaling, NtkMixedScaling, DynamicScaling, YarnScaling,
                 LongRopeScaling, Llama3Scaling, ProportionalScaling, ExplicitScaling>;

// A scaling as text: "none", "linear(factor=4)" (reference/case/call.h).
std::string PrintValue(const RopeScaling& scaling);
void ParseValue(std::string_view text, RopeScaling& scaling);
std::span<const std::string> PossibleValues(const RopeScaling& scaling);

// Throws Error on parameters for which the formula is undefined.
void CheckScaling(const RopeScaling& scaling, const RotarySetting& setting);

template <class Real>
using ScalingFormula = std::function<Real(const Real& f, int64_t k)>;

template <class Real>
ScalingFormula<Real> FormulaOf(const RopeScaling& scaling, const RotarySetting& setting) {
  return std::visit(
      [&](const auto& s) -> ScalingFormula<Real> { return s.template Formula<Real>(setting); },
      scaling);
}

// Empty: the base stays.
template <class Real>
std::optional<Real> GrowthOf(const RopeScaling& scaling, const RotarySetting& setting) {
  return std::visit(
      [&](const auto& s) -> std::optional<Real> {
        if constexpr (requires { s.template Growth<Real>(setting); }) {
          return s.template Growth<Real>(setting);
        } else {
          return std::nullopt;
        }
      },
      scaling);
}

template <class Real>
Real AmplitudeOf(const RopeScaling& scaling, const RotarySetting& setting) {
  return std::visit(
      [&](const auto& s) -> Real {
        if constexpr (requires { s.template Amplitude<Real>(setting); }) {
          return s.template Amplitude<Real>(setting);
        } else {
          return Real(1.0);
        }
      },
      scaling);
}

// The same scaling where rounding by the thread's recipe puts a limit on the other side of an
// integer (YarnScaling); most have none.
std::vector<RopeScaling> AlternativesOf(const RopeScaling& scaling, const RotarySetting& setting);

enum class Pairing { kHalf, kInterleaved };
constexpr std::array<std::string_view, 2> NamesOf(Pairing) { return {"half", "interleaved"}; }

enum class Direction { kForward, kTranspose };
constexpr std::array<std::string_view, 2> NamesOf(Direction) { return {"forward", "transpose"}; }

// The channels of pair k, 0 <= k < R/2: half (k, k + R/2), interleaved (2k, 2k + 1).
struct PairOfChannels {
  size_t first, second;
};
constexpr PairOfChannels ChannelsOf(Pairing pairing, size_t k, size_t rotary_width) {
  return pairing == Pairing::kHalf ? PairOfChannels{k, k + rotary_width / 2}
                                   : PairOfChannels{2 * k, 2 * k + 1};
}

}  // namespace sextant
