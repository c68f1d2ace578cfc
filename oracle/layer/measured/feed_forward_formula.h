// The hidden tensor of a feed-forward part with any of the usual deviations, for any number type.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/diagnosis/number_in.h"
#include "oracle/layer/measured/function_value.h"

namespace sextant::oracle {

// How a gate g and an up projection u are combined.
enum class Combination {
  kGated,
  kOfProduct,
  kGateAlone,
  kBothActivated,
  kSum,
  kNotActivated,
  kPlusOne,
  kGateTwice
};

// Row n + shift of N rows, around the end.
inline size_t OtherRow(size_t n, int shift, size_t N) {
  return static_cast<size_t>((static_cast<int64_t>(n + N) + shift) % static_cast<int64_t>(N));
}

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
  std::optional<double> norm_eps = {};  // each row of the hidden tensor is normed, as by rms_norm
  int gate_shift = 0, up_shift = 0;     // row n has gate or up of row n + that, around the end

  std::optional<DType> format = {};                 // to which hidden numbers are rounded
  bool gate_of_first = false, up_of_first = false;  // every row has those of row 0
  // Hidden columns from this one on are combined in another way.
  size_t other_from = std::numeric_limits<size_t>::max();
  Combination other = Combination::kGated;

  bool ReadsOtherRows() const {
    return gate_shift != 0 || up_shift != 0 || gate_of_first || up_of_first;
  }
  size_t GateRow(size_t n, size_t N) const {
    return gate_of_first ? 0 : OtherRow(n, gate_shift, N);
  }
  size_t UpRow(size_t n, size_t N) const { return up_of_first ? 0 : OtherRow(n, up_shift, N); }

  // f: the hidden column.
  template <class T>
  T operator()(size_t f, const T& g, const T& u) const {
    const Combination how = f < other_from ? combination : other;
    const T gate = Limited(g, gate_added, gate_low, gate_high),
            up = Limited(u, up_added, up_low, up_high);
    const T hidden = factor == 1 ? Combined(how, gate, up) : T(factor) * Combined(how, gate, up);
    const double number = NumberIn(hidden);
    if (format) return T(RoundTo(*format, number));
    return std::abs(number) <= limit ? hidden : number < 0 ? T(-limit) : T(limit);
  }

 private:
  template <class T>
  static T Limited(const T& x, double added, double low, double high) {
    const T sum = added == 0 ? x : x + T(added);
    return NumberIn(sum) < low ? T(low) : NumberIn(sum) > high ? T(high) : sum;
  }
  template <class T>
  T Combined(Combination how, const T& g, const T& u) const {
    const auto f = [&](const T& x) {
      const ScopedStep at(Step::kActivation);
      return ValueOf(function, NumberIn(x), x);
    };
    const ScopedStep at(Step::kGate);
    switch (how) {
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
      case Combination::kGateTwice:
        return f(g) * g;
      default:
        return f(g) * u;
    }
  }
};

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

// Changes of the formula that need no number: its function altered, the hidden tensor normed or
// rounded, gate or up of row 0 in every row, and the last of F hidden columns combined in another
// way.
struct HiddenChange {
  std::string name, sentence;
  std::function<void(HiddenFormula& formula)> apply;
};
std::vector<HiddenChange> HiddenChanges(const Function& right, size_t F);

// The case computed with another formula for the hidden tensor.
std::shared_ptr<const Operation> WithHiddenFormula(const Case& c, const HiddenFormula& formula);

}  // namespace sextant::oracle
