#include "tools/api/fresh_cases.h"

#include <random>
#include <set>

#include "reference/base/splitmix64.h"

namespace sextant::tools {

uint64_t RandomSeed() { return std::random_device()(); }

namespace {

FreshCases FreshCasesOf(uint64_t seed, std::vector<Selected>& selected, bool adversarial) {
  FreshCases fresh{.seed = seed, .adversarial = adversarial};
  std::set<std::string> lines;
  for (const Selected& s : selected) lines.insert(s.c.ToString());
  std::vector<Selected> all;
  for (Selected& s : selected) {
    all.push_back(std::move(s));
    const Case& committed = all.back().c;
    if (!DependsOnSeed(committed)) continue;
    const uint64_t own = Mix(Mix(seed) + committed.seed()) >> 32;
    Case c = committed.With("seed=" + std::to_string(own));
    const auto [line, is_new] = lines.insert(c.ToString());
    if (!is_new) continue;
    fresh.committed.emplace(*line, committed.ToString());
    Selected drawn{std::move(c), all.back().why};
    if (adversarial) all.pop_back();
    all.push_back(std::move(drawn));
  }
  selected = std::move(all);
  return fresh;
}

}  // namespace

FreshCases AddFreshCases(uint64_t seed, std::vector<Selected>& selected) {
  return FreshCasesOf(seed, selected, false);
}

FreshCases TakeFreshCases(uint64_t seed, std::vector<Selected>& selected) {
  return FreshCasesOf(seed, selected, true);
}

}  // namespace sextant::tools
