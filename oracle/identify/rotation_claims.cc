#include "oracle/identify/rotation_claims.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/identify/axial_claims.h"
#include "oracle/identify/frequency_claims.h"
#include "oracle/identify/growth_claims.h"
#include "oracle/identify/measured_frequencies.h"
#include "oracle/identify/measured_rotation.h"
#include "oracle/identify/rotation_window.h"
#include "oracle/identify/section_claims.h"
#include "oracle/identify/seen_rotation.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// Turns the table forward, if most pairs turn backwards.
Claim WithDirection(Claim claim, MeasuredTable& table) {
  const auto backwards =
      std::ranges::count_if(table.inv_freq, [](const MeasuredNumber& f) { return f.value < 0; });
  const bool is_transposed = 2 * static_cast<size_t>(backwards) > table.inv_freq.size();
  const auto at = claim.find("direction");
  if (!is_transposed || at == claim.end()) return claim;
  at->second = PrintValue(Direction::kTranspose);
  for (MeasuredNumber& f : table.inv_freq) f.value = -f.value;
  return claim;
}

// The claims of one window: about direction, growth, axes, base and scaling.
std::vector<Claim> RotationClaimsOf(const ChannelWindow& window, const Claim& asked,
                                    RotationMeasurer& measurer,
                                    const std::vector<Exchange>& exchanges,
                                    const std::string& recipe, int threads) {
  constexpr long double kMost = std::numbers::pi_v<long double>;  // positions are integers
  std::vector<Claim> claims, frequencies;
  const auto measured = measurer.Measure(window.Pairs(), kMost);
  for (const Sectioned& sectioned : SectionsOf(asked, measured, measurer.axes())) {
    MeasuredTable table{{}, measurer.gain()};
    std::vector<std::vector<GainAt>> gains;
    for (const PairOnAxis& pair : sectioned.pairs) {
      table.inv_freq.push_back(pair.inv_freq);
      gains.push_back(pair.gains);
    }
    const Claim turned = WithDirection(WithWindow(sectioned.claim, window), table);
    const bool is_first = claims.empty();  // the others have the same frequencies, where known
    if (is_first) frequencies = FrequencyClaims(table, turned, exchanges[0].c, recipe, threads);
    for (const Claim& grown : WithGrowth(turned, gains)) {
      for (const Claim& frequency : frequencies) {
        claims.push_back(grown);
        for (const auto& [attribute, text] : frequency) claims.back()[attribute] = text;
      }
    }
    if (!is_first || !turned.contains("scaling")) continue;
    const std::vector<PairOfChannels> columns = PairsOfTable(exchanges[0].c);
    const auto shown = columns.empty() ? window.Pairs() : columns;
    claims.push_back(WithMeasuredList(turned, table, shown, exchanges, recipe, threads));
  }
  return claims;
}

// The frequencies and the factor that the operation answers; empty if it answers something else.
std::optional<MeasuredTable> AnsweredTable(const Exchange& exchange) {
  const Tensors& answer = exchange.answer;
  if (answer.size() != 2 || answer[0].name != "inv_freq" || answer[1].name != "attention_factor")
    return std::nullopt;
  const auto with_bar = [](double value, DType dtype) {
    return MeasuredNumber{value, std::abs(value) * UnitRoundoffOf(dtype)};
  };
  MeasuredTable table{{}, with_bar(answer[1].values.data[0], answer[1].dtype)};
  for (const double f : answer[0].values.data)
    table.inv_freq.push_back(with_bar(f, answer[0].dtype));
  return table;
}

// The claims about them: about base and scaling.
std::vector<Claim> RotationClaimsOf(const MeasuredTable& table, const Claim& asked, const Case& c,
                                    const std::string& recipe, int threads) {
  std::vector<Claim> claims;
  for (const Claim& frequency : FrequencyClaims(table, asked, c, recipe, threads)) {
    claims.push_back(asked);
    for (const auto& [attribute, text] : frequency) claims.back()[attribute] = text;
  }
  if (!asked.contains("scaling") || table.inv_freq.empty()) return claims;
  claims.push_back(asked);
  claims.back()["scaling"] = ExplicitText(table);
  return claims;
}

}  // namespace

std::vector<Claim> RotationClaims(const Claim& asked, const std::vector<Exchange>& exchanges,
                                  const std::string& recipe, int threads) {
  constexpr size_t kMostWindows = 3;  // a window of unrotated pairs fits many
  if (const auto table = AnsweredTable(exchanges[0]))
    return RotationClaimsOf(*table, asked, exchanges[0].c, recipe, threads);
  if (!RotationIn(exchanges[0])) return {};
  RotationMeasurer measurer(exchanges, recipe);
  if (asked.contains("arrangement")) return AxialClaims(asked, exchanges[0].c, measurer);
  std::vector<Claim> claims;
  size_t possible = 0;
  for (const ChannelWindow& window : WindowsOf(asked, exchanges[0].c, measurer.all())) {
    const auto its = RotationClaimsOf(window, asked, measurer, exchanges, recipe, threads);
    claims.insert(claims.end(), its.begin(), its.end());
    if (!its.empty() && ++possible == kMostWindows) break;
  }
  std::ranges::stable_sort(claims, {}, [](const Claim& claim) {
    return std::pair(IsMeasured(claim), FormOf(claim).size());
  });
  return claims;
}

}  // namespace sextant::oracle
