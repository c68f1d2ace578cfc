#include "oracle/layer/measured/weights.h"

#include <algorithm>
#include <utility>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/diagnosis/vocabulary/exchanged_axes.h"
#include "oracle/layer/measured/fused_halves.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

void Transpose(Tensors& inputs, const std::string& name) {
  Tensor<double>& weight = InputNamed(inputs, name);
  weight.data = ReadWithExchangedAxes(weight, 0, 1);
}

void Exchange(Tensors& inputs, const std::string& a, const std::string& b) {
  std::swap(InputNamed(inputs, a).data, InputNamed(inputs, b).data);
}

// The rows of gate and up, one after the other, are taken from the places(i) of the right ones.
template <class Place>
void Rearrange(Tensors& inputs, const Place& place) {
  const Tensor<double> gate = InputNamed(inputs, "gate"), up = InputNamed(inputs, "up");
  const size_t F = gate.shape[0], M = gate.shape[1];
  for (size_t i = 0; i < 2 * F; ++i) {
    const size_t from = place(i);
    const Tensor<double>& source = from < F ? gate : up;
    Tensor<double>& target = InputNamed(inputs, i < F ? "gate" : "up");
    for (size_t m = 0; m < M; ++m) target(i % F, m) = source(from % F, m);
  }
}

void ReorderRows(Tensor<double>& weight, const AxisOrder& order) {
  const size_t rows = weight.shape[0];
  weight.data = InOrder(weight.data, order.from, rows, weight.data.size() / rows);
}

// Biases that are exchanged, missing, or have another factor.
void AddBiases(const Tensors& inputs, std::vector<Change>& changes) {
  if (HasInput(inputs, "gate_bias") && HasInput(inputs, "up_bias")) {
    changes.push_back({"biases_swapped", "gate_bias and up_bias are swapped",
                       [](Tensors& all) { Exchange(all, "gate_bias", "up_bias"); }});
    changes.push_back(
        {"halves_exchanged", "gate and up are exchanged, with their biases", [](Tensors& all) {
           Exchange(all, "gate", "up");
           Exchange(all, "gate_bias", "up_bias");
         }});
  }
  for (const std::string name : {"gate_bias", "up_bias", "down_bias"}) {
    if (!HasInput(inputs, name)) continue;
    for (const double times : {0.0, 2.0, -1.0})
      changes.push_back({name + (times == 0   ? "_missing"
                                 : times == 2 ? "_added_twice"
                                              : "_subtracted"),
                         name + (times == 0   ? " is not added"
                                 : times == 2 ? " is added twice"
                                              : " is subtracted"),
                         [name, times](Tensors& all) {
                           for (double& b : InputNamed(all, name).data) b *= times;
                         }});
  }
}

}  // namespace

std::vector<Change> OrderChanges(const Tensors& inputs) {
  std::vector<Change> changes;
  for (const AxisOrder& order : OrdersOf(InputNamed(inputs, "gate").shape[0])) {
    changes.push_back({"hidden_" + order.name,
                       "the hidden columns are in another order: " + order.text,
                       [order](Tensors& all) {
                         Tensor<double>& down = InputNamed(all, "down");
                         down.data = InOrder(down.data, order.from, down.shape[1]);
                       }});
    for (const std::string name : {"gate", "up"})
      changes.push_back({name + "_" + order.name,
                         "the rows of " + name + " are in another order: " + order.text,
                         [order, name](Tensors& all) {
                           ReorderRows(InputNamed(all, name), order);
                           if (HasInput(all, name + "_bias"))
                             ReorderRows(InputNamed(all, name + "_bias"), order);
                         }});
  }
  return changes;
}

std::vector<Change> WeightChanges(const Tensors& inputs) {
  const size_t F = InputNamed(inputs, "gate").shape[0];
  std::vector<Change> changes = {
      {"gate_exchanged_with_up", "up is activated instead of gate",
       [](Tensors& all) { Exchange(all, "gate", "up"); }},
      {"gate_in_place_of_up", "the activated gate is multiplied by the gate projection",
       [](Tensors& all) { InputNamed(all, "up") = InputNamed(all, "gate"); }},
      {"up_in_place_of_gate", "the up projection is activated and multiplied by itself",
       [](Tensors& all) { InputNamed(all, "gate") = InputNamed(all, "up"); }},
      {"fused_rows_as_neighbours",
       "gate and up, one after the other in a fused weight, are read as even and odd rows",
       [F](Tensors& all) { Rearrange(all, [F](size_t i) { return i % F * 2 + i / F; }); }},
      {"neighbours_as_fused_rows", "gate and up, even and odd rows of a weight, are read as halves",
       [F](Tensors& all) { Rearrange(all, [F](size_t i) { return i % 2 * F + i / 2; }); }}};
  for (const std::string name : {"gate", "up", "down"})
    changes.push_back({name + "_transposed", "the weight " + name + " is read transposed",
                       [name](Tensors& all) { Transpose(all, name); }});
  if (InputNamed(inputs, "up").shape == InputNamed(inputs, "down").shape) {
    for (const std::string name : {"gate", "up"})
      changes.push_back({name + "_exchanged_with_down",
                         "the weights " + name + " and down are exchanged",
                         [name](Tensors& all) { Exchange(all, name, "down"); }});
  }
  for (const auto& [name, sentence, from] : FusedBlocksOf(F))
    changes.push_back({name, sentence, [from](Tensors& all) { Rearrange(all, from); }});
  AddBiases(inputs, changes);
  return changes;
}

}  // namespace sextant::oracle
