// The value of a function that an implementation has: a curve with a factor and limits, read from a
// table, or altered. For any number type.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "oracle/layer/measured/curve.h"
#include "reference/layer/activation.h"
#include "reference/number/real.h"

namespace sextant::oracle {

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
