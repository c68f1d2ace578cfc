// Orders of pairs that kernels confuse: pair k takes what belongs to another pair (its frequency,
// its growth, its row of a table).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sextant::oracle {

struct PairOrder {
  std::string name;            // "of_next_pair"
  std::string who = "pair k";  // the pairs that are wrong
  std::string of;              // "pair k + 1": whose numbers they take
  std::vector<size_t> from;    // [pairs]
  bool is_plural = false;      // of `who`
};

// All orders of so many pairs but the right one, the most usual first.
// `noun`: "head" for the slopes of heads, and so on.
std::vector<PairOrder> PairOrders(size_t pairs, const std::string& noun = "pair");

}  // namespace sextant::oracle
