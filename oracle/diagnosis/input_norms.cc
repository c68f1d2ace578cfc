#include "oracle/diagnosis/input_norms.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace sextant::oracle {
namespace {

using Row = std::span<double>;

double SquaresOf(Row row) {
  double sum = 0;
  for (const double x : row) sum += x * x;
  return sum;
}
double WidthOf(Row row) { return static_cast<double>(row.size()); }

void Divide(Row row, double divisor) {
  if (divisor == 0) return;
  for (double& x : row) x /= divisor;
}
void Center(Row row) {
  double sum = 0;
  for (const double x : row) sum += x;
  for (double& x : row) x -= sum / WidthOf(row);
}
double LargestOf(Row row) {
  double largest = 0;
  for (const double x : row) largest = std::max(largest, std::abs(x));
  return largest;
}

void ByRoot(Row row) { Divide(row, std::sqrt(SquaresOf(row) / WidthOf(row))); }
void ByLength(Row row) { Divide(row, std::sqrt(SquaresOf(row))); }
void ToLengthOne(Row row) { Divide(row, std::max(1.0, std::sqrt(SquaresOf(row)))); }
void ByDeviation(Row row) {
  Center(row);
  ByRoot(row);
}
void ByLargest(Row row) { Divide(row, LargestOf(row)); }
void ToShares(Row row) {
  const double largest = std::ranges::max(row);
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x - largest);
  Divide(row, sum);
}

InputChange RowByRow(const char* text, size_t index, void (*norm)(Row row)) {
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
  return {
      RowByRow("has rows divided by their root mean square", index, ByRoot),
      RowByRow("has rows divided by their length, the root of the sum of squares", index, ByLength),
      RowByRow("has rows divided by their length where it is more than 1", index, ToLengthOne),
      RowByRow("has rows less their means", index, Center),
      RowByRow("has rows less their means, divided by their standard deviation", index,
               ByDeviation),
      RowByRow("has rows divided by their largest magnitude", index, ByLargest),
      RowByRow("has the softmax of its rows", index, ToShares)};
}

}  // namespace sextant::oracle
