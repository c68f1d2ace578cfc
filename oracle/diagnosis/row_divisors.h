// Numbers of a row by which implementations divide it.
#pragma once

#include <array>
#include <span>

namespace sextant::oracle {

struct RowDivisor {
  const char* text;  // "root mean square": its or their
  double (*of)(std::span<const double> row);
};
extern const std::array<RowDivisor, 5> kRowDivisors;

double RootMeanSquareOf(std::span<const double> row);

}  // namespace sextant::oracle
