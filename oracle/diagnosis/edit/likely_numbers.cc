#include "oracle/diagnosis/edit/likely_numbers.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <utility>

#include "oracle/diagnosis/measured_number.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

std::vector<NamedValue> Named(std::initializer_list<NamedValue> named,
                              const std::vector<double>& plain) {
  std::vector<NamedValue> values = named;
  for (const double number : plain)
    if (std::ranges::find(values, number, &NamedValue::value) == values.end())
      values.push_back({number, PrintValue(number)});
  return values;
}

}  // namespace

std::vector<NamedValue> Listed(const std::vector<double>& numbers) { return Named({}, numbers); }

std::vector<NamedValue> NumbersBeside(double right) {
  const std::string text = PrintValue(right);
  std::vector<double> plain = {0, 1, right - 1, right + 1, 2 * right, 0.5, 0.25, 2};
  const bool is_count = right == std::floor(right) && right > 1;
  for (double near = 2; is_count && near <= 16 && near < right; ++near)
    plain.insert(plain.end(), {right - near, right + near});
  for (double whole = 4; is_count && whole <= 8192; whole *= 2)
    plain.insert(plain.end(), {whole, 1.5 * whole});
  for (int power = -12; power <= -1; ++power) plain.push_back(1 / std::pow(10, -power));
  std::vector<NamedValue> values = Named({{right / 2, text + " / 2"},
                                          {right * right, text + "^2"},
                                          {0x1p-7, "2^-7, the machine epsilon of bf16"},
                                          {0x1p-10, "2^-10, the machine epsilon of f16"},
                                          {0x1p-23, "2^-23, the machine epsilon of f32"},
                                          {0x1p-52, "2^-52, the machine epsilon of f64"}},
                                         plain);
  if (right > 0) values.push_back({std::sqrt(right), "sqrt(" + text + ")"});
  for (const double width : {4, 8, 16, 32, 64, 128}) {
    const double whole = std::ceil(right / width) * width;
    if (is_count) values.push_back({whole, PrintValue(whole) + ", the width of whole vectors"});
  }
  std::erase_if(values, [&](const NamedValue& value) { return value.value == right; });
  return values;
}

std::vector<NamedValue> RoundingsOf(double right) {
  std::vector<NamedValue> values;
  for (const DType format : {DType::kF32, DType::kF16, DType::kBF16}) {
    const double rounded = RoundTo(format, right);
    if (rounded != right)
      values.push_back({rounded, PrintValue(right) + " rounded to " + std::string(NameOf(format)) +
                                     ", " + PrintValue(rounded)});
  }
  return values;
}

std::vector<NamedValue> Factors() {
  std::vector<NamedValue> values = Named({{-1, "-1"},
                                          {2, "2"},
                                          {0.5, "0.5"},
                                          {std::numbers::ln2, "0.6931472 = ln(2)"},
                                          {std::numbers::log2e, "1.442695 = log2(e)"},
                                          {std::numbers::ln10, "2.302585 = ln(10)"},
                                          {std::numbers::sqrt2, "sqrt(2)"},
                                          {1 / std::numbers::sqrt2, "1/sqrt(2)"}},
                                         {4});
  for (const double D : {16, 32, 64, 80, 96, 128, 256})
    values.push_back(
        {1 / std::sqrt(D), ShortText(1 / std::sqrt(D)) + " = 1/sqrt(" + PrintValue(D) + ")"});
  return values;
}

std::vector<NamedValue> Summands() {
  std::vector<double> plain = {1, 2, 0.5, 0.25};
  for (int power = -16; power <= 0; ++power)
    for (const double digit : {1, 3}) plain.push_back(digit / std::pow(10, -power));
  return Named({{std::numbers::ln2, "0.6931472 = ln(2)"},
                {0x1p-7, "2^-7"},
                {0x1p-10, "2^-10"},
                {0x1p-23, "2^-23"},
                {0x1p-52, "2^-52"}},
               plain);
}

std::vector<NamedValue> Limits() {
  return Named({{448, "448"}, {57344, "57344"}, {65504, "65504"}},
               {1,  2,  3,  4,  5,  6,  8,  10,  15,  16,  20,  25,  30,  32,  40,  50,
                60, 64, 80, 87, 88, 90, 96, 100, 127, 128, 200, 240, 256, 500, 1e3, 1e4});
}

std::vector<NamedValue> FlushedBelow() {
  return Named(
      {{0x1p-14, "2^-14: they underflow in f16"},
       {0x1p-24, "2^-24: they underflow in f16"},
       {0x1p-126, "2^-126: they underflow in f32"}},
      {1e-38, 1e-30, 1e-20, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1});
}

std::vector<NamedValue> Lengths(size_t extent) {
  std::vector<double> plain;
  for (size_t lost = 1; lost < extent && lost <= 64; ++lost)
    plain.push_back(static_cast<double>(extent - lost));
  for (size_t unit = 1; unit < extent; unit *= 2)
    for (const size_t length : {unit, 3 * unit, extent / unit, extent / unit * 3 / 4})
      if (0 < length && length < extent) plain.push_back(static_cast<double>(length));
  return Listed(plain);
}

std::vector<NamedValue> Tiles(size_t extent) {
  std::vector<double> plain;
  for (size_t tile = 2; tile < extent && tile <= 4096; tile *= 2)
    plain.push_back(static_cast<double>(tile));
  for (size_t parts = 2; parts <= 64; ++parts)
    if (extent % parts == 0 && extent / parts > 1)
      plain.push_back(static_cast<double>(extent / parts));
  for (const size_t tile : {3, 5, 6, 7})
    if (tile < extent) plain.push_back(static_cast<double>(tile));
  return Listed(plain);
}

std::vector<NamedValue> Paddings(size_t extent) {
  std::vector<double> plain;
  for (size_t tile = 4; tile <= 1024; tile *= 2)
    if (extent % tile != 0) plain.push_back(static_cast<double>(tile - extent % tile));
  for (double few = 1; few <= 8; ++few) plain.push_back(few);
  return Listed(plain);
}

}  // namespace sextant::oracle
