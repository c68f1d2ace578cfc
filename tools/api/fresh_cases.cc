#include "tools/api/fresh_cases.h"

#include <random>
#include <set>

#include "reference/base/splitmix64.h"

namespace sextant::tools {

uint64_t RandomSeed() { return std::random_device()(); }

FreshCases AddFreshCases(uint64_t seed, std::vector<Selected>& selected) {
  FreshCases fresh{seed};
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
    all.push_back({std::move(c), all.back().why});
  }
  selected = std::move(all);
  return fresh;
}

}  // namespace sextant::tools
