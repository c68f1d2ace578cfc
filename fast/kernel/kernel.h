// The interface of the fast kernels for drivers: each operation has a kernel that takes a case and
// its inputs and returns exactly the outputs that the Highway code computed. fast/<family>/<op>.cc
// ends with
//   template <> CaseKernel MakeKernel<RmsNorm>() { return {DeclinesMixedTypes, RunRmsNorm}; }
#pragma once

#include <string>
#include <string_view>

#include "reference/case/case.h"
#include "reference/number/tensor/stored_tensor.h"

namespace sextant::fast {

// The standard recipe of the kernels: tables correctly rounded, the rest in the dtype, 16-bit types
// in f32 with one rounding at the end.
inline constexpr std::string_view kRecipe = "exact_table";

struct CaseKernel {
  std::string (*declines)(const Case&);  // why it does not support the case; empty if it does
  StoredTensors (*run)(const Case&, const StoredTensors& inputs);
};

template <class Op>
CaseKernel MakeKernel();

// The kernel of an operation of reference/case/operations.h, by name. Throws Error for other names.
const CaseKernel& KernelOf(std::string_view operation);

// What the kernel of the case's operation computes from these values.
Tensors AnswerOf(const Case& c, const Tensors& inputs);

}  // namespace sextant::fast
