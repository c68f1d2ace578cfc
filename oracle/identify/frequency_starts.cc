#include "oracle/identify/frequency_starts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "reference/case/choices.h"
#include "reference/rope/rope_frequencies.h"

namespace sextant::oracle {
namespace {

// The contexts of released models: powers of two.
constexpr int kLeastContext = 11, kMostContext = 17;

// The bases that single pairs give, if no scaling changes them.
std::vector<double> BasesOf(const std::vector<MeasuredNumber>& f) {
  std::vector<double> bases;
  const size_t K = f.size();
  for (const size_t k : {K - 1, K / 4, size_t{1}}) {
    if (k == 0 || k >= K) continue;
    for (const double first : {f[0].value, 1.0}) {
      const double ratio = f[k].value / first;
      if (!(ratio > 0 && ratio < 1)) continue;
      bases.push_back(std::pow(ratio, -static_cast<double>(K) / static_cast<double>(k)));
    }
  }
  return bases;
}

// The factor by which the slowest pair turns too slowly for the base.
double FactorOf(const std::vector<MeasuredNumber>& f, double base) {
  const auto K = static_cast<double>(f.size());
  const double unscaled = std::pow(base, -(K - 1) / K);
  return f.back().value > f.back().bar ? unscaled / f.back().value : 1;
}

// The part of the pairs that turn at all.
double TurningPart(const std::vector<MeasuredNumber>& f) {
  const auto turning = std::ranges::count_if(f, [](const auto& x) { return x.value > x.bar; });
  return static_cast<double>(turning) / static_cast<double>(f.size());
}

// The text of a scaling with all its parameters, as a case line has it.
std::string CompleteText(const Case& c, const std::string& text) {
  return ClaimOf(c.With("scaling=" + text)).at("scaling");
}

// The text with other numbers for these parameters.
std::string WithParameter(std::string text, const std::string& name, double value) {
  const size_t at = text.find(name + "=");
  if (at == text.npos || (at > 0 && text[at - 1] != '(' && text[at - 1] != ',')) return text;
  const size_t begin = at + name.size() + 1;
  return text.replace(begin, text.find_first_of(",)", begin) - begin, PrintValue(value));
}

// The text with other values for parameters that are names: yarn by rotations or without truncated
// limits, llama3 with a step instead of a ramp.
std::vector<std::string> WithOtherNames(const std::string& text) {
  std::vector<std::string> texts = {text};
  const auto replaced = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    if (at == text.npos) return;
    texts.push_back(text);
    texts.back().replace(at, from.size(), to);
  };
  replaced("truncate=true", "truncate=false");
  replaced("ramp=" + PrintValue(YarnRamp::kIndex), "ramp=" + PrintValue(YarnRamp::kRotations));
  if (text.starts_with(Llama3Scaling::kName)) replaced("high_freq_factor=4", "high_freq_factor=1");
  return texts;
}

// The scalings that the operation lists, without lists of numbers, and yarn with the measured
// amplitude.
std::vector<std::string> TextsOfStarts(const Case& c, const MeasuredTable& table) {
  const auto& [gain, bar] = table.attention_factor;
  std::vector<std::string> texts;
  const auto add = [&](const std::string& complete) {
    texts.push_back(complete);
    if (!complete.starts_with(YarnScaling::kName) || complete.find("mscale") != complete.npos)
      return;
    const std::string given = complete.substr(0, complete.size() - 1);
    if (std::isinf(bar)) return;  // no gain that is the same everywhere
    for (const double factor : {SimplestIn({gain - bar, gain + bar}), gain})
      texts.push_back(given + ",attention_factor=" + PrintValue(factor) + ")");
  };
  for (const Choices& choices : ChoicesOf(c.info())) {
    if (choices.key != "scaling") continue;
    for (const std::string& text : choices.texts) {
      if (text.find('[') != text.npos) continue;
      try {
        for (const std::string& other : WithOtherNames(CompleteText(c, text))) add(other);
      } catch (const Error&) {
        continue;  // not for this width
      }
    }
  }
  return texts;
}

}  // namespace

std::vector<Claim> FrequencyStarts(const MeasuredTable& table, const Claim& free, const Case& c) {
  std::set<Claim> starts = {free};
  const double given = std::stod(ClaimOf(c).at("base"));
  const std::vector<std::string> texts = TextsOfStarts(c, table);
  std::vector<double> bases = BasesOf(table.inv_freq);
  if (!free.contains("base")) bases = {given};
  for (const double base : bases) {
    Claim claim = free;
    if (claim.contains("base")) claim["base"] = PrintValue(base);
    if (!claim.contains("scaling")) {
      starts.insert(claim);
      continue;
    }
    const double factor = FactorOf(table.inv_freq, base);
    for (const std::string& listed : texts) {
      const std::string text =
          WithParameter(listed, "partial_rotary_factor", TurningPart(table.inv_freq));
      for (int context = kLeastContext; context <= kMostContext; ++context) {
        claim["scaling"] = WithParameter(WithParameter(text, "factor", factor),
                                         "original_max_position_embeddings", std::exp2(context));
        starts.insert(claim);
      }
    }
  }
  return {starts.begin(), starts.end()};
}

std::vector<Claim> WithPlainRamps(const Claim& claim) {
  constexpr double kMostFast = 64, kUsualFast = 32, kUsualSlow = 1;
  const auto at = claim.find("scaling");
  if (at == claim.end() || !at->second.starts_with(YarnScaling::kName)) return {};
  std::vector<std::pair<double, Claim>> ranked;
  for (double fast = 1; fast <= kMostFast; ++fast) {
    for (const double slow : {0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0}) {
      if (slow >= fast) continue;
      const double unusual =
          std::abs(std::log(fast / kUsualFast)) + std::abs(std::log(slow / kUsualSlow));
      for (int context = kLeastContext; context <= kMostContext; ++context) {
        std::string text = WithParameter(at->second, "beta_fast", fast);
        text = WithParameter(WithParameter(text, "beta_slow", slow),
                             "original_max_position_embeddings", std::exp2(context));
        Claim other = claim;
        other["scaling"] = text;
        ranked.emplace_back(unusual, std::move(other));
      }
    }
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<double, Claim>::first);
  std::vector<Claim> claims;
  for (auto& [unusual, other] : ranked) claims.push_back(std::move(other));
  return claims;
}

}  // namespace sextant::oracle
