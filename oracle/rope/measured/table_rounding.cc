#include "oracle/rope/measured/table_rounding.h"

#include <numbers>

#include "oracle/rope/measured/numbers.h"

namespace sextant::oracle {
namespace {

using All = std::vector<NamedRounding>;

void AddTableFormats(All& all) {
  for (const DType format : {DType::kBF16, DType::kF16}) {
    const std::string in(NameOf(format)), rounded = " rounded to " + in;
    all.push_back({"angles_in_" + in, "angles are" + rounded, {.angle = format}});
    all.push_back({"frequencies_and_angles_in_" + in,
                   "frequencies and their products with the positions are" + rounded,
                   {.frequency = format, .angle = format}});
    all.push_back({"positions_and_angles_in_" + in,
                   "positions and their products with the frequencies are" + rounded,
                   {.position = format, .angle = format}});
    all.push_back({"phases_in_" + in,
                   "positions, frequencies and their products are" + rounded,
                   {.position = format, .frequency = format, .angle = format}});
    all.push_back({"positions_and_frequencies_in_" + in,
                   "positions and frequencies are" + rounded + ", their products are not",
                   {.position = format, .frequency = format}});
    all.push_back({"cosines_in_" + in, "cos alone is" + rounded, {.cosine = format}});
    all.push_back({"sines_in_" + in, "sin alone is" + rounded, {.sine = format}});
  }
}

// 2 pi with few digits.
void AddTurns(All& all) {
  const std::pair<double, const char*> turns[] = {
      {6.28, "6.28"},
      {6.283, "6.283"},
      {6.2832, "6.2832 = 2 * 3.1416"},
      {6.28318, "6.28318 = 2 * 3.14159"},
      {6.28319, "6.28319"},
      {6.283185, "6.283185"},
      {6.2831853, "6.2831853"},
      {2 * 3.141593, "6.283186 = 2 * 3.141593"},
      {RoundTo(DType::kF16, 2 * std::numbers::pi), "6.28125, 2 pi in f16 or bf16"},
      {RoundTo(DType::kF32, 2 * std::numbers::pi), "6.2831855, 2 pi in f32"}};
  for (const auto& [turn, text] : turns) {
    for (const bool to_nearest : {false, true}) {
      all.push_back({"turn_inexact",
                     "angles are reduced by turns of " + std::string(text) +
                         (to_nearest ? ", to the nearest one" : ""),
                     {.turn = turn, .to_nearest = to_nearest}});
    }
  }
}

// Tables of sines over a turn.
void AddGrids(All& all) {
  for (int entries = 256; entries <= 65536; entries *= 2) {
    for (const bool to_nearest : {true, false}) {
      all.push_back({"sine_table",
                     Phrase("cos and sin are read from a table of ", entries, " angles in a turn: ",
                            to_nearest ? "the nearest one" : "the one below"),
                     {.grid = 2 * std::numbers::pi / entries, .to_nearest = to_nearest}});
    }
  }
}

}  // namespace

std::vector<NamedRounding> UsualTableRoundings() {
  All all;
  AddTableFormats(all);
  AddTurns(all);
  AddGrids(all);
  return all;
}

}  // namespace sextant::oracle
