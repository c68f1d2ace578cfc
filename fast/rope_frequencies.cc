#include "fast/rope_frequencies.h"

#include "fast/kernel.h"
#include "fast/typed.h"
#include "reference/rope_frequencies.h"

namespace sextant::fast {
namespace {

// Found by the scalings through argument-dependent look-up.
struct Number : DoubleDouble {
  explicit Number(double x) : DoubleDouble(x) {}
  explicit Number(const DoubleDouble& x) : DoubleDouble(x) {}
  friend Number operator+(const Number& a, const Number& b) { return Number(Base(a) + Base(b)); }
  friend Number operator-(const Number& a, const Number& b) { return Number(Base(a) - Base(b)); }
  friend Number operator*(const Number& a, const Number& b) { return Number(Base(a) * Base(b)); }
  friend Number operator/(const Number& a, const Number& b) { return Number(Base(a) / Base(b)); }
  friend bool Less(const Number& a, const Number& b) { return Base(a) < Base(b); }
  static const DoubleDouble& Base(const Number& a) { return a; }
};

Tensors Run(const Case& c, const Tensors&) {
  const auto op = StructOf<RopeFrequencies>(c);
  const size_t R = ExtentOf(c, "R");
  const std::vector<DoubleDouble> frequencies = Frequencies(op.base, op.scaling, R);
  return WithElement(c.DTypeOf(c.info().signature.outputs[0]), [&]<class T>() -> Tensors {
    std::vector<T> rounded;
    for (const DoubleDouble& f : frequencies) rounded.push_back(FromDoubleDouble<T>(f));
    return {ToTensor("inv_freq", {R / 2}, rounded),
            ToTensor("attention_factor", {}, std::vector<T>{FromDouble<T>(1)})};
  });
}

std::string Declines(const Case& c) { return DeclinesMixedTypes(c); }

}  // namespace

std::vector<DoubleDouble> Frequencies(double base, const RopeScaling& scaling,
                                      size_t rotary_width) {
  std::vector<DoubleDouble> frequencies;
  const Number two_pi(kPi * 2.0);
  const auto R = static_cast<int64_t>(rotary_width);
  for (int64_t k = 0; k < R / 2; ++k) {
    const Number f(Power(base, -2 * k, R));
    frequencies.push_back(std::visit([&](const auto& s) { return s(f, two_pi); }, scaling));
  }
  return frequencies;
}

template <>
CaseKernel MakeKernel<RopeFrequencies>() {
  return {Declines, Run};
}

}  // namespace sextant::fast
