// The fast path as the drivers see it: for every operation a kernel that takes a case and its
// inputs and answers with exactly what the Highway code computed. fast/<op>.cc ends with
//   template <> CaseKernel MakeKernel<RmsNorm>() { return {Declines, Run}; }
#pragma once

#include <string>
#include <string_view>

#include "reference/case/case.h"
#include "reference/number/tensor.h"

namespace sextant::fast {

// How the kernels compute, as a standard recipe: tables correctly rounded, the rest in the dtype,
// 16-bit types in f32 with one rounding at the end.
inline constexpr std::string_view kRecipe = "exact_table";

struct CaseKernel {
  std::string (*declines)(const Case&);  // why it cannot answer this case; empty if it can
  Tensors (*run)(const Case&, const Tensors& inputs);
};

template <class Op>
CaseKernel MakeKernel();

// By name, for every operation of reference/case/operations.h.
const CaseKernel& KernelOf(std::string_view operation);

}  // namespace sextant::fast
