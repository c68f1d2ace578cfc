// The range of a constant that one pair allows, and the range that most pairs share.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "oracle/layer/measured/constant.h"

namespace sextant::oracle {

// The numbers c with g(c) within y +- error, for a monotone g, and a few more: the ends are known
// to 2^-halvings of the domain.
template <class G>
Range Solutions(const G& g, const Range& domain, double y, double error, int halvings) {
  const double at_low = g(domain.low), at_high = g(domain.high);
  const double sign = at_high < at_low ? -1 : 1;
  // Where sign g(c) crosses the bound.
  const auto crossing = [&](double bound) {
    Range part = domain;
    for (int i = 0; i < halvings; ++i) {
      const double middle = part.Middle();
      (sign * g(middle) < bound ? part.low : part.high) = middle;
    }
    return part;
  };
  const double least = sign * y - error, most = sign * y + error;
  if (sign * at_low > most || sign * at_high < least) return {1, 0};
  return {sign * at_low >= least ? domain.low : crossing(least).low,
          sign * at_high <= most ? domain.high : crossing(most).high};
}

// Where in the range size(x) is lowest, of a function with few minima.
template <class Size>
double Lowest(const Size& size, const Range& range) {
  constexpr int kParts = 64, kHalvings = 60;
  double best = range.low, least = kInfinity, width = (range.high - range.low) / kParts;
  for (int i = 0; i <= kParts; ++i) {
    const double at = range.low + width * i;
    if (const double value = size(at); value < least) least = value, best = at;
  }
  for (int i = 0; i < kHalvings; ++i, width *= 0.6) {
    for (const double at : {best - width, best + width}) {
      if (!range.Contains(at)) continue;
      if (const double value = size(at); value < least) least = value, best = at;
    }
  }
  return best;
}

// The part that the most ranges share, and their number.
struct SharedRange {
  Range range{1, 0};
  int count = 0;
};
inline SharedRange MostShared(const std::vector<Range>& ranges) {
  std::vector<std::pair<double, int>> ends;
  for (const Range& range : ranges) {
    if (range.IsEmpty()) continue;
    ends.emplace_back(range.low, -1);  // begins before others end at the same number
    ends.emplace_back(range.high, 1);
  }
  std::ranges::sort(ends);
  SharedRange best;
  int open = 0;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    open -= ends[i].second;
    if (open > best.count) best = {{ends[i].first, ends[i + 1].first}, open};
  }
  return best;
}

}  // namespace sextant::oracle
