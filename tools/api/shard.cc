#include "tools/api/shard.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <queue>
#include <utility>

#include "reference/base/error.h"
#include "reference/prove/part.h"

namespace sextant::tools {
namespace {

std::optional<size_t> NumberIn(std::string_view text) {
  size_t number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || at != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<size_t> NumberOf(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? NumberIn(text) : std::nullopt;
}

}  // namespace

std::string Shard::Text() const { return std::to_string(index + 1) + "/" + std::to_string(count); }

Shard ShardOf(const std::string& text) {
  if (text.empty()) return {};
  const size_t slash = text.find('/');
  if (slash != text.npos) {
    const auto index = NumberIn(std::string_view(text).substr(0, slash));
    const auto count = NumberIn(std::string_view(text).substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count) return {*index - 1, *count};
  }
  throw Error("--shard '", text, "': expected I/N, from 1/N to N/N");
}

std::string OfferedShard() {
  struct Source {
    const char *index, *first, *count, *what;
  };
  constexpr Source kSources[] = {
      {"SEXTANT_SHARD_INDEX", nullptr, "SEXTANT_SHARD_COUNT", "SEXTANT_SHARD_INDEX is set"},
      {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT",
       "this is a task of a Slurm array"},
      {"JOB_COMPLETION_INDEX", nullptr, nullptr, "this is a pod of an indexed job"}};
  for (const auto& [index_name, first_name, count_name, what] : kSources) {
    const auto index = NumberOf(index_name);
    if (!index) continue;
    const size_t first = first_name ? NumberOf(first_name).value_or(0) : 0;
    const auto count = count_name ? NumberOf(count_name) : std::nullopt;
    return std::string(what) + ": --shard " + std::to_string(*index - std::min(first, *index) + 1) +
           "/" + (count ? std::to_string(*count) : "N") + " takes its share";
  }
  return "";
}

double CostOfCase(const Case& c) {
  constexpr double kCostOfAny = 0x1p14;  // as much as elements
  return kCostOfAny + PredictedCost(c);
}

std::vector<size_t> DealtTo(const std::vector<double>& costs, size_t shards) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return costs[i]; });
  using Load = std::pair<double, size_t>;  // of a shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (size_t shard = 0; shard < shards; ++shard) least.emplace(0.0, shard);
  std::vector<size_t> of(costs.size());
  for (const size_t i : order) {
    auto [load, shard] = least.top();
    least.pop();
    of[i] = shard;
    least.emplace(load + costs[i], shard);
  }
  return of;
}

}  // namespace sextant::tools
