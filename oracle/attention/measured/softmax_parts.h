// A softmax whose exponentials, sum, or result differ from the formula, each by itself.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "oracle/diagnosis/deviation.h"
#include "reference/attention/softmax.h"

namespace sextant::oracle {

enum class SoftmaxSum {
  kAll,    // of all columns
  kRange,  // of the columns first to last - 1
  kTiles,  // each tile of `width` columns has its own
  kLanes,  // columns with equal j mod `width` have their own
  kRows,   // each block of `width` rows has the sum of all its rows; 0: that of the first row
  kNone    // the exponentials are not divided
};
enum class SoftmaxResult { kQuotient, kLogarithm, kSquare };

struct SoftmaxParts {
  // The exponentials.
  double limit = kInfinity;  // exponents x - largest are at least -limit
  size_t tile = 0;           // relative to the largest x up to the end of their tile of columns
  double dropped = 0;        // exponentials below it are 0
  // Their sum.
  SoftmaxSum sum = SoftmaxSum::kAll;
  size_t first = 0, last = 0, width = 0;
  double added = 0;  // this number is added to it
  double zeros = 0;  // and so many terms e^0, of elements 0
  // The result.
  SoftmaxResult result = SoftmaxResult::kQuotient;
  size_t undivided_from = std::numeric_limits<size_t>::max();  // columns from it on
  std::shared_ptr<const NamedTensor> all_rows{};               // x of the whole case, for kRows

  // Columns of one group have the same sum.
  size_t GroupOf(size_t j) const {
    return sum == SoftmaxSum::kTiles ? j / width : sum == SoftmaxSum::kLanes ? j % width : 0;
  }
  bool IsSummed(size_t j) const { return sum != SoftmaxSum::kRange || (first <= j && j < last); }
};

struct SoftmaxByParts : Softmax {
  SoftmaxParts parts{};
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const;
};

// The parts of a model of the softmax, those of the formula for the operation itself; and the model
// with other parts.
SoftmaxParts PartsOf(const Hypothesis& model);
Hypothesis WithSoftmaxParts(const Hypothesis& model, SoftmaxParts parts);

}  // namespace sextant::oracle
