// The hidden tensor of a feed-forward part with any of the usual deviations, for any number type.
#pragma once

#include <memory>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/layer/measured/curve.h"

namespace sextant::oracle {

// How a gate g and an up projection u are combined.
enum class Combination {
  kGated,
  kOfProduct,
  kGateAlone,
  kBothActivated,
  kSum,
  kNotActivated,
  kPlusOne
};

inline double NumberIn(double x) { return x; }
inline double NumberIn(const Rounded& x) { return x.value(); }
inline double NumberIn(const Counted& x) { return x.center().high; }

class HiddenFormula {
 public:
  Function function;
  Combination combination = Combination::kGated;
  double factor = 1;    // of the hidden tensor
  double residual = 0;  // the factor of x that is added to y

  template <class T>
  T operator()(const T& g, const T& u) const {
    return factor == 1 ? Combined(g, u) : T(factor) * Combined(g, u);
  }

 private:
  template <class T>
  T Combined(const T& g, const T& u) const {
    const auto f = [&](const T& x) {
      const ScopedStep at(Step::kActivation);
      return ValueOf(function, NumberIn(x), x);
    };
    const ScopedStep at(Step::kGate);
    switch (combination) {
      case Combination::kOfProduct:
        return f(g * u);
      case Combination::kGateAlone:
        return f(g);
      case Combination::kBothActivated:
        return f(g) * f(u);
      case Combination::kSum:
        return f(g) + u;
      case Combination::kNotActivated:
        return g * u;
      case Combination::kPlusOne:
        return f(g) * (u + T(1.0));
      default:
        return f(g) * u;
    }
  }
};

// The case computed with another formula for the hidden tensor.
std::shared_ptr<const Operation> WithHiddenFormula(const Case& c, const HiddenFormula& formula);

}  // namespace sextant::oracle
