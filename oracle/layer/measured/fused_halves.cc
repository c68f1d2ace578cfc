#include "oracle/layer/measured/fused_halves.h"

#include <set>

namespace sextant::oracle {

std::vector<FusedOrder> FusedBlocksOf(size_t F) {
  std::set<size_t> sizes = {F / 2, F / 4};
  for (size_t size = 2; size < F; size *= 2) sizes.insert(size);
  std::vector<FusedOrder> orders;
  for (const size_t size : sizes) {
    if (size < 2 || F % size != 0) continue;
    const std::string blocks = "blocks of " + std::to_string(size) + " by turns";
    orders.push_back({"halves_read_as_blocks",
                      "gate and up, stored as halves, are read as " + blocks,
                      [=](size_t i) { return i % F / size * 2 * size + i / F * size + i % size; }});
    orders.push_back({"blocks_read_as_halves",
                      "gate and up, stored as " + blocks + ", are read as halves",
                      [=](size_t i) { return i / size % 2 * F + i / size / 2 * size + i % size; }});
  }
  return orders;
}

}  // namespace sextant::oracle
