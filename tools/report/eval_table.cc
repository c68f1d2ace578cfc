#include "tools/report/eval_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "reference/prove/prove.h"
#include "tools/report/short_number.h"

namespace sextant::tools {
namespace {

constexpr size_t kMostNumbers = 8;  // numbers shown of a tensor
constexpr size_t kMostRows = 32;    // elements shown of an output

// The shortest digits that read back as x in the dtype; in f32 for dtypes of 16 bits.
std::string Digits(DType dtype, double x) {
  if (std::isnan(x)) return "nan";
  std::array<char, 64> text{};
  const bool wide = dtype == DType::kF64 || dtype == DType::kI64;
  const auto end = wide ? std::to_chars(text.begin(), text.end(), x)
                        : std::to_chars(text.begin(), text.end(), static_cast<float>(x));
  return {text.begin(), end.ptr};
}

using Row = std::array<std::string, 4>;

std::string Permitted(const GoldenTensor& g, size_t i) {
  if (IsUnspecified(g, i)) return "unspecified";
  std::string text = ShortNumber(g.permitted.data[i]);
  if (g.radius.data[i] != 0) text += ", enclosed within " + ShortNumber(g.radius.data[i]);
  return text;
}

void PrintRows(const std::vector<Row>& rows, std::ostream& out) {
  std::array<size_t, 4> widths{};
  for (const Row& row : rows) {
    for (size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  }
  for (const Row& row : rows) {
    for (size_t k = 0; k + 1 < row.size(); ++k)
      out << row[k] << std::string(widths[k] + 2 - row[k].size(), ' ');
    out << row.back() << "\n";
  }
}

}  // namespace

void PrintTensor(const NamedTensor& tensor, std::ostream& out) {
  const std::vector<double>& values = tensor.values.data;
  out << tensor.name << " " << NameOf(tensor.dtype) << ToString(tensor.values.shape) << ":";
  for (size_t i = 0; i < std::min(values.size(), kMostNumbers); ++i)
    out << " " << Digits(tensor.dtype, values[i]);
  if (values.size() > kMostNumbers) out << " ... (" << values.size() - kMostNumbers << " more)";
  out << "\n";
}

void PrintTable(const Case& c, const Tensors& inputs, const std::vector<GoldenTensor>& golden,
                std::ostream& out) {
  out << c.ToString() << "\n";
  for (const NamedTensor& input : inputs) PrintTensor(input, out);
  std::vector<Row> rows = {{"output", "value", "exact", "permitted error"}};
  size_t hidden = 0;
  for (const GoldenTensor& g : golden) {
    const size_t count = g.value.data.size(), shown = std::min(count, kMostRows);
    for (size_t i = 0; i < shown; ++i) {
      rows.push_back({IndexText(g.name, g.value.shape, i), Digits(g.dtype, g.value.data[i]),
                      Digits(DType::kF64, g.high.data[i]), Permitted(g, i)});
    }
    hidden += count - shown;
  }
  PrintRows(rows, out);
  if (hidden > 0) out << "... and " << hidden << " more elements; --json prints all\n";
}

}  // namespace sextant::tools
