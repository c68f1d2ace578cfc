// The hidden tensor of a feed-forward part with any of the usual deviations, for any number type.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/diagnosis/number_in.h"
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

class HiddenFormula {
 public:
  Function function;
  Combination combination = Combination::kGated;
  double factor = 1;         // of the hidden tensor
  double residual = 0;       // the factor of x that is added to y
  double limit = kInfinity;  // of the hidden tensor, on both sides
  // Added to gate and up, and limits of them after that.
  double gate_added = 0, up_added = 0;
  double gate_low = -kInfinity, gate_high = kInfinity, up_low = -kInfinity, up_high = kInfinity;
  std::optional<double> norm_eps = {};    // each row of the hidden tensor is normed, as by rms_norm
  int gate_shift = 0, up_shift = 0;  // row n has gate or up of row n + that, around the end

  bool ReadsOtherRows() const { return gate_shift != 0 || up_shift != 0; }

  template <class T>
  T operator()(const T& g, const T& u) const {
    const T gate = Limited(g, gate_added, gate_low, gate_high),
            up = Limited(u, up_added, up_low, up_high);
    const T hidden = factor == 1 ? Combined(gate, up) : T(factor) * Combined(gate, up);
    return std::abs(NumberIn(hidden)) <= limit ? hidden
           : NumberIn(hidden) < 0              ? T(-limit)
                                               : T(limit);
  }

 private:
  template <class T>
  static T Limited(const T& x, double added, double low, double high) {
    const T sum = added == 0 ? x : x + T(added);
    return NumberIn(sum) < low ? T(low) : NumberIn(sum) > high ? T(high) : sum;
  }
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

// Row n + shift of N rows, around the end.
inline size_t OtherRow(size_t n, int shift, size_t N) {
  return static_cast<size_t>((static_cast<int64_t>(n + N) + shift) % static_cast<int64_t>(N));
}

// A number of gate or up, what is said of it (# is the number), and where it is.
using NumberOfFormula = double& (*)(HiddenFormula&);
struct ProjectionNumber {
  enum class Kind { kAdded, kMost, kLeast } kind;
  bool of_gate;
  std::string name, text;
  NumberOfFormula in;
};
const std::vector<ProjectionNumber>& ProjectionNumbers();

// What the combinations are called; the right one is the first, without a name.
struct CombinationFacts {
  Combination combination;
  std::string name, sentence;
};
const std::vector<CombinationFacts>& Combinations();

// Changes of the formula that need no number: its function altered, and the hidden tensor normed.
struct HiddenChange {
  std::string name, sentence;
  std::function<void(HiddenFormula& formula)> apply;
};
std::vector<HiddenChange> HiddenChanges(const Function& right);

// The case computed with another formula for the hidden tensor.
std::shared_ptr<const Operation> WithHiddenFormula(const Case& c, const HiddenFormula& formula);

}  // namespace sextant::oracle
