#include "fast/rope/rope_frequencies.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "reference/rope/rope_frequencies.h"

namespace sextant::fast {
namespace {

// DoubleDouble with the functions that the scalings find by argument-dependent lookup.
struct Number : DoubleDouble {
  Number() = default;
  explicit Number(double x) : DoubleDouble(x) {}
  explicit Number(const DoubleDouble& x) : DoubleDouble(x) {}
  friend Number operator+(const Number& a, const Number& b) { return Number(Base(a) + Base(b)); }
  friend Number operator-(const Number& a, const Number& b) { return Number(Base(a) - Base(b)); }
  friend Number operator*(const Number& a, const Number& b) { return Number(Base(a) * Base(b)); }
  friend Number operator/(const Number& a, const Number& b) { return Number(Base(a) / Base(b)); }
  friend Number operator-(const Number& a) { return Number(-Base(a)); }
  friend Number Sqrt(const Number& a) { return Number(sqrt(Base(a))); }
  friend Number Exp(const Number& a) { return Number(exp(Base(a))); }
  friend Number Log(const Number& a) { return Number(log(Base(a))); }
  friend bool Less(const Number& a, const Number& b) { return Base(a) < Base(b); }
  friend double Floor(const Number& a) { return floor(Base(a)); }
  friend Number TwoPiOf(const Number*) { return Number(kPi * 2.0); }
  static const DoubleDouble& Base(const Number& a) { return a; }
};

Tensors RunRopeFrequencies(const Case& c, const Tensors&) {
  const auto op = StructOf<RopeFrequencies>(c);
  const size_t R = ExtentOf(c, "R");
  const Frequencies frequencies = ScaledFrequencies(op);
  return WithElement(c.DTypeOf(c.info().signature.outputs[0]), [&]<class T>() -> Tensors {
    std::vector<T> rounded;
    for (const DoubleDouble& f : frequencies.of_pair) rounded.push_back(FromDoubleDouble<T>(f));
    return {ToTensor("inv_freq", {R / 2}, rounded),
            ToTensor("attention_factor", {},
                     std::vector<T>{FromDoubleDouble<T>(frequencies.amplitude)})};
  });
}

}  // namespace

Frequencies ScaledFrequencies(const RopeFrequencies& op) {
  Frequencies frequencies;
  const int64_t R = op.R.value;
  const ScalingFormula<Number> scaled = FormulaOf<Number>(op.scaling, op.Setting());
  const std::optional<Number> growth = GrowthOf<Number>(op.scaling, op.Setting());
  for (int64_t k = 0; k < R / 2; ++k) {
    DoubleDouble f = Power(op.base, -2 * k, R);
    // (growth^(R/(R-2)))^-(2k/R)
    if (growth) f *= exp(log(*growth) * DoubleDouble(-2 * k) / DoubleDouble(R - 2));
    frequencies.of_pair.push_back(scaled(Number(f), k));
  }
  frequencies.amplitude = AmplitudeOf<Number>(op.scaling, op.Setting());
  return frequencies;
}

template <>
CaseKernel MakeKernel<RopeFrequencies>() {
  return {DeclinesMixedTypes, RunRopeFrequencies};
}

}  // namespace sextant::fast
