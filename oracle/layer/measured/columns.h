// Sums of products in which some columns are lost or counted twice.
#pragma once

#include <string>
#include <vector>

#include "oracle/layer/measured/constant.h"

namespace sextant::oracle {

// The columns first, first + step ... below end, whose products are counted `times` times.
struct Columns {
  size_t first = 0, end = 0, step = 1;
  double times = 1;

  double TimesOf(size_t m) const {
    return m < first || m >= end || (m - first) % step != 0 ? 1 : times;
  }
};

// One element of an answer, base + the sum of M products.
struct Products {
  Sample sample;
  double base = 0;
  std::vector<double> first;  // [M + 1], the sums of the first m products

  // What the answer has in addition to all products.
  double Rest() const { return sample.y - base - first.back(); }
};

// Whether all elements are as the columns say.
bool Agree(const std::vector<Products>& all, const Columns& columns);

// The columns for which Agree holds: contiguous ones, but not all, and every n-th. At least one
// element is needed. Changes the order of the elements.
std::vector<Columns> FitColumns(std::vector<Products>& all);

// To say which columns, of M: those of BitsOfEvidence.
double BitsOfColumns(size_t M);
// `what` they are: "columns".
void Describe(const Columns& columns, size_t M, const std::string& what, Deviations& found);

}  // namespace sextant::oracle
