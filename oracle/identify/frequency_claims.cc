#include "oracle/identify/frequency_claims.h"

#include <algorithm>
#include <cmath>

#include "oracle/identify/fit.h"
#include "oracle/rope/measured/numbers.h"
#include "reference/case/choices.h"
#include "reference/rope/rope_frequencies.h"

namespace sextant::oracle {
namespace {

// The contexts of released models: powers of two.
constexpr int kLeastContext = 11, kMostContext = 17;

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
      const NumberWithBar& one = is_list ? table.inv_freq[k] : table.attention_factor;
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
  const auto permitted = PermittedErrors(c, seen.inputs, ParseRecipe(recipe, dtype));
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

// The bases that single pairs give, if no scaling changes them.
std::vector<double> BasesOf(const std::vector<NumberWithBar>& f) {
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
      const double factor = RoundedTo(std::pow(base / usual, (R - 2) / R), digits);
      if (!(factor > 1)) continue;
      Claim claim = unscaled;
      if (claim.contains("base")) claim["base"] = PrintValue(usual);
      claim["scaling"] = "ntk(factor=" + PrintValue(factor) + ")";
      if (is_enough(claim)) return claim;
    }
  }
  return std::nullopt;
}

// The factor by which the slowest pair turns too slowly for the base.
double FactorOf(const std::vector<NumberWithBar>& f, double base) {
  const auto K = static_cast<double>(f.size());
  const double unscaled = std::pow(base, -(K - 1) / K);
  return f.back().value > f.back().bar ? unscaled / f.back().value : 1;
}

// The part of the pairs that turn at all.
double TurningPart(const std::vector<NumberWithBar>& f) {
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

// The scalings that the operation lists, without lists of numbers, and yarn with the measured
// amplitude.
std::vector<std::string> TextsOf(const Case& c, const MeasuredTable& table) {
  std::vector<std::string> texts;
  for (const Choices& choices : ChoicesOf(c.info())) {
    if (choices.key != "scaling") continue;
    for (const std::string& text : choices.texts) {
      if (text.find('[') != text.npos) continue;
      try {
        texts.push_back(CompleteText(c, text));
      } catch (const Error&) {
        continue;  // not for this width
      }
      if (!text.starts_with(YarnScaling::kName) || text.find("mscale") != text.npos) continue;
      const std::string given = texts.back().substr(0, texts.back().size() - 1);
      const auto& [gain, bar] = table.attention_factor;
      if (std::isinf(bar)) continue;  // no gain that is the same everywhere
      for (const double factor : {SimplestIn({gain - bar, gain + bar}), gain})
        texts.push_back(given + ",attention_factor=" + PrintValue(factor) + ")");
    }
  }
  return texts;
}

// Claims from which the search begins.
std::vector<Claim> StartsOf(const MeasuredTable& table, const Claim& free, const Case& c) {
  std::set<Claim> starts = {free};
  const double given = std::stod(ClaimOf(c).at("base"));
  const std::vector<std::string> texts = TextsOf(c, table);
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

// The claims that fit best, at most kMostOfForm of each form.
std::vector<Claim> Nearest(const std::vector<Claim>& claims, const std::vector<Exchange>& seen) {
  constexpr size_t kMostOfForm = 3;
  std::set<std::pair<double, Claim>> ranked;
  for (const Claim& claim : claims) ranked.emplace(MisfitOf(DifferencesOf(claim, seen)), claim);
  std::map<std::string, size_t> count;
  std::vector<Claim> nearest;
  for (const auto& [misfit, claim] : ranked) {
    if (std::isfinite(misfit) && ++count[FormOf(claim)] <= kMostOfForm) nearest.push_back(claim);
  }
  return nearest;
}

// The measured frequencies, in units that tell far and near numbers apart.
struct Units {
  const std::vector<Exchange>&coarse, &fine;
};

// One claim of each form that fits, with numbers near those of `claims`. These get the numbers that
// fit best.
std::map<std::string, Claim> FittingForms(const Units& seen,
                                          const std::function<bool(const Claim&)>& is_enough,
                                          int threads, std::vector<Claim>& claims) {
  std::map<std::string, Claim> found;
  for (const Numbers which :
       {Numbers::kFirst, Numbers::kFirstAndContext, Numbers::kAllButContext, Numbers::kAll}) {
    if (which != Numbers::kFirst) claims = Nearest(claims, seen.coarse);
    claims = RefinedClaims(std::move(claims), seen.coarse, which, threads);
    for (const Claim& claim : RefinedClaims(claims, seen.fine, which, threads)) {
      const std::vector<Claim> rounded = RoundedClaims(claim, seen.fine[0].c);
      const auto at = std::ranges::find_if(rounded, is_enough);
      if (at != rounded.end()) found.try_emplace(FormOf(*at), *at);
    }
    if (!found.empty()) break;
  }
  return found;
}

}  // namespace

std::vector<Claim> FrequencyClaims(const MeasuredTable& table, const Claim& asked, const Case& c,
                                   const std::string& recipe, int threads) {
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
  const std::vector<Claim> starts = StartsOf(table, free, seen.c);
  const Claim unscaled = Unscaled(starts, coarse, threads);
  const std::vector<Exchange> fine = {WithErrorsOf(recipe, unscaled, c.dtype(), seen)};
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
  if (claims.empty()) claims = BestClaims(Nearest(refined, coarse), coarse, threads, is_enough);
  if (!found.contains(FormOf(unscaled))) claims.push_back(unscaled);  // by another recipe, perhaps
  return claims;
}

}  // namespace sextant::oracle
