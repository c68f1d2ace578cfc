// The functions that implementations use as activations, for any number type.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "oracle/layer/measured/constant.h"
#include "reference/layer/activation.h"
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

// A table of a function, with entries at origin + i step.
struct Table {
  enum class Kind { kNone, kNearest, kBelow, kLinear };  // which entry, or both neighbours
  Kind kind = Kind::kNone;
  double origin = 0, step = 1;
  bool operator==(const Table&) const = default;
};

// Those that are tried: steps of powers of two, and 2^n entries over a symmetric range.
const std::vector<Table>& FunctionTables();

// What else may deviate in f(x), where a gated function is x g(x), such as x s(c x).
struct Alteration {
  enum class Kind {
    kNone,
    kArgumentAdded,      // f(x + low)
    kGateArgumentAdded,  // x g(x + low)
    kLimited,            // f(x) within [low, high]
    kGateLimited,        // x times g(x) within [low, high]
    kSquared,            // f(x)^2
    kTimesArgument,      // x f(x)
    kGateSquared,        // x g(x)^2
    kZeroBelow,          // 0 if x < low
    kZeroAbove,          // 0 if x > low
    kSameBelow,          // x if x < low
    kSameAbove,          // x if x > low
    kSaturated,          // 0 if x < low, x if x > high
    kOfAbsolute,         // f(|x|)
    kOdd,                // f(|x|) with the sign of x
    kTwice,              // f(f(x))
    kAbsolute            // |f(x)|
  };
  Kind kind = Kind::kNone;
  double low = -kInfinity, high = kInfinity;
  bool operator==(const Alteration&) const = default;
};

// a f(x') + b, where x' is x limited to [low, high], or the negative of that; f may be read from a
// table or altered.
struct Function {
  Curve curve{};
  double c = 1, a = 1, b = 0;
  bool negated = false;
  double low = -kInfinity, high = kInfinity;
  Table table = {};
  Alteration alteration = {};
  bool operator==(const Function&) const = default;
};

// The function of a kind of activation.
Function FunctionOf(ActivationKind kind, double beta);

// What is known about a curve: the usual constant, other constants of the field, and where its
// constant is looked for.
struct CurveFacts {
  Curve curve;
  std::string name, formula;
  double usual;
  Span constants;
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

// The Pade approximant of tanh at 0.
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

// f(x) without its factor and limits.
template <class T>
T TabulatedAt(const Function& f, double at, const T& x) {
  const auto entry = [&](double i) {
    const double node = f.table.origin + i * f.table.step;
    return curves::ValueAt(f.curve, f.c, node, T(node));
  };
  const double place = (at - f.table.origin) / f.table.step, below = std::floor(place);
  switch (f.table.kind) {
    case Table::Kind::kNearest:
      return entry(std::floor(place + 0.5));
    case Table::Kind::kBelow:
      return entry(below);
    case Table::Kind::kLinear:
      return entry(below) + T(place - below) * (entry(below + 1) - entry(below));
    default:
      return curves::ValueAt(f.curve, f.c, at, x);
  }
}

// A value within the limits; `at` is its number.
template <class T>
T Within(const Alteration& limits, double at, const T& value) {
  return at < limits.low ? T(limits.low) : at > limits.high ? T(limits.high) : value;
}

// 0 or x beyond a number, f(x) elsewhere.
template <class T>
T CutAt(const Alteration& altered, double at, const T& x, const T& value) {
  using Kind = Alteration::Kind;
  const bool is_below = at<altered.low, is_above = at> altered.low;
  switch (altered.kind) {
    case Kind::kZeroBelow:
      return is_below ? T(0.0) : value;
    case Kind::kZeroAbove:
      return is_above ? T(0.0) : value;
    case Kind::kSameBelow:
      return is_below ? x : value;
    case Kind::kSameAbove:
      return is_above ? x : value;
    case Kind::kSaturated:
      return is_below ? T(0.0) : at > altered.high ? x : value;
    default:
      return value;
  }
}

// f(x) as it is altered.
template <class T>
T AlteredAt(const Function& f, double at, const T& x) {
  using Kind = Alteration::Kind;
  const Alteration& altered = f.alteration;
  const auto value = [&] { return TabulatedAt(f, at, x); };
  const auto gate = [&] { return curves::GateAt(f.curve, f.c, at, x); };
  switch (altered.kind) {
    case Kind::kArgumentAdded:
      return curves::ValueAt(f.curve, f.c, at + altered.low, x + T(altered.low));
    case Kind::kGateArgumentAdded:
      return x * curves::GateAt(f.curve, f.c, at + altered.low, x + T(altered.low));
    case Kind::kLimited:
      return Within(altered, curves::ValueAt(f.curve, f.c, at, at), value());
    case Kind::kGateLimited:
      return x * Within(altered, curves::GateAt(f.curve, f.c, at, at), gate());
    case Kind::kTimesArgument:
      return x * value();
    case Kind::kSquared:
      return value() * value();
    case Kind::kGateSquared:
      return x * gate() * gate();
    case Kind::kOfAbsolute:
      return at < 0 ? curves::ValueAt(f.curve, f.c, -at, -x) : value();
    case Kind::kOdd:
      return at < 0 ? -curves::ValueAt(f.curve, f.c, -at, -x) : value();
    case Kind::kTwice:
      return curves::ValueAt(f.curve, f.c, curves::ValueAt(f.curve, f.c, at, at), value());
    case Kind::kAbsolute:
      return curves::ValueAt(f.curve, f.c, at, at) < 0 ? -value() : value();
    default:
      return CutAt(altered, at, x, value());
  }
}

template <class T>
T ValueOf(const Function& f, double at, const T& x) {
  const bool below = at<f.low, above = at> f.high;
  const double limit = below ? f.low : f.high;
  const double sign = f.negated ? -1 : 1;
  const T value = below || above ? AlteredAt(f, sign * limit, T(sign * limit))
                                 : AlteredAt(f, sign * at, f.negated ? -x : x);
  const T multiplied = f.a == 1 ? value : T(f.a) * value;
  return f.b == 0 ? multiplied : multiplied + T(f.b);
}

}  // namespace sextant::oracle
