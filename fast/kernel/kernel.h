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
  Tensors (*run)(const Case&, const Tensors& inputs);
  // The same for stored tensors: nothing is converted. Null: only `run`.
  StoredTensors (*run_stored)(const Case&, const StoredTensors& inputs) = nullptr;
};

// A kernel of stored tensors.
template <StoredTensors (*kRun)(const Case&, const StoredTensors& inputs)>
CaseKernel StoredKernel(std::string (*declines)(const Case&)) {
  const auto run = [](const Case& c, const Tensors& inputs) {
    const StoredTensors outputs = kRun(c, {inputs.begin(), inputs.end()});
    return ValuesOf(ReadersOf(outputs));
  };
  return {declines, run, kRun};
}

template <class Op>
CaseKernel MakeKernel();

// The kernel of an operation of reference/case/operations.h, by name. Throws Error for other names.
const CaseKernel& KernelOf(std::string_view operation);

}  // namespace sextant::fast
