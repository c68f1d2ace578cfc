// Dispatch by element type. One exported function per kernel, named ...Elements, takes the dtype
// and untyped pointers; WithElement calls the typed kernel.
#pragma once

#include <cstdlib>

#include "fast/simd/element.h"

namespace sextant::fast {

// Pointers to elements of the dtype that is passed along with them. They convert to the pointer
// type of the parameter that receives them, so call with explicit template arguments: Kernel<T>(x).
struct UntypedInput {
  UntypedInput(const void* elements) : data(elements) {}
  template <class T>
  operator const T*() const {
    return static_cast<const T*>(data);
  }
  const void* data;
};
struct UntypedOutput {
  UntypedOutput(void* elements) : data(elements) {}
  template <class T>
  operator T*() const {
    return static_cast<T*>(data);
  }
  void* data;
};

// Calls f.template operator()<T>() for the 16-bit element type with that dtype, f16 or bf16.
template <class F>
auto WithNarrow(DType dtype, const F& f) {
  if (dtype == DType::kF16) return f.template operator()<F16>();
  if (dtype == DType::kBF16) return f.template operator()<BF16>();
  std::abort();
}

// The same for f64 and f32.
template <class F>
auto WithReal(DType dtype, const F& f) {
  if (dtype == DType::kF64) return f.template operator()<double>();
  if (dtype == DType::kF32) return f.template operator()<float>();
  std::abort();
}

// The same for the types of kFloatTypes. No kernel has other types.
template <class F>
auto WithElement(DType dtype, const F& f) {
  const bool is_real = dtype == DType::kF64 || dtype == DType::kF32;
  return is_real ? WithReal(dtype, f) : WithNarrow(dtype, f);
}

}  // namespace sextant::fast
