// The share of the work that one of several processes takes: --shard I/N.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reference/case/case.h"

namespace sextant::tools {

struct Shard {
  size_t index = 0, count = 1;  // 0 .. count - 1
  bool IsAll() const { return count == 1; }
  std::string Text() const;  // "3/8", from 1
};

// The shard of "I/N"; all work if the text is empty. Throws Error unless 1 <= I <= N.
Shard ShardOf(const std::string& text);

// What the surroundings of the process offer (a Slurm array, an indexed job of Kubernetes,
// SEXTANT_SHARD_INDEX and _COUNT); empty: nothing. Nothing is taken without --shard.
std::string OfferedShard();

// About how long judging a case takes, relative to others.
double CostOfCase(const Case& c);

// The shard of each piece of work, by its predicted cost: the largest first, each to the shard with
// the least work so far. It depends on nothing but the costs and the number of shards.
std::vector<size_t> DealtTo(const std::vector<double>& costs, size_t shards);

}  // namespace sextant::tools
