// Gate and up side by side, as halves of a weight or of a row, that are read in another layout.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sextant::oracle {

struct FusedOrder {
  std::string name, sentence;
  std::function<size_t(size_t i)> from;  // of 2 F: the place whose numbers place i has
};
// Halves of F numbers read as blocks of both by turns, or the other way round. The blocks divide a
// half: powers of two, a half and a quarter of it.
std::vector<FusedOrder> FusedBlocksOf(size_t F);

}  // namespace sextant::oracle
