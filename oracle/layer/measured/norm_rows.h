// What an answer says about the divisors of its rows.
#pragma once

#include <vector>

#include "oracle/layer/measured/norm.h"
#include "oracle/layer/measured/row_sums.h"

namespace sextant::oracle {

// The divisor of a row, from all its elements, and its relative error from a single one. All
// elements may share an error, so the range may be narrower than the divisor is known.
struct MeasuredDivisor {
  Range range;
  double error = kInfinity;
};

// Some rows of an answer. A part of a row with its own sums is a row here.
class NormRows {
 public:
  // The question must outlive this object.
  explicit NormRows(const NormQuestion& question);

  size_t width() const { return M_; }
  size_t count() const { return N_; }                        // of all rows
  const std::vector<size_t>& rows() const { return rows_; }  // the chosen ones
  // A row that is larger than the right one has larger roundings: of the chosen rows.
  const std::vector<double>& error_factors() const { return error_factors_; }
  std::vector<Sums> SumsOf(const Norm& norm) const;
  // The divisors of the chosen rows, one range for each; empty if an element contradicts.
  std::vector<MeasuredDivisor> DivisorsOf(const Norm& norm, const std::vector<Sums>& sums) const;
  // The factor of y, if all else is as in `norm`.
  Range OutputFactor(const Norm& norm) const;
  // The number that is added to the weight, whatever divides the rows.
  Range AddedToWeight(const Norm& norm) const;
  // Independent distances of the answer from the right one, for BitsOfEvidence. All elements of a
  // row share the roundings of its mean and divisor, so the row is one number if only these are
  // wrong. If weights or biases are wrong, each element is one.
  std::vector<double> DistancesOf(const Norm& norm, const std::vector<MeasuredDivisor>& divisors,
                                  bool has_other_weights = false) const;
  // Sums over the first columns: of none at first.
  void ForgetColumns() { sums_.Restart(); }
  void AddColumn() { sums_.AddColumn(); }

 private:
  // Calls use(sample, z, w, bias) for the elements of the chosen rows, as long as it returns true:
  // y = z w + bias.
  template <class Use>
  void ForEachElement(const Norm& norm, const Use& use) const;
  bool FindDivisor(const Norm& norm, size_t i, double mean, MeasuredDivisor& found) const;
  // Narrows the factor 1 / D, and the least error of it, by one element; false if it contradicts.
  bool Narrow(const Norm& norm, size_t i, double mean, size_t at, Range& factor,
              double& least_error) const;
  double ErrorFactor(size_t n) const;
  std::vector<size_t> ChosenRows() const;
  // Of row n, if the tensor has rows of that width.
  std::vector<double> ElementDistances(size_t n, size_t width) const;
  std::vector<size_t> TellingElements(size_t n) const;
  double WeightAt(size_t at) const { return q_.weight[WeightColumn(q_.right, at, q_.M)]; }
  size_t ColumnAt(size_t at) const { return at % q_.weight.size(); }

  const NormQuestion& q_;
  size_t N_, M_;
  std::vector<size_t> rows_;                            // the chosen ones
  std::vector<std::vector<size_t>> telling_;            // few elements of each: the worst, others
  std::vector<double> error_factors_, right_divisors_;  // of the chosen rows
  RowSums sums_;
};

}  // namespace sextant::oracle
