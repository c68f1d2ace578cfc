// The scalings of rotary frequencies: a variant of structs {parameters, limits, formula}.
// A struct S of reference/rope/scaling_<family>.h has
//   kName, Visit       reference/case/attribute.h
//   Check(setting)     throws Error on parameters for which the formula is undefined
//   Formula<Real>(setting)    a function (f, k) -> scaled frequency of pair k, radians per token;
//                             f is the unscaled frequency base^-(2k/R). S must outlive the function
//   Growth<Real>(setting)     optional: f is computed with the base times growth^(R/(R-2))
//   Amplitude<Real>(setting)  optional: the factor of cos and sin; 1 if there is no such member
// The formulas are templates over any number type with + - * / Exp Log Sqrt LogRatio Floor Clamp
// and TwoPiOf, which argument-dependent lookup finds. So fast/ evaluates the same formulas with its
// own number types. A new scaling is one struct, one type in RopeScaling and its values in
// kScalingChoices; reference/ADDING.md#a-scaling has the other steps.
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

#include "reference/base/joined_text.h"
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

// The values of `scaling` besides none, in kChoices of the operations whose cases test every
// scaling. The others have few: they compute with the same frequencies.
inline constexpr char kScalingChoices[] =
    "linear(factor=8)|llama3(factor=8)|llama3(factor=32)|ntk(factor=4)|"
    "ntk_mixed(factor=8,mixed_b=0.625)|dynamic(factor=10,max_position_embeddings=2048)|"
    "yarn(factor=4,original_max_position_embeddings=4096)|"
    "longrope(short_factor=[1,1.25],long_factor=[1,8],original_max_position_embeddings=4096,"
    "factor=32)|"
    "proportional(partial_rotary_factor=0.5)|explicit(inv_freq=[1],attention_factor=1.5)";

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

// The growth of the base; empty if the scaling does not change the base.
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

// The scalings that an implementation may use instead because rounding by the thread's recipe
// changes a truncated limit (YarnScaling). Empty for most scalings.
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
