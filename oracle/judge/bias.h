// The mean of signed errors relative to the permitted errors, and its standard error.
//
// Errors are correlated: elements of a row share the error of its root or sum, elements of a column
// that of its weight, and equal answers (for example all that underflow to 0) that of their
// rounding. So the standard error counts rows, columns and distinct answers as independent units.
// Beyond 2^16 units of a kind, more units would not change the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::oracle {

class Bias {
 public:
  // Without units there is only the mean and the spread.
  Bias(size_t elements, size_t width, bool units = true);
  // `got`: the answer at element i; `relative`: its signed error / permitted error.
  void Add(size_t i, double got, double relative);
  // The same for consecutive elements, of which i is the first.
  void Add(size_t i, std::span<const double> got, std::span<const double> relative);
  // Adds the elements of `next`, which come after these.
  void Merge(const Bias& next);
  double Mean() const;
  double Spread() const;          // root mean square
  double StandardErrors() const;  // Mean() / its standard error; 0 if there are few units
  // True if |mean| minus its statistical uncertainty exceeds `correct_bound`, the bound of the
  // |mean| of correct implementations, whose roundings may be correlated.
  bool IsBeyond(double correct_bound) const;

 private:
  struct Unit {
    double sum = 0;
    size_t count = 0;
    void Add(double x, size_t numbers) {
      sum += x;
      count += numbers;
    }
    double Mean() const;
  };
  std::vector<double> RowMeans() const;
  std::vector<double> ColumnMeans() const;
  static double Variance(std::vector<double> means);
  double VarianceBySize(const std::vector<Unit>& units) const;
  Unit& UnitOfAnswer(double got);
  void AddToAnswers(std::span<const double> got, std::span<const double> relative);
  void AddToColumn(size_t column, double relative);
  // Consecutive elements of one row, from this column on.
  void AddToColumns(size_t column, std::span<const double> relative);

  bool has_units_;
  size_t width_;
  // Not more than kMostUnits each: neighbouring rows and columns of large tensors share a unit.
  size_t rows_per_unit_, columns_per_unit_;
  std::vector<Unit> rows_, answers_;
  std::vector<double> columns_;  // the sums of units
  // The count of unit u is the sum of the steps up to step u: a run of elements changes two steps.
  std::vector<int64_t> column_count_steps_;
  Unit all_;
  double squares_ = 0;
};

}  // namespace sextant::oracle
