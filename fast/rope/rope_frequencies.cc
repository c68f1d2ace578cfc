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

StoredTensors RunRopeFrequencies(const Case& c, const StoredTensors&) {
  const auto op = StructOf<RopeFrequencies>(c);
  const Frequencies frequencies = ScaledFrequencies(op);
  StoredTensors outputs = OutputsOf(c);
  WithElement(outputs[0].dtype(), [&]<class T>() {
    std::ranges::transform(frequencies.of_pair, outputs[0].As<T>(), FromDoubleDouble<T>);
    *outputs[1].As<T>() = FromDoubleDouble<T>(frequencies.amplitude);
  });
  return outputs;
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
