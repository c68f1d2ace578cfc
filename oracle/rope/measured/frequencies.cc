#include "oracle/rope/measured/frequencies.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {

bool MeasuredFrequencies::Agrees(const FrequencyList& list) const {
  for (size_t k = 0; k < possible.size(); ++k) {
    const long double f = list.of[k], error = list.relative[k] * std::abs(f);
    const bool fits = std::ranges::any_of(possible[k], [&](const Range& range) {
      return !Common(range, {f - error, f + error}).IsEmpty();
    });
    if (!fits && !possible[k].empty() && std::abs(f) <= most) return false;
  }
  return true;
}

bool MeasuredFrequencies::IsMeasurable(size_t pair) const {
  return of_pair[pair] && !of_pair[pair]->Holds(0);
}

Range MeasuredFrequencies::RatioOf(size_t pair) const {
  const long double f = right_list.of[pair];
  const Range ratio{of_pair[pair]->low / f, of_pair[pair]->high / f};
  return f > 0 ? ratio : Range{ratio.high, ratio.low};
}

std::string MeasuredFrequencies::MeasurableText() const {
  size_t count = 0;
  for (size_t k = 0; k < of_pair.size(); ++k) count += IsMeasurable(k);
  if (count == of_pair.size()) return "";
  return Phrase(" (", count, " of ", of_pair.size(), " pairs are measurable at these positions)");
}

}  // namespace sextant::oracle
