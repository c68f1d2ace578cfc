// Properties and defects of tables of cos and sin by position[B,S], which an operation computes
// from given frequencies or from a configuration.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

inline constexpr size_t kCos = 0, kSin = 1;  // the outputs

// The factor of cos and sin in a case: the attribute attention_factor, or that of the scaling.
Measured FactorOf(const Case& c);

// Calls property(flat index, comparisons) for every entry.
template <class EntryProperty>
Comparisons ForEachEntry(const Response& table, EntryProperty property) {
  Comparisons comparisons;
  for (size_t i = 0; i < table.size(kCos); ++i) property(i, comparisons);
  return comparisons;
}

std::vector<Property> TableProperties();

// Every row of the batch has the positions of the first row.
Defect PositionsOfFirstBatch();

// Mutations of the formula, for MutatedFormulas of each operation.
enum class TableMutation {
  kNone,
  kSwapped,    // [sin, cos] instead of [cos, sin]
  kCosOnly,    // the attention factor multiplies only cos
  kBackwards,  // -sin
};
std::vector<NamedMutation<TableMutation>> TableMutations();

// cos and sin [B,S,R/2] with the mutation. Instantiated for Counted and Rounded.
template <class Real>
void FillMutated(TableMutation mutation, const Tensor<double>& position,
                 const Tensor<Real>& frequencies, const Real& amplitude, Tensor<Real>& cos,
                 Tensor<Real>& sin);

}  // namespace sextant::oracle
