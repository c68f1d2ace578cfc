#include "reference/position/alibi_slopes.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {
namespace {

// With a larger bias, slopes become subnormal doubles.
constexpr double kLargestBias = 900;

// 2^-(b k/n) for n a power of two. Error at most 20 units of 2^-106.
DoubleDouble Slope(double b, SlopeExponent e) {
  const DoubleDouble exponent = TwoProduct(b, static_cast<double>(e.numerator)) /
                                static_cast<double>(e.denominator);  // exact
  const double whole = std::rint(exponent.high);
  const DoubleDouble rest = exponent + -whole;
  const DoubleDouble power = rest.high == 0 ? DoubleDouble(1.0) : exp(-(rest * kLn2));
  return ldexp(power, -static_cast<int>(whole));
}

std::string DeclinesTinySlopes(const Case& c) {
  const auto op = StructOf<AlibiSlopes>(c);
  if (!IsFloatType(c.DTypeOf(c.info().signature.outputs[0]))) return "no kernel for this dtype";
  return op.max_bias > kLargestBias ? "slopes below 2^-" + PrintValue(kLargestBias) : "";
}

StoredTensors RunAlibiSlopes(const Case& c, const StoredTensors&) {
  const auto op = StructOf<AlibiSlopes>(c);
  const auto heads = static_cast<int64_t>(ExtentOf(c, "H"));
  StoredTensors slope = OutputsOf(c);
  WithElement(slope[0].dtype(), [&]<class T>() {
    for (int64_t h = 0; h < heads; ++h)
      slope[0].As<T>()[h] =
          FromDoubleDouble<T>(Slope(op.max_bias, AlibiSlopes::ExponentOf(h, heads)));
  });
  return slope;
}

}  // namespace

template <>
CaseKernel MakeKernel<AlibiSlopes>() {
  return {DeclinesTinySlopes, RunAlibiSlopes};
}

}  // namespace sextant::fast
