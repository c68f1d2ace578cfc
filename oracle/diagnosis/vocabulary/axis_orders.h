// Orders along an axis that implementations confuse: columns, channels, pairs, heads, rows or keys
// that stand where others belong.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sextant::oracle {

struct AxisOrder {
  std::string name;                      // "rolled"
  std::string text;                      // "rolled by 1 to the left", after "in another order: "
  std::function<size_t(size_t i)> from;  // index i has what belongs to index from(i)
  bool is_usual = false;                 // worth a try in any operation, together with others
};

// Each order of an input is a question of its own, so inputs have the fewest. Of few indices, as
// pairs and heads are, each is measured: they have all, with any number ("rolled by 11").
enum class OrdersFor { kInputs, kColumns, kFew };
// The orders of `extent` indices, the most usual first. They differ from the right one and from
// each other.
std::vector<AxisOrder> OrdersOf(size_t extent, OrdersFor indices = OrdersFor::kColumns);

// The elements [outer, extent, inner] of a tensor in another order along the axis of `extent`.
std::vector<double> InOrder(const std::vector<double>& x,
                            const std::function<size_t(size_t i)>& from, size_t extent,
                            size_t inner = 1);

}  // namespace sextant::oracle
