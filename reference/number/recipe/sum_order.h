// The order in which Rounded adds the terms of a sum, if the recipe permits any order. The order
// differs between implementations, and with it the errors of their sums: in a sum of terms of one
// sign each addition loses the part of the term below the last place of the sum so far.
#pragma once

#include <cstddef>

namespace sextant {

struct SumOrder {
  enum class Kind {
    kForwards,
    kBackwards,
    kLargestFirst,  // by magnitude: the sum outgrows the other terms as early as possible
    kHalves,        // the sum of one half plus the sum of the other
    kLanes,         // adds term i to partial sum i % size; then the partial sums forwards
    kBlocks         // adds each block of `size` terms forwards; then the sums forwards
  };
  Kind kind = Kind::kForwards;
  size_t size = 1;  // of kLanes and kBlocks
};

}  // namespace sextant
