#include "oracle/diagnosis/answer/undone.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/answer/order.h"

namespace sextant::oracle {
namespace {

struct Order {
  std::string sentence;
  // The place of each element of the right order in the answer; none: nowhere.
  std::vector<std::optional<size_t>> place;
};

// The number of index i is at index of(i).
using IndexMap = std::function<std::optional<size_t>(size_t)>;

Order AlongAxis(const AnsweredTensor& tensor, const AxisView& axis, const std::string& form,
                const IndexMap& of) {
  Order order{tensor.name + " has the numbers of " + form, {}};
  for (size_t flat = 0; flat < tensor.got.size(); ++flat) {
    const size_t index = axis.IndexOf(flat);
    const auto at = of(index);
    order.place.push_back(at ? std::optional(flat + (*at - index) * axis.inner) : std::nullopt);
  }
  return order;
}

// True if the answer has the same numbers at every index of the axis.
bool IsConstantAlong(const AnsweredTensor& tensor, const AxisView& axis) {
  for (size_t e = 0; e < axis.slab(); ++e) {
    for (size_t i = 1; i < axis.extent; ++i) {
      if (!SameNumber(tensor.got[axis.At(0, e)], tensor.got[axis.At(i, e)])) return false;
    }
  }
  return true;
}

void AddOrdersAlong(const AnsweredTensor& tensor, const AxisView& axis,
                    std::vector<Order>& orders) {
  const size_t n = axis.extent;
  const auto add = [&](const std::string& form, const IndexMap& of) {
    orders.push_back(AlongAxis(tensor, axis, form, of));
  };
  add(axis.name + " in reverse order", [n](size_t i) { return n - 1 - i; });
  add(axis.name + " - 1",
      [n](size_t i) { return i + 1 < n ? std::optional(i + 1) : std::nullopt; });
  add(axis.name + " + 1", [](size_t i) { return i > 0 ? std::optional(i - 1) : std::nullopt; });
  if (n % 2 != 0 || axis.inner > 1) return;
  add(axis.name + " with interleaved halves",
      [n](size_t i) { return i % (n / 2) * 2 + i / (n / 2); });
  add(axis.name + " with even numbers before odd ones",
      [n](size_t i) { return i % 2 * (n / 2) + i / 2; });
}

std::vector<Order> OrdersOf(const AnsweredTensor& tensor) {
  std::vector<Order> orders;
  for (const AxisView& axis : tensor.axes) {
    if (!IsConstantAlong(tensor, axis)) continue;
    return {AlongAxis(tensor, axis, axis.name + " 0 at all " + axis.name,
                      [](size_t i) { return i == 0 ? std::optional(i) : std::nullopt; })};
  }
  for (const AxisView& axis : tensor.axes) AddOrdersAlong(tensor, axis, orders);
  for (const auto& [a, b] : AxisPairsOf(tensor)) {
    Order& order = orders.emplace_back(Order{ExchangedText(tensor, a, b), {}});
    const ExchangedAxes exchanged(tensor.shape, a, b);
    for (size_t flat = 0; flat < tensor.got.size(); ++flat)
      order.place.emplace_back(exchanged.PlaceOf(flat));
  }
  return orders;
}

}  // namespace

std::vector<Undone> UndoneOrdersOf(const Observation& seen) {
  std::vector<Undone> all;
  if (!IsFirstAlone(seen)) return all;
  const auto tensor = AnsweredTensorOf(seen, 0);
  if (!tensor) return all;
  for (const Order& order : OrdersOf(*tensor)) {
    Undone undone{order.sentence, seen.answer, seen.permitted};
    for (size_t i = 0; i < order.place.size(); ++i) {
      if (order.place[i]) {
        undone.answer[0].values.data[i] = tensor->got[*order.place[i]];
      } else {
        undone.permitted[0].error.data[i] = kNaN;
      }
    }
    all.push_back(std::move(undone));
  }
  return all;
}

}  // namespace sextant::oracle
