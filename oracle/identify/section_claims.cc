#include "oracle/identify/section_claims.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "reference/rope/rope_sections.h"

namespace sextant::oracle {
namespace {

using PossiblePairs = std::vector<std::vector<PairOnAxis>>;

// The pairs on these axes; empty if one of them is not possible.
std::vector<PairOnAxis> OnAxes(const PossiblePairs& measured, const std::vector<size_t>& axes) {
  std::vector<PairOnAxis> pairs;
  for (size_t k = 0; k < measured.size(); ++k) {
    const auto at = std::ranges::find(measured[k], axes[k], &PairOnAxis::axis);
    if (at == measured[k].end()) return {};
    pairs.push_back(*at);
  }
  return pairs;
}

// The sum of the bends of ln frequency beyond those that the error bars explain: about 0 for the
// frequencies of known forms.
double RoughnessOf(const std::vector<PairOnAxis>& pairs) {
  double sum = 0;
  for (size_t k = 1; k + 1 < pairs.size(); ++k) {
    double bend = 0, bar = 0;
    for (const auto& [at, times] : {std::pair(k - 1, 1), {k, -2}, {k + 1, 1}}) {
      const MeasuredNumber& f = pairs[at].inv_freq;
      const double size = std::max({std::abs(f.value), f.bar, 0x1p-1022});
      bend += times * std::log(size);
      bar += std::abs(times) * f.bar / size;
    }
    sum += std::max(0.0, std::abs(bend) - bar);
  }
  return sum;
}

// How smooth the frequencies are, how many different numbers of pairs the axes have, and how uneven
// they are.
using Rank = std::tuple<double, size_t, int64_t>;
Rank RankOf(const std::vector<PairOnAxis>& pairs, const std::vector<int64_t>& sections) {
  int64_t squares = 0;
  for (const int64_t n : sections) squares += n * n;
  return {RoughnessOf(pairs), std::set(sections.begin(), sections.end()).size(), squares};
}

// How many pairs an axis may have: those that can be on no other, to all that can be on it.
struct CountOfPairs {
  int64_t least = 0, most = 0;
};
std::vector<CountOfPairs> CountsOfPairs(const PossiblePairs& measured, size_t axes) {
  std::vector<CountOfPairs> ranges(axes);
  for (const std::vector<PairOnAxis>& possible : measured) {
    for (const PairOnAxis& pair : possible) {
      ++ranges[pair.axis].most;
      if (possible.size() == 1) ++ranges[pair.axis].least;
    }
  }
  return ranges;
}

// Calls `use` with all lists of numbers in the ranges whose sum is `sum`, after those in `list`.
void ForEachComposition(int64_t sum, std::span<const CountOfPairs> ranges,
                        std::vector<int64_t>& list, const std::function<void()>& use) {
  if (ranges.empty()) {
    if (sum == 0) use();
    return;
  }
  int64_t most_of_others = 0;
  for (const CountOfPairs& other : ranges.subspan(1)) most_of_others += other.most;
  const auto [least, most] = ranges[0];
  for (int64_t n = std::max(least, sum - most_of_others); n <= std::min(sum, most); ++n) {
    list.push_back(n);
    ForEachComposition(sum - n, ranges.subspan(1), list, use);
    list.pop_back();
  }
}

bool AreValid(const std::vector<int64_t>& sections, SectionOrder order, int64_t pairs) {
  try {
    CheckSections(sections, order, pairs);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<Sectioned> SectionsOf(const Claim& asked, const PossiblePairs& measured, size_t axes) {
  if (measured.empty()) return {};
  if (!asked.contains("sections") || !asked.contains("order")) {
    std::vector<PairOnAxis> first;
    for (const auto& possible : measured) first.push_back(possible.front());
    return {{asked, first}};
  }
  constexpr size_t kMost = 20;
  std::multimap<Rank, Sectioned> all;
  const auto count = static_cast<int64_t>(measured.size());
  const std::vector<CountOfPairs> ranges = CountsOfPairs(measured, axes);
  for (const std::string_view name : NamesOf(SectionOrder{})) {
    SectionOrder order{};
    ParseValue(name, order);
    std::vector<int64_t> sections;
    ForEachComposition(count, ranges, sections, [&] {
      if (!AreValid(sections, order, count)) return;
      const auto pairs = OnAxes(measured, AxesOfPairs(sections, order, count));
      if (pairs.empty()) return;
      Claim claim = asked;
      claim["sections"] = PrintValue(sections);
      claim["order"] = name;
      all.emplace(RankOf(pairs, sections), Sectioned{std::move(claim), pairs});
      if (all.size() > kMost) all.erase(std::prev(all.end()));
    });
  }
  std::vector<Sectioned> first;
  for (auto& [rank, sectioned] : all) first.push_back(std::move(sectioned));
  return first;
}

}  // namespace sextant::oracle
