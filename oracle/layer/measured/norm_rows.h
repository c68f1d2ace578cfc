// What an answer says about the divisors of its rows.
#pragma once

#include <vector>

#include "oracle/layer/measured/norm.h"
#include "oracle/layer/measured/row_sums.h"

namespace sextant::oracle {

// The divisor of a row, from all its elements, and its relative error from a single one. All
// elements may share an error, so the range may be narrower than the divisor is known.
struct MeasuredDivisor {
  Span range;
  double error = kInfinity;
};

// Some rows of an answer. A part of a row with its own sums is a row here.
class NormRows {
 public:
  // The question must outlive this object.
  explicit NormRows(const NormQuestion& question);

  size_t width() const { return M_; }
  size_t count() const { return N_; }  // of all rows
  std::vector<Sums> SumsOf(const Norm& norm) const;
  // The divisors of the chosen rows, one range for each; empty if an element contradicts.
  std::vector<MeasuredDivisor> DivisorsOf(const Norm& norm, const std::vector<Sums>& sums) const;
  // The factor of y, if all else is as in `norm`.
  Span OutputFactor(const Norm& norm) const;
  // The number that is added to the weight, whatever divides the rows.
  Span AddedToWeight(const Norm& norm) const;
  // Independent distances of the answer from the right one, for BitsOfEvidence. All elements of a
  // row share the roundings of its mean and divisor, so the row is one number if only these are
  // wrong. If weights or biases are wrong, each element is one.
  std::vector<double> DistancesOf(const Norm& norm,
                                  const std::vector<MeasuredDivisor>& divisors) const;
  // Sums over the first columns: of none at first.
  void ForgetColumns() { sums_.Restart(); }
  void AddColumn() { sums_.AddColumn(); }

 private:
  // Calls use(sample, z, w, bias) for the elements of the chosen rows: y = z w + bias.
  template <class Use>
  void ForEachElement(const Norm& norm, const Use& use) const;
  bool FindDivisor(const Norm& norm, size_t i, double mean, MeasuredDivisor& found) const;
  double ErrorFactor(size_t n) const;
  std::vector<double> ElementDistances(size_t n) const;
  double WeightAt(size_t at) const { return q_.weight[at % q_.weight.size()]; }
  size_t ColumnAt(size_t at) const { return at % q_.weight.size(); }

  const NormQuestion& q_;
  size_t N_, M_;
  std::vector<size_t> rows_;                            // the chosen ones
  std::vector<double> error_factors_, right_divisors_;  // of the chosen rows
  RowSums sums_;
};

}  // namespace sextant::oracle
