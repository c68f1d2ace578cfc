// Groups of the elements of an output, by which errors are profiled:
//   position    the value of the first input of integers whose axes are axes of the output
//   pair        the rotated pair of channels
//   head        the axis H
//   row         the index over all axes but the last
//   key_length  the number of keys that the query sees (operations with a mask)
//   argument    floor(log2 |x|) of the first input of real numbers with the axes of the output
//   any other   the axis of that name (oracle/judge/axes.h)
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/axes.h"

namespace sextant::oracle {

struct Grouping {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  std::string axis;             // the name of what the keys are: "position", "log2 |x|"
  std::vector<double> keys{};   // ascending
  std::vector<size_t> group{};  // of each element: an index of keys, or kNone
};

// Throws Error with the names that exist if there are no such groups.
Grouping GroupsOf(const OutputOf& of, const std::string& by);

// True if the output has such groups.
bool HasGroups(const OutputOf& of, const std::string& by);

// The first of these that the output has: position, key_length, argument, row.
std::string UsualGroups(const OutputOf& of);

}  // namespace sextant::oracle
