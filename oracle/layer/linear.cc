#include "reference/layer/linear.h"

#include "oracle/defect/oracle.h"
#include "oracle/layer/linear_laws.h"

namespace sextant::oracle {
namespace {

struct Mistaken : Linear {
  ProductMistake mistake{};
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    MultiplyMistaken(mistake, x, weight, y);
  }
};

std::vector<Defect> FormulaDefects() {
  return {
      MutatedFormula<Mistaken>("products_in_bf16", "each product is rounded to bf16",
                               ProductMistake::kRoundedProducts),
      MutatedFormula<Mistaken>("last_block_only",
                               "blocks of 16 columns overwrite the sum in place of adding to it",
                               ProductMistake::kLastBlockOnly),
      MutatedFormula<Mistaken>("sum_not_reset", "a row's sum starts with that of the row before",
                               ProductMistake::kSumCarriedOver),
      MutatedFormula<Mistaken>("last_column_missing", "the last column of x does not count",
                               ProductMistake::kLastColumn),
      MutatedFormula<Mistaken>("rows_too_far_apart", "x is read with a row step of M + 1",
                               ProductMistake::kRowsOfX),
  };
}

}  // namespace

template <>
Oracle MakeOracle<Linear>() {
  return {.properties = LinearLaws(),
          .defects = Joined<Defect>({FormulaDefects(), LinearDefects()})};
}

}  // namespace sextant::oracle
