#include "oracle/rope/measured/divided_tables.h"

#include <algorithm>
#include <optional>

#include "oracle/rope/measured/explained_angles.h"
#include "oracle/rope/measured/gains.h"

namespace sextant::oracle {
namespace {

using Where = Elsewhere::Where;

// A part of the rotation, and its angles.
struct Half {
  Where where;
  const char* text;
  RotaryFit fit;
};

std::vector<RotaryCandidate> ExplainedByTables(const RotaryFit& fit, const RotaryCandidate& start) {
  return fit.FitsAll(start) ? std::vector{start} : AnglesExplained(fit, start);
}

// True if some number of the half differs from that of a candidate by more than rounding the tables
// to bf16, the coarsest format, can change it: 2^-8 for the table and 2^-8 for its product with a
// gain. Less is a matter of the recipe.
bool IsMoreThanRounding(const Half& half, const RotaryCandidate& candidate) {
  const RotaryModel& model = candidate.model;
  const FrequencyList list = half.fit.ListOf(model);
  const Positions positions = half.fit.Measured(candidate.positions);
  const long double gain = half.fit.GainOf(model), most = gain * 0x1p-7L;
  const Angles& angles = half.fit.angles();
  for (size_t i = 0; i < angles.fits.of.size(); ++i) {
    const size_t t = i / angles.pairs, k = i % angles.pairs;
    const PairFit& fit = angles.fits.of[i];
    const long double angle = positions[model.pairs[k].axis][t] * list.of[k];
    const Complex off = fit.z - std::polar(gain, angle);
    const long double size = half.where == Where::kCosine ? std::abs(off.real()) - fit.cos_bar
                             : half.where == Where::kSine ? std::abs(off.imag()) - fit.sin_bar
                                                          : std::abs(off) - fit.bar;
    if (size > most + gain * list.relative[k] * std::abs(angle)) return true;
  }
  return false;
}

// Explains one half, and then the other by what differs from the first.
std::vector<RotaryCandidate> ExplainedInTurn(const Half& first, const Half& second,
                                             const RotaryCandidate& start) {
  std::vector<RotaryCandidate> found;
  for (const RotaryCandidate& one : ExplainedByTables(first.fit, start)) {
    if (second.fit.FitsAll(one) || !IsMoreThanRounding(second, one)) continue;
    for (const RotaryCandidate& other : AnglesExplained(second.fit, one)) {
      RotaryCandidate& both = found.emplace_back(one);
      both.model.elsewhere = Elsewhere{.where = second.where,
                                       .model = std::make_shared<RotaryModel>(other.model),
                                       .positions = other.positions,
                                       .length = second.fit.question().length};
      for (size_t i = one.parts.size(); i < other.parts.size(); ++i) {
        both.parts.push_back(other.parts[i]);
        both.parts.back().sentence = second.text + (": " + other.parts[i].sentence);
      }
    }
  }
  return found;
}

// The simplest explanations: with the fewest parts.
std::vector<RotaryCandidate> ExplainedByHalves(const Half& a, const Half& b,
                                               const RotaryCandidate& start) {
  std::vector<RotaryCandidate> found = ExplainedInTurn(a, b, start);
  for (RotaryCandidate& one : ExplainedInTurn(b, a, start)) found.push_back(std::move(one));
  if (found.empty()) return found;
  const auto count = [](const RotaryCandidate& c) { return c.parts.size(); };
  const size_t fewest = count(*std::ranges::min_element(found, {}, count));
  std::erase_if(found, [&](const RotaryCandidate& c) { return count(c) > fewest; });
  return found;
}

}  // namespace

std::vector<RotaryCandidate> WithOtherTable(const RotaryFit& fit, const RotaryCandidate& start) {
  if (start.model.growth || start.model.has_coordinates) return {};
  const double gain = fit.GainOf(start.model);
  const auto half = [&](Where where, Side side, const char* text) {
    return Half{where, text, RotaryFit(fit, AnglesOf(fit.angles().fits, gain, side))};
  };
  return ExplainedByHalves(half(Where::kCosine, Side::kCosine, "in cos alone"),
                           half(Where::kSine, Side::kSine, "in sin alone"), start);
}

std::vector<RotaryCandidate> WithOtherSum(const RotaryQuestion& question,
                                          const RotaryCandidate& start) {
  if (start.model.growth || start.model.has_coordinates || !question.fits_of_sums) return {};
  const auto half = [&](Where where, ChannelSums sums, const char* text) -> std::optional<Half> {
    const std::optional<TokenFits> fits = question.fits_of_sums(start.model, sums);
    if (!fits) return std::nullopt;
    const double gain = GainOf(start.model, question.seen.c, question.seen.recipe);
    const Angles angles = AnglesOf(fits->fits, gain);
    if (!angles.gain.Contains(gain)) return std::nullopt;
    return Half{where, text, RotaryFit(question, angles, fits->token_of)};
  };
  const auto first =
      half(Where::kFirstSum, ChannelSums::kFirst, "only in the first channel of each pair");
  const auto second =
      half(Where::kSecondSum, ChannelSums::kSecond, "only in the second channel of each pair");
  return first && second ? ExplainedByHalves(*first, *second, start)
                         : std::vector<RotaryCandidate>();
}

}  // namespace sextant::oracle
