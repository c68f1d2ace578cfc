#include "oracle/diagnosis/answer/undone.h"

#include <optional>

#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/diagnosis/vocabulary/exchanged_axes.h"

namespace sextant::oracle {
namespace {

struct Order {
  std::string sentence;
  // The place of each element of the right order in the answer; none: nowhere.
  std::vector<std::optional<size_t>> place;
};

Order AlongAxis(const AnsweredTensor& tensor, const AxisView& axis, const AxisOrder& order) {
  std::vector<std::optional<size_t>> at(axis.extent);  // of the number of each index
  for (size_t i = 0; i < axis.extent; ++i)
    if (std::optional<size_t>& place = at[order.from(i)]; !place || order.from(i) != i) place = i;
  Order undone{
      tensor.name + " has the numbers of " + axis.name + " in another order (" + order.text + ")",
      {}};
  for (size_t flat = 0; flat < tensor.got.size(); ++flat) {
    const size_t index = axis.IndexOf(flat);
    undone.place.push_back(at[index] ? std::optional(flat + (*at[index] - index) * axis.inner)
                                     : std::nullopt);
  }
  return undone;
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

// The usual orders that lose at most one index; those of channels only in the last axis.
bool IsTried(const AxisOrder& order, bool is_last_axis) {
  if (order.name == "transposed") return order.is_usual && is_last_axis;
  return order.name == "reversed" || order.name == "of_next" || order.name == "of_one_before";
}

std::vector<Order> PossibleOrders(const AnsweredTensor& tensor) {
  std::vector<Order> orders;
  for (const AxisView& axis : tensor.axes) {
    const bool is_constant = IsConstantAlong(tensor, axis);
    if (is_constant) orders.clear();
    for (const AxisOrder& order : OrdersOf(axis.extent))
      if (is_constant ? order.name == "all_the_first" : IsTried(order, axis.inner == 1))
        orders.push_back(AlongAxis(tensor, axis, order));
    if (is_constant) return orders;
  }
  for (const auto& [a, b] : AxisPairsOf(tensor.shape)) {
    Order& order = orders.emplace_back(Order{ExchangedText(tensor.name, a, b), {}});
    const auto place_of = PlaceWithExchangedAxes(tensor.shape, a, b);
    for (size_t flat = 0; flat < tensor.got.size(); ++flat)
      order.place.emplace_back(place_of(flat));
  }
  return orders;
}

}  // namespace

std::vector<Undone> UndoneOrdersOf(const Observation& seen) {
  std::vector<Undone> all;
  if (!IsFirstAlone(seen)) return all;
  const auto tensor = AnsweredTensorOf(seen, 0);
  if (!tensor) return all;
  for (const Order& order : PossibleOrders(*tensor)) {
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
