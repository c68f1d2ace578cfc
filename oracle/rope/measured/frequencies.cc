#include "oracle/rope/measured/frequencies.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {

bool MeasuredFrequencies::Agrees(const FrequencyList& list) const {
  for (size_t k = 0; k < possible.size(); ++k) {
    const long double f = list.of[k], error = list.relative[k] * std::abs(f);
    const bool fits = std::ranges::any_of(possible[k], [&](const LongRange& range) {
      return range.Meets({f - error, f + error});
    });
    if (!fits && !possible[k].empty() && std::abs(f) <= most) return false;
  }
  return true;
}

bool MeasuredFrequencies::IsMeasurable(size_t pair) const {
  return of_pair[pair] && !of_pair[pair]->Contains(0);
}

long double MeasuredFrequencies::Coarseness() const {
  return 0x1p-8L * (1 + std::abs(std::log(is_configured ? right.setting.base : 1)));
}

LongRange MeasuredFrequencies::RatioOf(size_t pair) const {
  return Quotient(*of_pair[pair], right_list.of[pair]);
}

std::string MeasuredFrequencies::MeasurableText() const {
  size_t count = 0;
  for (size_t k = 0; k < of_pair.size(); ++k) count += IsMeasurable(k);
  const size_t all = of_pair.size() - explained;
  if (count == all) return "";
  return Phrase(" (", count, " of ", all, " pairs are measurable at these positions)");
}

std::string MeasuredFrequencies::ShiftedText(const LongRange& ratio) const {
  const auto R = static_cast<double>(right.setting.R);
  const bool is_plain = std::holds_alternative<NoScaling>(right.scaling);
  if (!is_configured || !is_plain || IsPlain(SimplestRatioIn(ratio))) return "";
  for (const int shift : {-1, 1, -2, 2, -3, 3, -4, 4}) {
    const double by = std::pow(right.setting.base, -2 * shift / R);
    const double rest = SimplestRatioIn(Quotient(ratio, by));
    if (rest == 1 || !(HasFewDigits(rest, 2) || HasFewDigits(1 / rest, 2))) continue;
    return Phrase(", as by the exponents (2k ", shift < 0 ? "- " : "+ ", 2 * std::abs(shift), ")/",
                  R, " and a factor of ", rest);
  }
  return "";
}

bool MeasuredFrequencies::MayBeExponent(int64_t shift, int64_t n) const {
  const int64_t R = right.setting.R;
  if (!std::holds_alternative<NoScaling>(right.scaling))
    return n == R || 2 * n == R || n == 2 * R || std::abs(n - R) <= 2;
  for (size_t k = 0; k < of_pair.size(); ++k) {
    if (!of_pair[k]) continue;
    const auto exponent = static_cast<double>(2 * static_cast<int64_t>(k) + shift);
    const double f = std::pow(right.setting.base, -exponent / static_cast<double>(n));
    if (f > most) continue;
    const double error = f * (0x1p-20 + static_cast<double>(right_list.relative[k]));
    if (!of_pair[k]->Meets({f - error, f + error})) return false;
  }
  return true;
}

}  // namespace sextant::oracle
