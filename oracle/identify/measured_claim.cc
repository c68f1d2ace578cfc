#include "oracle/identify/measured_claim.h"

#include <algorithm>
#include <numbers>

#include "oracle/identify/measured_frequencies.h"
#include "oracle/identify/measured_rotation.h"
#include "oracle/identify/rotation_window.h"
#include "oracle/identify/seen_rotation.h"
#include "reference/rope/rope_sections.h"

namespace sextant::oracle {
namespace {

ChannelWindow WindowOf(const Claim& given, size_t width) {
  ChannelWindow window;
  const auto number = [&](const char* key, size_t other) {
    return given.contains(key) ? std::stoul(given.at(key)) : other;
  };
  if (given.contains("pairing")) ParseValue(given.at("pairing"), window.pairing);
  window.offset = number("offset", 0);
  window.R = number("R", width);
  return window;
}

// The axis of each of K pairs.
std::vector<size_t> AxesOf(const Claim& given, size_t K) {
  if (!given.contains("sections")) return std::vector<size_t>(K);
  std::vector<int64_t> sections;
  SectionOrder order{};
  ParseValue(given.at("sections"), sections);
  ParseValue(given.at("order"), order);
  return AxesOfPairs(sections, order, static_cast<int64_t>(K));
}

}  // namespace

std::optional<MeasuredClaim> MeasuredBy(const std::string& recipe, const Claim& claim,
                                        const std::vector<Exchange>& exchanges, int threads) {
  constexpr long double kMost = std::numbers::pi_v<long double>;  // positions are integers
  if (!RotationIn(exchanges[0])) return std::nullopt;
  const Case& c = exchanges[0].c;
  RotationMeasurer measurer(exchanges, recipe);
  const Claim given = ClaimOf(c.With(WordsOf(claim)));
  const ChannelWindow window = WindowOf(given, measurer.all()[0].rows.width);
  const auto measured = measurer.Measure(window.Pairs(), kMost);
  const auto direction = given.find("direction");
  const bool is_transposed =
      direction != given.end() && direction->second == PrintValue(Direction::kTranspose);
  MeasuredTable table{{}, measurer.gain()};
  const std::vector<size_t> axes = AxesOf(given, measured.size());
  for (size_t k = 0; k < measured.size(); ++k) {
    const auto at = std::ranges::find(measured[k], axes[k], &PairOnAxis::axis);
    if (at == measured[k].end()) return std::nullopt;
    table.inv_freq.push_back(at->inv_freq);
    if (is_transposed) table.inv_freq.back().value *= -1;
  }
  if (table.inv_freq.empty()) return std::nullopt;
  const std::vector<PairOfChannels> columns = PairsOfTable(c);
  const auto shown = columns.empty() ? window.Pairs() : columns;
  return MeasuredClaim{WithMeasuredList(claim, table, shown, exchanges, recipe, threads), table};
}

}  // namespace sextant::oracle
