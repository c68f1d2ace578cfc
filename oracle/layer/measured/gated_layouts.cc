#include "oracle/layer/measured/gated_layouts.h"

#include <cmath>
#include <utility>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/layer/measured/fused_halves.h"
#include "oracle/layer/tensor_places.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostOrdered = size_t{1} << 16;  // columns, or rows, whose orders are looked at

class Layouts {
 public:
  explicit Layouts(const Tensors& inputs)
      : inputs_(inputs),
        F_(RowWidth(inputs[kGate].values.shape)),
        count_(inputs[kGate].values.data.size()) {}

  std::vector<GateLayout> All() && {
    AddRoles();
    AddRows({"halves_read_as_pairs",
             "gate and up, side by side in a row, are read as even and odd channels"},
            [F = F_](size_t i) { return i % F * 2 + i / F; });
    AddRows({"pairs_read_as_halves",
             "gate and up, even and odd channels of a row, are read as its halves"},
            [F = F_](size_t i) { return i % 2 * F + i / 2; });
    AddOrders("columns", "_", F_, 1);
    for (const auto& [name, sentence, from] : FusedBlocksOf(F_)) AddRows({name, sentence}, from);
    AddOffsets();
    AddAbsolute();
    AddOrders("rows", "_of_rows_", count_ / F_, F_);
    return std::move(layouts_);
  }

 private:
  const std::vector<double>& Of(size_t half) const { return inputs_[half].values.data; }

  void AddRoles() {
    const auto add = [&](std::string name, std::string sentence, size_t gate, size_t up) {
      layouts_.push_back({std::move(name), std::move(sentence),
                          [&gate = Of(gate), &up = Of(up)](size_t role, size_t i) {
                            return role == kGate ? gate[i] : up[i];
                          }});
    };
    add("", "", kGate, kUp);
    add("gate_exchanged_with_up", "up is activated instead of gate", kUp, kGate);
    add("gate_in_place_of_up", "the activated gate is multiplied by gate instead of up", kGate,
        kGate);
    add("up_in_place_of_gate", "up is activated and multiplied by up", kUp, kUp);
  }

  // Gate and up lie side by side in rows of 2 F. Element i of row n is that at memory(n, i).
  template <class Memory>
  void AddMemory(GateLayout layout, const Memory& memory) {
    layout.number = [memory, F = F_, count = count_, &gate = Of(kGate), &up = Of(kUp)](size_t role,
                                                                                       size_t i) {
      const size_t place = memory(i / F, role * F + i % F) % (2 * count);
      return (place % (2 * F) < F ? gate : up)[place / (2 * F) * F + place % F];
    };
    layouts_.push_back(std::move(layout));
  }

  // Element i of a row of gate and up side by side is that at place(i) of it.
  template <class Place>
  void AddRows(GateLayout layout, const Place& place) {
    AddMemory(std::move(layout),
              [place, F = F_](size_t n, size_t i) { return n * 2 * F + place(i); });
  }

  // The columns or the rows of one of both are in another order: those of an axis of `extent`.
  void AddOrders(const std::string& noun, const std::string& prefix, size_t extent, size_t inner) {
    if (extent > kMostOrdered) return;
    for (const AxisOrder& order : OrdersOf(extent)) {
      for (const size_t half : {kGate, kUp}) {
        const std::string& name = inputs_[half].name;
        layouts_.push_back(
            {name + prefix + order.name,
             "the " + noun + " of " + name + " are in another order: " + order.text,
             [=, from = order.from, &gate = Of(kGate), &up = Of(kUp)](size_t role, size_t i) {
               const size_t index = i / inner % extent;
               return (role == kGate ? gate
                                     : up)[role == half ? i + (from(index) - index) * inner : i];
             }});
      }
    }
  }

  // Gate and up side by side, read from other places of the row, or of the memory.
  void AddOffsets() {
    for (size_t by = 1; by < F_ && by <= 32; by *= 2) {
      for (const bool is_early : {true, false}) {
        AddMemory({"up_of_other_columns", "gate and up are halves of a row, and up is read from " +
                                              std::to_string(by) + " columns too " +
                                              (is_early ? "early" : "late") + " on"},
                  [by, is_early, F = F_](size_t n, size_t i) {
                    return n * 2 * F + (i < F ? i : is_early ? i - by : i + by);
                  });
      }
    }
    AddMemory({"rows_of_one_half",
               "gate and up are halves of a row, and rows are read as if they began every F "
               "elements, expected every 2 F"},
              [F = F_](size_t n, size_t i) { return n * F + i; });
  }

  void AddAbsolute() {
    for (const size_t half : {kGate, kUp}) {
      const std::string& name = inputs_[half].name;
      layouts_.push_back({name + "_absolute", name + " has lost its signs: |" + name + "|",
                          [half, &gate = Of(kGate), &up = Of(kUp)](size_t role, size_t i) {
                            const double x = (role == kGate ? gate : up)[i];
                            return role == half ? std::abs(x) : x;
                          }});
    }
  }

  const Tensors& inputs_;
  const size_t F_, count_;
  std::vector<GateLayout> layouts_;
};

}  // namespace

Tensors GateLayout::Rearranged(const Tensors& inputs) const {
  Tensors other = inputs;
  for (const size_t role : {kGate, kUp}) {
    std::vector<double>& numbers = other[role].values.data;
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = number(role, i);
  }
  return other;
}

std::vector<GateLayout> LayoutsOf(const Tensors& inputs) { return Layouts(inputs).All(); }

}  // namespace sextant::oracle
