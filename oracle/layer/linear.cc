#include "reference/layer/linear.h"

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/linear_properties.h"
#include "oracle/layer/measured/linear.h"

namespace sextant::oracle {
namespace {

struct MutatedLinear : Linear {
  ProductMutation mutation{};
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    MultiplyMutated(mutation, x, weight, y);
  }
};

std::vector<Defect> LinearFormulaDefects() {
  return MutatedFormulas<MutatedLinear>({
      {"products_in_bf16", "each product is rounded to bf16", ProductMutation::kRoundedProducts},
      {"last_block_only", "blocks of 16 columns overwrite the sum instead of adding to it",
       ProductMutation::kLastBlockOnly},
      {"sum_not_reset", "the sum of a row starts with that of the previous row",
       ProductMutation::kSumCarriedOver, true},
      {"last_column_missing", "the last column of x is not added", ProductMutation::kLastColumn},
      {"rows_too_far_apart", "x is read with a row step of M + 1", ProductMutation::kRowsOfX, true},
  });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Linear>() {
  return {.properties = LinearProperties(),
          .defects = Joined<Defect>({LinearFormulaDefects(), LinearDefects()}),
          .measurements = LinearMeasurements()};
}

}  // namespace sextant::oracle
