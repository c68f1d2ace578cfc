// Some rows of the answer to a feed-forward part, beside what a formula gives for them.
#pragma once

#include <span>
#include <vector>

#include "oracle/layer/measured/columns.h"
#include "oracle/layer/measured/feed_forward_formula.h"

namespace sextant::oracle {

// The projections of one row.
struct ProjectedRow {
  size_t n;
  std::vector<double> gate, up;  // [F]
};

// What an answer has in addition to the formula, and its error; x is the input at the same place,
// 0 for a hidden element; `product` is the part of the formula without bias and residual.
struct Rest {
  double rest, error, x, product;
};

// Of what is left, in units of the error bars.
inline double SquaresOf(const std::vector<Rest>& rests) {
  double sum = 0;
  for (const Rest& one : rests) sum += one.rest * one.rest / (one.error * one.error);
  return sum;
}

class ForwardRows {
 public:
  // Chooses rows. The observation must outlive this object.
  ForwardRows(const Observation& seen, ErrorBar bar);

  bool IsAnswered() const { return y_.IsAnswered(); }
  // The projections of the chosen rows, with these inputs; gate and up of the rows that the formula
  // says.
  std::vector<ProjectedRow> ProjectedBy(const Tensors& inputs, const HiddenFormula& formula) const;
  std::vector<Rest> RestsOf(const HiddenFormula& formula, const Tensors& inputs,
                            const ProjectedRow& row) const;
  bool FitsAll(const HiddenFormula& formula, const Tensors& inputs,
               const std::vector<ProjectedRow>& rows) const;
  // Sets a number of the formula to that in `domain` for which the answer to the row is nearest,
  // and returns the range that all its elements allow, as they depend on it nearly linearly there.
  Range Measured(HiddenFormula& formula, const Tensors& inputs, const ProjectedRow& row,
                 NumberOfFormula number, const Range& domain) const;
  // Of a few elements: the products of the hidden columns with the weight `down`.
  std::vector<Products> HiddenProducts(const HiddenFormula& formula, const Tensors& inputs,
                                       const std::vector<ProjectedRow>& rows) const;
  // Of the answer from the right one, in units of the error bars.
  std::vector<double> Distances() const;

 private:
  std::vector<size_t> ColumnsOf(size_t most) const;

  const Observation& seen_;
  Samples y_, hidden_;
  size_t M_;
  std::vector<size_t> rows_;
};

}  // namespace sextant::oracle
