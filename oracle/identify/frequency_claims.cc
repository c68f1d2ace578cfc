#include "oracle/identify/frequency_claims.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "oracle/identify/best_claims.h"
#include "oracle/identify/frequency_starts.h"
#include "oracle/rope/measured/numbers.h"
#include "reference/base/parallel.h"
#include "reference/case/choices.h"
#include "reference/rope/rope_frequencies.h"

namespace sextant::oracle {
namespace {

// The measured frequencies as an answer of rope_frequencies, with the attributes of `asked`.
Exchange AnswerOf(const MeasuredTable& table, const Case& asked) {
  const auto R = std::to_string(2 * table.inv_freq.size());
  Exchange seen{Case::Parse("rope_frequencies dtype=f64 R=" + R), {}, {}, {}};
  const Claim all = ClaimOf(asked);
  std::vector<std::string> words;
  for (const char* key : {"base", "scaling", "seq_len"}) {
    if (const auto at = all.find(key); at != all.end())
      words.push_back(at->first + "=" + at->second);
  }
  seen.c = seen.c.With(words);
  for (const TensorSpec& output : seen.c.info().signature.outputs) {
    const bool is_list = output.name == "inv_freq";
    Tensor<double> value(seen.c.ShapeOf(output));
    Tensor<double> unit = value;
    for (size_t k = 0; k < value.data.size(); ++k) {
      const MeasuredNumber& one = is_list ? table.inv_freq[k] : table.attention_factor;
      value.data[k] = one.value;
      unit.data[k] = one.bar;
    }
    seen.answer.push_back({output.name, DType::kF64, std::move(value)});
    seen.units.push_back({output.name, DType::kF64, std::move(unit), {}, {}});
  }
  return seen;
}

// The same with larger units: the frequencies of the subject have the errors that the recipe
// permits in this dtype, if the claim is right, beside those of the measurement.
Exchange WithErrorsOf(const std::string& recipe, const Claim& claim, DType dtype, Exchange seen) {
  std::vector<std::string> words = WordsOf(claim);
  words.push_back("dtype=" + std::string(NameOf(dtype)));
  const Case c = seen.c.With(words);
  const auto permitted = PermittedErrors({c, seen.inputs, ParseRecipe(recipe, dtype)});
  for (size_t o = 0; o < seen.units.size(); ++o) {
    auto& unit = seen.units[o].error.data;
    for (size_t k = 0; k < unit.size(); ++k) unit[k] += permitted[o].error.data[k];
  }
  return seen;
}

// The same with larger units, by which numbers far from the right ones are told apart, too.
Exchange Coarsened(Exchange seen) {
  constexpr double kPart = 0x1p-10;  // kMostPermitted of them are ten times the number
  for (size_t o = 0; o < seen.units.size(); ++o) {
    auto& unit = seen.units[o].error.data;
    for (size_t k = 0; k < unit.size(); ++k)
      unit[k] += kPart * std::abs(seen.answer[o].values.data[k]);
  }
  return seen;
}

// The bases of released models. Sources: the configurations in fixtures/models.
constexpr double kUsualBases[] = {1e4, 1.5e5, 5e5, 1e6, 5e6, 1e7};

// A base of many digits is that of ntk for a usual base and a factor of few digits, if there is
// one: ntk computes base factor^(R/(R-2)).
std::optional<Claim> AsNtk(const Claim& unscaled, const Case& c,
                           const std::function<bool(const Claim&)>& is_enough) {
  constexpr int kFew = 3;  // digits of a number that somebody chose
  const double base = std::stod(ClaimOf(c.With(WordsOf(unscaled))).at("base"));
  const auto R = static_cast<double>(c.dimensions().at("R"));
  if (!unscaled.contains("scaling") || HasFewDigits(base, kFew) || R <= 2) return std::nullopt;
  for (int digits = 1; digits <= kFew; ++digits) {
    for (const double usual : kUsualBases) {
      const double factor = RoundedToDigits(std::pow(base / usual, (R - 2) / R), digits);
      if (!(factor > 1)) continue;
      Claim claim = unscaled;
      if (claim.contains("base")) claim["base"] = PrintValue(usual);
      claim["scaling"] = "ntk(factor=" + PrintValue(factor) + ")";
      if (is_enough(claim)) return claim;
    }
  }
  return std::nullopt;
}

// Of the starts without a scaling, with the base that fits best.
Claim Unscaled(const std::vector<Claim>& starts, const std::vector<Exchange>& seen, int threads) {
  std::vector<Claim> all;
  std::ranges::copy_if(starts, std::back_inserter(all), [](const Claim& claim) {
    const auto at = claim.find("scaling");
    return at == claim.end() || at->second == NoScaling::kName;
  });
  if (all.empty()) return starts.front();
  all = RefinedClaims(all, seen, Numbers::kAll, threads);
  return *std::ranges::min_element(
      all, {}, [&](const Claim& claim) { return MisfitOf(DifferencesOf(claim, seen)); });
}

// The claims that fit best, at most `of_form` of each form.
std::vector<Claim> Nearest(const std::vector<Claim>& claims, const std::vector<Exchange>& seen,
                           size_t of_form, int threads) {
  std::vector<std::pair<double, Claim>> ranked(claims.size());
  InParallel(claims.size(), threads, [&](size_t i) {
    ranked[i] = {MisfitOf(DifferencesOf(claims[i], seen)), claims[i]};
  });
  std::ranges::sort(ranked);
  std::map<std::string, size_t> count;
  std::vector<Claim> nearest;
  for (const auto& [misfit, claim] : ranked) {
    if (std::isfinite(misfit) && ++count[FormOf(claim)] <= of_form) nearest.push_back(claim);
  }
  return nearest;
}

// The measured frequencies, in units that tell far and near numbers apart.
struct Units {
  const std::vector<Exchange>&coarse, &fine;
};

// True if somebody may have chosen the parameters of the scaling beside its first. So many numbers
// fit other forms, too: limits of a ramp that are truncated or not.
bool HasPlainParameters(const Claim& claim, const Case& c) {
  const std::vector<NumberSlot> slots = SlotsOf(claim, c);
  for (size_t i = 1; i < slots.size(); ++i) {
    if (slots[i].attribute == slots[i - 1].attribute && !IsPlain(slots[i].value)) return false;
  }
  return true;
}

// In errors that are permitted without a scaling: no other permits it.
constexpr double kFar = 64;

// One claim of each form that fits, with numbers near those of `claims`. These get the numbers that
// fit best.
std::map<std::string, Claim> FittingForms(const Units& seen,
                                          const std::function<bool(const Claim&)>& is_enough,
                                          int threads, std::vector<Claim>& claims) {
  constexpr size_t kFirst = 6, kThen = 3;  // claims of a form that are refined, at first and then
  std::map<std::string, Claim> found;
  for (const Numbers which :
       {Numbers::kFirst, Numbers::kFirstAndContext, Numbers::kAllButContext, Numbers::kAll}) {
    claims = Nearest(claims, seen.coarse, which == Numbers::kFirst ? kFirst : kThen, threads);
    claims = RefinedClaims(std::move(claims), seen.coarse, which, threads);
    for (const Claim& claim : RefinedClaims(claims, seen.fine, which, threads)) {
      if (LargestDifference(claim, seen.fine) > kFar) continue;
      const std::vector<Claim> rounded = RoundedClaims(claim, seen.fine[0].c);
      const auto at = std::ranges::find_if(rounded, [&](const Claim& one) {
        return HasPlainParameters(one, seen.fine[0].c) && is_enough(one);
      });
      if (at != rounded.end()) found.try_emplace(FormOf(*at), *at);
    }
    if (!found.empty()) break;
  }
  claims = Nearest(claims, seen.coarse, kThen, threads);
  return found;
}

// The claim with rounded numbers, if it has nearly such.
std::optional<Claim> NearlyPlain(const Claim& claim, const Case& c) {
  constexpr int kFew = 3;              // digits of a number that somebody chose
  constexpr double kNearly = 0x1p-13;  // relative: the starts are measured at single pairs
  const Claim rounded = RoundedTo(claim, c, kFew);
  const std::vector<NumberSlot> from = SlotsOf(claim, c), to = SlotsOf(rounded, c);
  const bool is_near = std::ranges::equal(from, to, [](const NumberSlot& a, const NumberSlot& b) {
    return std::abs(a.value - b.value) <= kNearly * std::abs(a.value);
  });
  return is_near ? std::optional(rounded) : std::nullopt;
}

// The first of the claims that fits with other limits of its ramp.
std::optional<Claim> WithPlainRamp(const std::vector<Claim>& starts,
                                   const std::vector<Exchange>& fine,
                                   const std::function<bool(const Claim&)>& is_enough,
                                   int threads) {
  std::set<Claim> seen;
  for (const Claim& start : starts) {
    const auto plain = NearlyPlain(start, fine[0].c);
    if (!plain) continue;
    const std::vector<Claim> others = WithPlainRamps(*plain);
    if (others.empty() || !seen.insert(others.front()).second) continue;
    std::vector<char> is_near(others.size());
    InParallel(others.size(), threads,
               [&](size_t i) { is_near[i] = LargestDifference(others[i], fine) <= kFar; });
    for (size_t i = 0; i < others.size(); ++i)
      if (is_near[i] && is_enough(others[i])) return others[i];
  }
  return std::nullopt;
}

}  // namespace

std::vector<Claim> FrequencyClaims(const MeasuredTable& table, const Claim& asked, const Case& c,
                                   const std::string& recipe, int threads) {
  constexpr std::ptrdiff_t kMostNearest = 8;
  const Exchange seen = AnswerOf(table, c);
  Claim free;
  for (const auto& [attribute, text] : ClaimOf(seen.c)) {
    if (attribute != "R" && asked.contains(attribute)) free[attribute] = text;
  }
  const std::vector<Exchange> coarse = {Coarsened(seen)};
  const auto is_enough = [&](const Claim& claim) {
    try {
      return IsPermitted(claim, {WithErrorsOf(recipe, claim, c.dtype(), seen)});
    } catch (const Error&) {
      return false;  // no valid combination of attributes
    }
  };
  const std::vector<Claim> starts = FrequencyStarts(table, free, seen.c);
  const Claim unscaled = Unscaled(starts, coarse, threads);
  std::vector<Exchange> fine;
  try {
    fine = {WithErrorsOf(recipe, unscaled, c.dtype(), seen)};
  } catch (const Error&) {
    return {};  // frequencies of 0 have no finite base
  }
  std::vector<Claim> refined = starts;
  const auto found = FittingForms({coarse, fine}, is_enough, threads, refined);
  std::vector<Claim> claims;
  for (const auto& [form, claim] : found) {
    const auto at = claim.find("scaling");
    const bool is_unscaled = at != claim.end() && at->second == NoScaling::kName;
    claims.push_back(
        (is_unscaled ? AsNtk(claim, seen.c, is_enough) : std::nullopt).value_or(claim));
  }
  std::ranges::stable_sort(claims, {}, [](const Claim& claim) { return FormOf(claim).size(); });
  if (claims.empty()) {
    if (auto ramp = WithPlainRamp(starts, fine, is_enough, threads))
      claims.push_back(*std::move(ramp));
  }
  if (claims.empty())
    claims.assign(refined.begin(), refined.begin() + std::min(kMostNearest, std::ssize(refined)));
  if (!found.contains(FormOf(unscaled))) claims.push_back(unscaled);  // by another recipe, perhaps
  return claims;
}

}  // namespace sextant::oracle
