#include "oracle/layer/measured/gated_layouts.h"

#include <cmath>
#include <functional>
#include <utility>

#include "oracle/layer/measured/column_order.h"

namespace sextant::oracle {
namespace {

constexpr size_t kGate = 0, kUp = 1;
constexpr size_t kManyElements = 16384;  // of which few layouts are tried: each has its own inputs

// Element i of a row of gate and up side by side is the half and the column `place(i, F)` of it.
template <class Place>
Tensors Rearranged(const Tensors& inputs, const Place& place) {
  Tensors other = inputs;
  const size_t F = RowWidth(inputs[kGate].values.shape);
  for (size_t i = 0; i < inputs[kGate].values.data.size(); ++i) {
    for (const size_t half : {kGate, kUp}) {
      const size_t from = place(half * F + i % F, F);
      other[half].values.data[i] = inputs[from / F].values.data[i / F * F + from % F];
    }
  }
  return other;
}

Tensors Reordered(const Tensors& inputs, size_t half, const ColumnOrder& order) {
  Tensors other = inputs;
  const size_t F = RowWidth(inputs[half].values.shape);
  for (size_t i = 0; i < other[half].values.data.size(); ++i)
    other[half].values.data[i] = inputs[half].values.data[i / F * F + order.of(i % F)];
  return other;
}

// Rows of gate and up side by side are read as blocks of both by turns.
void AddBlocks(const Tensors& inputs, std::vector<GateLayout>& layouts) {
  const size_t F = RowWidth(inputs[kGate].values.shape);
  for (const size_t block : BlockSizesOf(F)) {
    layouts.push_back({"halves_read_as_blocks",
                       "gate and up, halves side by side in a row, are read as blocks of " +
                           std::to_string(block) + " by turns",
                       Rearranged(inputs, [block](size_t i, size_t F) {
                         return PlaceByTurns(i % F, i / F, block);
                       })});
    layouts.push_back(
        {"blocks_read_as_halves",
         "gate and up, blocks of " + std::to_string(block) +
             " by turns, are read as halves of a row",
         Rearranged(inputs, [block](size_t i, size_t F) { return PlaceInHalves(i, F, block); })});
  }
}

// Gate and up side by side, read from other places of the row, or of the memory.
void AddOffsets(const Tensors& inputs, std::vector<GateLayout>& layouts) {
  const size_t F = RowWidth(inputs[kGate].values.shape), count = inputs[kGate].values.data.size();
  const auto from_memory = [&](const std::function<size_t(size_t half, size_t n, size_t j)>& at) {
    Tensors other = inputs;
    for (size_t i = 0; i < count; ++i) {
      for (const size_t half : {kGate, kUp}) {
        const size_t place = at(half, i / F, i % F) % (2 * count);
        other[half].values.data[i] =
            inputs[place % (2 * F) / F].values.data[place / (2 * F) * F + place % F];
      }
    }
    return other;
  };
  for (size_t by = 1; by < F && by <= 32; by *= 2) {
    for (const bool is_early : {true, false}) {
      layouts.push_back({"up_of_other_columns",
                         "gate and up are halves of a row, and up is read from " +
                             std::to_string(by) + " columns too " + (is_early ? "early" : "late") +
                             " on",
                         from_memory([=](size_t half, size_t n, size_t j) {
                           return n * 2 * F + half * (is_early ? F - by : F + by) + j;
                         })});
    }
  }
  layouts.push_back(
      {"rows_of_one_half",
       "gate and up are halves of a row, and rows are read as if they began every F "
       "elements, expected every 2 F",
       from_memory([=](size_t half, size_t n, size_t j) { return (n + half) * F + j; })});
}

Tensors WithRowsOf(const Tensors& inputs, size_t half, const ColumnOrder& order) {
  Tensors other = inputs;
  const size_t F = RowWidth(inputs[half].values.shape);
  for (size_t i = 0; i < other[half].values.data.size(); ++i)
    other[half].values.data[i] = inputs[half].values.data[order.of(i / F) * F + i % F];
  return other;
}

// One of both has lost its signs, or is read from other rows.
void AddOfOneHalf(const Tensors& inputs, std::vector<GateLayout>& layouts) {
  const size_t rows = inputs[kGate].values.data.size() / RowWidth(inputs[kGate].values.shape);
  for (const size_t half : {kGate, kUp}) {
    const std::string& name = inputs[half].name;
    GateLayout absolute{name + "_absolute", name + " has lost its signs: |" + name + "|", inputs};
    for (double& x : absolute.inputs[half].values.data) x = std::abs(x);
    layouts.push_back(std::move(absolute));
    for (const ColumnOrder& order : ColumnOrdersOf(rows))
      layouts.push_back({name + "_of_rows_" + order.name,
                         "the rows of " + name + " are in another order: " + order.text,
                         WithRowsOf(inputs, half, order)});
  }
}

}  // namespace

std::vector<GateLayout> LayoutsOf(const Tensors& inputs) {
  const auto with = [&](size_t gate, size_t up) {
    Tensors other = inputs;
    other[kGate].values = inputs[gate].values;
    other[kUp].values = inputs[up].values;
    return other;
  };
  std::vector<GateLayout> layouts = {
      {"", "", inputs},
      {"gate_exchanged_with_up", "up is activated instead of gate", with(kUp, kGate)},
      {"gate_in_place_of_up", "the activated gate is multiplied by gate instead of up",
       with(kGate, kGate)},
      {"up_in_place_of_gate", "up is activated and multiplied by up", with(kUp, kUp)},
      {"halves_read_as_pairs",
       "gate and up, side by side in a row, are read as even and odd channels",
       Rearranged(inputs, [](size_t i, size_t F) { return i % F * 2 + i / F; })},
      {"pairs_read_as_halves",
       "gate and up, even and odd channels of a row, are read as its halves",
       Rearranged(inputs, [](size_t i, size_t F) { return i % 2 * F + i / 2; })}};
  if (inputs[kGate].values.data.size() > kManyElements) return layouts;
  for (const ColumnOrder& order : ColumnOrdersOf(RowWidth(inputs[kGate].values.shape))) {
    for (const size_t half : {kGate, kUp})
      layouts.push_back(
          {inputs[half].name + "_" + order.name,
           "the columns of " + inputs[half].name + " are in another order: " + order.text,
           Reordered(inputs, half, order)});
  }
  AddBlocks(inputs, layouts);
  AddOffsets(inputs, layouts);
  AddOfOneHalf(inputs, layouts);
  return layouts;
}

}  // namespace sextant::oracle
