// What the answer of a softmax says of the sums that its exponentials are divided by.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "oracle/diagnosis/measured_number.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// The sums of the rows by which the exponentials of a model give the answer: the median over the
// columns of e^(x - largest) / y. Rows without such a number are left out. Of a large case some
// evenly spread rows are read.
class SoftmaxSums {
 public:
  SoftmaxSums(const Observation& seen, const Hypothesis& model);
  static size_t ElementsRead(size_t rows, size_t M);  // of a case

  // The columns [first, last) whose exponentials have sums nearest to these. Empty if these are the
  // sums of all columns, if no range is much nearer to them than all, or if the case is large.
  std::optional<std::pair<size_t, size_t>> Range() const;
  // What all sums have in addition to that of the columns: a number, and a number of terms e^0.
  // Empty if it differs between rows.
  std::optional<MeasuredNumber> Added() const;
  std::optional<MeasuredNumber> Zeros() const;

 private:
  struct Row {
    std::vector<double> until;  // [j]: the sum of the exponentials of the columns before j
    double largest, sum;        // of x; the measured one
  };
  std::optional<MeasuredNumber> MeanOf(double (*unit)(const Row& row)) const;

  std::vector<Row> rows_;
};

// A number between the exponentials that the answer has as 0 and the others: those below it are
// dropped. Empty if there is no such number.
std::optional<MeasuredNumber> DroppedBelow(const Observation& seen);

}  // namespace sextant::oracle
