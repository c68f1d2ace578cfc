// The elements of a normed row in vectors: the same bits as NormedRow<Counted> for single elements.
#pragma once

#include <cstddef>

#include "reference/number/counted/counted_numbers.h"

namespace sextant {

// The members of NormedRow<Counted> for a row of `count` elements that are not special cases.
struct PlainNormedRow {
  size_t count;
  CountedNumbers x, weight;    // x and the weight, converted to the formats of scale and weigh
  const double *error, *size;  // of x before the conversion; its size is |x| with its drift
  const double* square_error;  // e_k of NormedRow
  const double* ordinary;      // 0 for a special case, of the weight for example
  CountedNumbers factor;       // one number: the reciprocal of the root
  bool bounded;
  double root, root_error, least_root, reciprocal_error, root_of_count;
  bool by_reciprocals;  // level 1: quotients may have other last bits
  double inverse_root, inverse_least_root;
  double largest, underflow;   // of step scale
  OrdinaryRange scale, weigh;  // the steps
  bool weigh_contains_scale;   // quotients need no rounding in step weigh
  CountedNumbers y;            // the results
  double* result_ordinary;     // 0 for a special case, whose result is wrong
};

void WeighPlainRow(const PlainNormedRow& row);

}  // namespace sextant
