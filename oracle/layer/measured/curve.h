// The functions that implementations use as activations, for any number type.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "oracle/layer/measured/constant.h"
#include "reference/number/real.h"

namespace sextant::oracle {

// Functions of x with a constant c, and s(t) = 1 / (1 + e^-t). Each is monotone in c.
enum class Curve {
  kSigmoid,          // s(c x)
  kSwish,            // x s(c x)
  kGelu,             // x (1 + erf(c x)) / 2
  kGeluTanh,         // x (1 + tanh(sqrt(2 / pi) (x + c x^3))) / 2
  kGeluTanhRoot,     // x (1 + tanh(c (x + 0.044715 x^3))) / 2
  kRelu,             // max(x, 0) + c min(x, 0)
  kRelu2,            // c max(x, 0)^2
  kTanh,             // tanh(c x)
  kHardSigmoid,      // c x + 1/2, limited to 0 and 1
  kHardSwish,        // x times that
  kSoftplus,         // ln(1 + e^(c x)) / c
  kMish,             // x tanh(ln(1 + e^(c x)))
  kElu,              // x, or c (e^x - 1) below 0
  kSelu,             // c x, or c 1.6733 (e^x - 1) below 0
  kSoftsign,         // x / (1 + c |x|)
  kSquare,           // c x^2
  kSignedSquare,     // c x |x|
  kNormal,           // (1 + erf(c x)) / 2
  kErf,              // x erf(c x) / 2
  kGeluSquare,       // x (1 + tanh(sqrt(2 / pi) (x + c x^2))) / 2
  kSoftcap,          // c tanh(x / c)
  kGeluTanhSwapped,  // x (1 + tanh(0.044715 (x + c x^3))) / 2
  kRationalTanh,     // r(c x), where r(t) = t (27 + t^2) / (27 + 9 t^2)
  kGeluRationalTanh  // x (1 + r(c (x + 0.044715 x^3))) / 2
};

// What is known about a curve: the usual constant, other known constants, and where its
// constant is looked for.
struct CurveFacts {
  Curve curve;
  std::string name, formula;
  double usual;
  Range constants;
  std::vector<Constant> named;
};
const std::vector<CurveFacts>& Curves();
const CurveFacts& FactsOf(Curve curve);

// f of any number type. `at` is the value of x; it selects the branch.
namespace curves {

inline double Exp(double x) { return std::exp(x); }
inline double Log(double x) { return std::log(x); }
inline double Tanh(double x) { return std::tanh(x); }
inline double Erf(double x) { return std::erf(x); }
inline double Sqrt(double x) { return std::sqrt(x); }
inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// ln(1 + e^t)
template <class T>
T Softplus(double at, const T& t) {
  return at > 0 ? t + Log(T(1.0) + Exp(-t)) : Log(T(1.0) + Exp(t));
}

// An approximation of tanh that is 1, without a slope, at 3.
template <class T>
T RationalTanh(const T& t) {
  return t * (T(27.0) + t * t) / (T(27.0) + T(9.0) * t * t);
}

template <class T>
T Hard(double at, const T& x, const T& c) {
  return at <= -0.5 ? T(0.0) : at >= 0.5 ? T(1.0) : c * x + T(0.5);
}

inline bool IsGated(Curve curve) {
  return curve == Curve::kSwish || curve == Curve::kGelu || curve == Curve::kGeluTanh ||
         curve == Curve::kGeluTanhRoot || curve == Curve::kGeluTanhSwapped ||
         curve == Curve::kGeluRationalTanh || curve == Curve::kHardSwish || curve == Curve::kMish;
}

// g(x) of a gated function x g(x).
template <class T>
T GateAt(Curve curve, double constant, double at, const T& x) {
  const T c(constant), one(1.0), half(0.5);
  switch (curve) {
    case Curve::kSwish:
      return Sigmoid(c * x);
    case Curve::kGelu:
      return half * (one + Erf(c * x));
    case Curve::kGeluTanh:
      return half * (one + Tanh(T(0.79788456080286536) * (x + c * x * x * x)));
    case Curve::kGeluTanhRoot:
      return half * (one + Tanh(c * (x + T(0.044715) * x * x * x)));
    case Curve::kGeluTanhSwapped:
      return half * (one + Tanh(T(0.044715) * (x + c * x * x * x)));
    case Curve::kGeluRationalTanh:
      return half * (one + RationalTanh(c * (x + T(0.044715) * x * x * x)));
    case Curve::kHardSwish:
      return Hard(constant * at, x, c);
    default:
      return Tanh(Softplus(constant * at, c * x));
  }
}

template <class T>
T ValueAt(Curve curve, double constant, double at, const T& x) {
  if (IsGated(curve)) return x * GateAt(curve, constant, at, x);
  const T c(constant), one(1.0);
  switch (curve) {
    case Curve::kSigmoid:
      return Sigmoid(c * x);
    case Curve::kRelu:
      return at > 0 ? x : c * x;
    case Curve::kRelu2:
      return at > 0 ? c * x * x : T(0.0);
    case Curve::kTanh:
      return Tanh(c * x);
    case Curve::kHardSigmoid:
      return Hard(constant * at, x, c);
    case Curve::kSoftplus:
      return Softplus(constant * at, c * x) / c;
    case Curve::kElu:
      return at > 0 ? x : c * (Exp(x) - one);
    case Curve::kSelu:
      return at > 0 ? c * x : c * T(1.6732632423543772) * (Exp(x) - one);
    case Curve::kSoftsign:
      return x / (one + c * (at < 0 ? -x : x));
    case Curve::kSignedSquare:
      return c * x * (at < 0 ? -x : x);
    case Curve::kNormal:
      return T(0.5) * (one + Erf(c * x));
    case Curve::kErf:
      return T(0.5) * x * Erf(c * x);
    case Curve::kGeluSquare:
      return T(0.5) * x * (one + Tanh(T(0.79788456080286536) * (x + c * x * x)));
    case Curve::kSoftcap:
      return c * Tanh(x / c);
    case Curve::kRationalTanh:
      return RationalTanh(c * x);
    default:
      return c * x * x;
  }
}

}  // namespace curves

}  // namespace sextant::oracle
