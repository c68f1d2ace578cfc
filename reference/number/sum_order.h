// The order in which this thread's Rounded numbers are added up where the recipe permits any order.
// Implementations differ in it, and the errors of their sums do: in a sum of terms of one sign,
// each addition errs by what is left of its term below the last place of the sum so far.
#pragma once

#include <cstddef>

namespace sextant {

struct SumOrder {
  enum class Kind {
    kForwards,
    kBackwards,
    kLargestFirst,  // by magnitude: the sum outgrows the other terms as soon as it can
    kHalves,        // the sum of one half plus the sum of the other
    kLanes,         // term i into partial sum i % size; the partial sums forwards
    kBlocks         // the sums of `size` terms each forwards; these sums forwards
  };
  Kind kind = Kind::kForwards;
  size_t size = 1;  // of kLanes and kBlocks
};

}  // namespace sextant
