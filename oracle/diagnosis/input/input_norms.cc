#include "oracle/diagnosis/input/input_norms.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "oracle/diagnosis/row_divisors.h"

namespace sextant::oracle {
namespace {

using Row = std::span<double>;

void Divide(Row row, double divisor) {
  if (divisor == 0) return;
  for (double& x : row) x /= divisor;
}
void Center(Row row) {
  double sum = 0;
  for (const double x : row) sum += x;
  for (double& x : row) x -= sum / static_cast<double>(row.size());
}
void ByDeviation(Row row) {
  Center(row);
  Divide(row, RootMeanSquareOf(row));
}
void ToShares(Row row) {
  const double largest = std::ranges::max(row);
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x - largest);
  Divide(row, sum);
}

InputChange RowByRow(const std::string& text, size_t index,
                     const std::function<void(Row row)>& norm) {
  return {text, [=](const Tensors& inputs) {
            const Tensor<double>& x = inputs[index].values;
            std::vector<double> y = x.data;
            const size_t width = RowWidth(x.shape);
            if (width < 2) return y;
            for (size_t first = 0; first < y.size(); first += width)
              norm(Row(y).subspan(first, width));
            return y;
          }};
}

}  // namespace

std::vector<InputChange> NormedRows(size_t index) {
  std::vector<InputChange> changes;
  for (const auto& [text, of] : kRowDivisors)
    changes.push_back(RowByRow("has rows divided by their " + std::string(text), index,
                               [of = of](Row row) { Divide(row, of(row)); }));
  changes.push_back(RowByRow("has rows less their means", index, Center));
  changes.push_back(RowByRow("has rows less their means, divided by their standard deviation",
                             index, ByDeviation));
  changes.push_back(RowByRow("has the softmax of its rows", index, ToShares));
  return changes;
}

}  // namespace sextant::oracle
