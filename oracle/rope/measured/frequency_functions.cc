#include "oracle/rope/measured/frequency_functions.h"

#include <cmath>
#include <functional>
#include <numbers>

#include "oracle/rope/measured/numbers.h"

namespace sextant::oracle {
namespace {

struct OfFrequency {
  const char* text;
  long double (*of)(long double f);
};
constexpr OfFrequency kFunctions[] = {
    {"are inverted: 1 / f", [](long double f) { return 1 / f; }},
    {"are the wavelengths 2 pi / f",
     [](long double f) { return 2 * std::numbers::pi_v<long double> / f; }},
    {"are squared", [](long double f) { return f * f; }},
    {"are square roots of the right ones", [](long double f) { return std::sqrt(f); }},
    {"are logarithms ln f of the right ones", [](long double f) { return std::log(f); }}};

RotaryModel ModelWithFrequencies(const MeasuredFrequencies& seen,
                                 const std::function<long double(size_t)>& of) {
  RotaryModel model = seen.right;
  for (size_t k = 0; k < model.pairs.size(); ++k)
    if (seen.right_list.of[k] != 0)  // of a pair that stands still no function is known
      model.pairs[k].factor *= static_cast<double>(of(k) / seen.right_list.of[k]);
  return model;
}

// The scaling of another pair.
struct ScaledAs {
  const char* text;
  int64_t (*pair)(int64_t k, int64_t pairs);
};
constexpr ScaledAs kScaledAs[] = {
    {"the next pair", [](int64_t k, int64_t P) { return std::min(k + 1, P - 1); }},
    {"the pair before", [](int64_t k, int64_t) { return std::max<int64_t>(k - 1, 0); }},
    {"pair P - 1 - k of P", [](int64_t k, int64_t P) { return P - 1 - k; }},
    {"pair k / 2", [](int64_t k, int64_t) { return k / 2; }},
    {"pair 2k", [](int64_t k, int64_t P) { return std::min(2 * k, P - 1); }},
    {"pair 0", [](int64_t, int64_t) { return int64_t{0}; }},
    {"the last pair", [](int64_t, int64_t P) { return P - 1; }}};

}  // namespace

std::vector<FrequencyForm> NameFunctionsOfFrequencies(const MeasuredFrequencies& seen) {
  std::vector<FrequencyForm> forms;
  const std::vector<long double>& right = seen.right_list.of;
  const size_t pairs = right.size();
  for (const auto& [text, of] : kFunctions) {
    const auto value = [&, of = of](size_t k) { return of(right[k]); };
    forms.push_back({"frequency_function", std::string("frequencies ") + text,
                     ModelWithFrequencies(seen, value)});
  }
  if (pairs > 2) {
    const long double step = (right.back() - right[0]) / static_cast<long double>(pairs - 1);
    forms.push_back({"frequency_linear",
                     "frequencies of all pairs are equally far apart, from that of the first pair "
                     "to that of the last: the exponent is not linear, the frequency is",
                     ModelWithFrequencies(seen, [&](size_t k) {
                       return right[0] + static_cast<long double>(k) * step;
                     })});
  }
  if (!seen.is_configured || std::holds_alternative<NoScaling>(seen.right.scaling)) return forms;
  for (const auto& [text, pair] : kScaledAs) {
    RotaryModel model = seen.right;
    for (PairFrequency& one : model.pairs)
      one.scaled_as = pair(one.scaled_as, static_cast<int64_t>(pairs));
    forms.push_back({"scaling_of_other_pair",
                     std::string("the frequency of pair k is scaled as that of ") + text, model});
  }
  return forms;
}

namespace {

constexpr size_t kFew = 4;

// Each pair with its measured frequency; examples of the wrong ones, and how many they are.
struct Listed {
  RotaryModel model;
  std::string examples;
  size_t wrong = 0, known = 0, far = 0;
};
Listed ListedFrequencies(const MeasuredFrequencies& seen) {
  Listed listed{.model = seen.right, .examples = {}};
  const long double coarse = seen.Coarseness();
  for (size_t k = 0; k < seen.of_pair.size(); ++k) {
    if (!seen.of_pair[k] || seen.right_list.of[k] == 0) continue;
    ++listed.known;
    const LongRange ratio = seen.RatioOf(k);
    if (ratio.Contains(1)) continue;
    listed.far += !ratio.Meets({1 - coarse, 1 + coarse});
    // A number of many digits is no known one: then the one in the middle is the nearest.
    const double simple = SimplestRatioIn(ratio);
    const double factor = IsPlain(simple) ? simple : static_cast<double>(ratio.Middle());
    listed.model.pairs[k].factor *= factor;
    if (++listed.wrong <= kFew)
      listed.examples +=
          Phrase(listed.wrong == 1 ? "" : ", ", "pair ", k, " at ", MeasuredText(factor, ratio));
  }
  return listed;
}

}  // namespace

std::vector<FrequencyForm> ListFewFrequencies(const MeasuredFrequencies& seen) {
  const auto [model, examples, wrong, known, far] = ListedFrequencies(seen);
  if (wrong == 0 || wrong > kFew || 2 * wrong > seen.of_pair.size()) return {};
  return {{"frequency_of_some_pairs", examples + " of the right frequency", model}};
}

std::vector<FrequencyForm> ListFrequencies(const MeasuredFrequencies& seen) {
  const size_t pairs = seen.of_pair.size();
  const auto [model, examples, wrong, known, far] = ListedFrequencies(seen);
  if (far <= kFew || 4 * known < 3 * pairs) return {};
  return {{"frequencies_differ",
           Phrase("pairs turn at other frequencies: ", examples, " ... of the right one (", wrong,
                  " of ", pairs, " pairs)"),
           model}};
}

}  // namespace sextant::oracle
