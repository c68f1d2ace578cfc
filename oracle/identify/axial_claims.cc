#include "oracle/identify/axial_claims.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/identify/rotation_window.h"
#include "reference/rope/rope_axial.h"

namespace sextant::oracle {
namespace {

constexpr double kPi = std::numbers::pi;

// P pairs on each of A axes; pair a P + j turns by frequency number IndexOf(a, j) of n.
struct Arranged {
  ChannelWindow window;
  Arrangement arrangement;
  size_t A, P;

  size_t n() const { return arrangement == Arrangement::kAlternating ? A * P : P; }
  size_t IndexOf(size_t a, size_t j) const {
    return arrangement == Arrangement::kAlternating ? A * j + a : j;
  }
  std::vector<PairOfChannels> Pairs() const {
    if (arrangement != Arrangement::kBlocks) return window.Pairs();
    std::vector<PairOfChannels> pairs;
    for (size_t a = 0; a < A; ++a) {
      const ChannelWindow block = {window.pairing, window.offset + 2 * P * a, 2 * P};
      for (const PairOfChannels& pair : block.Pairs()) pairs.push_back(pair);
    }
    return pairs;
  }
};

// The measured frequency number i.
struct Frequency {
  size_t i;
  double value;
};

// Of all pairs on their axes; empty if one is not possible there.
std::vector<Frequency> FrequenciesOf(const Arranged& arranged, RotationMeasurer& measurer) {
  constexpr long double kMost = 1024 * kPi;  // beyond those of images
  std::vector<Frequency> all;
  const auto measured = measurer.Measure(arranged.Pairs(), kMost);
  for (size_t k = 0; k < measured.size(); ++k) {
    const size_t a = k / arranged.P;
    const auto at = std::ranges::find(measured[k], a, &PairOnAxis::axis);
    if (at == measured[k].end()) return {};
    all.push_back({arranged.IndexOf(a, k % arranged.P), at->inv_freq.value});
  }
  return all;
}

// Frequency number i of n, and the number of the configuration that gives the last one.
struct Kind {
  AxialFrequencies kind;
  const char* attribute;  // of the number; null: none
  double (*number)(const Frequency& last, double n);
  double (*value)(double i, double n, double number);
};
constexpr Kind kKinds[] = {
    {AxialFrequencies::kConstant, nullptr, [](const Frequency&, double) { return 1.0; },
     [](double, double, double) { return 1.0; }},
    {AxialFrequencies::kLang, "base",
     [](const Frequency& last, double n) {
       return std::pow(last.value, -n / static_cast<double>(last.i));
     },
     [](double i, double n, double base) { return std::pow(base, -i / n); }},
    {AxialFrequencies::kPixel, "max_freq",
     [](const Frequency& last, double n) {
       return 2 * (1 + (last.value / kPi - 1) * (n - 1) / static_cast<double>(last.i));
     },
     [](double i, double n, double most) {
       return kPi * (n == 1 ? 1 : 1 + (most / 2 - 1) * i / (n - 1));
     }}};

// A claim, and the sum of the relative errors of its frequencies.
struct Ranked {
  Claim claim;
  double error;
};

std::vector<Ranked> AxialClaimsOf(const Arranged& arranged, const Claim& asked, const Claim& given,
                                  std::vector<Frequency> measured) {
  const auto backwards =
      std::ranges::count_if(measured, [](const Frequency& f) { return f.value < 0; });
  const bool is_transposed = 2 * static_cast<size_t>(backwards) > measured.size();
  if (is_transposed && !asked.contains("direction")) return {};
  for (Frequency& f : measured) f.value = is_transposed ? -f.value : f.value;
  const Frequency last = *std::ranges::max_element(measured, {}, &Frequency::i);
  const auto n = static_cast<double>(arranged.n());
  std::vector<Ranked> all;
  for (const Kind& kind : kKinds) {
    Claim claim = WithWindow(asked, arranged.window);
    const auto set = [&](const char* key, const std::string& text) {
      if (const auto at = claim.find(key); at != claim.end()) at->second = text;
    };
    set("arrangement", PrintValue(arranged.arrangement));
    set("frequencies", PrintValue(kind.kind));
    if (is_transposed) set("direction", PrintValue(Direction::kTranspose));
    double number = kind.attribute ? std::stod(given.at(kind.attribute)) : 1;
    if (kind.attribute && last.i > 0 && claim.contains(kind.attribute)) {
      number = kind.number(last, n);
      set(kind.attribute, PrintValue(number));
    }
    double error = 0;
    for (const Frequency& f : measured)
      error += std::abs(f.value / kind.value(static_cast<double>(f.i), n, number) - 1);
    if (std::isfinite(error)) all.push_back({std::move(claim), error});
  }
  return all;
}

}  // namespace

std::vector<Claim> AxialClaims(const Claim& asked, const Case& c, RotationMeasurer& measurer) {
  std::vector<Ranked> all;
  const size_t A = measurer.axes();
  for (const ChannelWindow& window : WindowsOf(asked, c, measurer.all())) {
    if (window.R % (2 * A) != 0) continue;
    for (const std::string_view name : NamesOf(Arrangement{})) {
      Arranged arranged{window, {}, A, window.R / (2 * A)};
      ParseValue(name, arranged.arrangement);
      const std::vector<Frequency> measured = FrequenciesOf(arranged, measurer);
      if (measured.empty()) continue;
      std::ranges::move(AxialClaimsOf(arranged, asked, ClaimOf(c), measured),
                        std::back_inserter(all));
    }
  }
  std::ranges::stable_sort(all, {}, &Ranked::error);
  std::vector<Claim> claims;
  for (Ranked& one : all) claims.push_back(std::move(one.claim));
  return claims;
}

}  // namespace sextant::oracle
