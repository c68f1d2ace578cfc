#include "oracle/diagnosis/row_divisors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::oracle {
namespace {

using Row = std::span<const double>;

double LengthOf(Row row) {
  return std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
}
double LengthAboveOne(Row row) { return std::max(1.0, LengthOf(row)); }
double SumOf(Row row) { return std::accumulate(row.begin(), row.end(), 0.0); }
double LargestOf(Row row) {
  double largest = 0;
  for (const double x : row) largest = std::max(largest, std::abs(x));
  return largest;
}

}  // namespace

double RootMeanSquareOf(Row row) {
  return LengthOf(row) / std::sqrt(static_cast<double>(row.size()));
}

const std::array<RowDivisor, 5> kRowDivisors = {
    {{"root mean square", RootMeanSquareOf},
     {"length, the root of the sum of squares", LengthOf},
     {"length where that is more than 1", LengthAboveOne},
     {"sum", SumOf},
     {"largest magnitude", LargestOf}}};

}  // namespace sextant::oracle
