// The mean of signed errors, in units of the permitted ones, and how sure it is.
//
// Errors of a row have that of its root or sum in common, those of a column the error of its
// weight, and those of equal answers (all that underflow to 0, say) that of their rounding: rows,
// columns and answers are the units that may be independent. The standard error counts them.
#pragma once

#include <cstddef>
#include <vector>

namespace sextant::oracle {

class Bias {
 public:
  Bias(size_t elements, size_t width);
  // The error of element i, whose answer is `got`, over what is permitted there.
  void Add(size_t i, double got, double relative);
  double Mean() const;
  double Spread() const;          // root mean square
  double StandardErrors() const;  // of the mean, from 0; 0 where units are few
  // Whether the mean, less what chance may add to it, is beyond `honest` to either side. `honest`
  // bounds the mean that implementations have whose roundings are not independent.
  bool IsBeyond(double honest) const;

 private:
  struct Unit {
    double sum = 0;
    size_t count = 0;
    void Add(double x);
    double Mean() const;
  };
  static double Variance(const std::vector<Unit>& units);
  double VarianceBySize(const std::vector<Unit>& units) const;

  size_t width_;
  std::vector<Unit> rows_, columns_, answers_;
  Unit all_;
  double squares_ = 0;
};

}  // namespace sextant::oracle
