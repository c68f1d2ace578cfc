// Conversion of a tensor to another element type.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/value_of.h"

namespace sextant {

// What becomes of a number that rounds beyond the largest finite one, and of an infinity.
enum class Overflow { kSaturate, kInf, kNan };
constexpr std::array<std::string_view, 3> NamesOf(Overflow) { return {"saturate", "inf", "nan"}; }

// What `type` stores of x. Precondition: the type has what `overflow` says.
double CastTo(DType type, Overflow overflow, double x);

struct Cast {
  static constexpr std::string_view kName = "cast";
  static constexpr std::string_view kSignature = "x[N,M] -> y[N,M]";
  static constexpr std::string_view kSlices = "NM";
  static constexpr std::string_view kSteps = "";
  static constexpr std::string_view kDraw = "x=normal(8)";
  static constexpr std::string_view kChoices =
      "overflow=saturate|inf|nan "
      "dtype.y=f8_e4m3fn|f8_e5m2|f8_e4m3fnuz|f8_e5m2fnuz|bf16|f16|f32|f64 "
      "N=3|1|5 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y = x as the type of y (dtype.y=) stores it: rounded once, to nearest, ties to even:\n"
      "  x, y      [N,M]  each element of y is specified, NaN, infinities and the sign of 0 too\n"
      "  overflow         for infinities, and what rounds beyond the largest finite number:\n"
      "    saturate  the largest finite number, with the sign of x; in every type\n"
      "    inf       the infinity with the sign of x; in types with infinities\n"
      "    nan       NaN; in types without infinities\n"
      "NaN stays NaN; which of its NaNs a type stores is not specified.\n"
      "-0 stays -0, and negative numbers that round to 0 become -0; the fnuz types have only 0.\n"
      "Frameworks, for types of 8 bits:\n"
      "  saturate  ONNX Cast with saturate=1, its default (before version 24 an infinity becomes\n"
      "            NaN in fnuz types); NVIDIA's cvt.satfinite; PyTorch's e4m3fn from 2.12 on, for\n"
      "            finite numbers\n"
      "  inf, nan  ONNX Cast with saturate=0; ml_dtypes; PyTorch otherwise";
  static constexpr std::string_view kSource =
      "OCP 8-bit Floating Point Specification (OFP8) 1.0, 2023; fnuz: Noune et al. 2022, "
      "arXiv:2206.02915; ONNX operator Cast, onnx/onnx#7130; NVIDIA PTX ISA, instruction cvt; "
      "pytorch/pytorch#178817; jax-ml/ml_dtypes#400";

  Overflow overflow{};
  void Visit(auto&& v) { v("overflow", overflow, kRequired); }
  void CheckTypes(const std::map<std::string, DType>& given) const;
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
    y.data = x.data;
  }
  template <class Real>
  Real Stored(DType type, const Real& x) const {
    return Real(CastTo(type, overflow, ValueOf(x)), type);
  }
};

}  // namespace sextant
