// Defects of gated units.
#pragma once

#include <limits>

#include "oracle/defect/defect.h"
#include "reference/layer/gated.h"
#include "reference/number/clamp.h"

namespace sextant::oracle {

// The formula with one mutation.
struct MutatedGated : Gated {
  enum class Mutation {
    kNone,
    kOfProduct,     // f(g u)
    kBoth,          // f(g) f(u)
    kGateTwoSided,  // the gate is limited below too
    kUpOneSided,    // up is limited above only
    kLimitAfter,    // f(g) is limited instead of g
    kOneOnGate,     // (f(g) + 1) u
    kOneFirst,      // up + 1 is limited
    kUpNotLimited,  // up is not limited
    kNoGate,        // f(g) alone
  } mutation{};

  template <class Real>
  Real Of(Real g, Real u) const {
    const ActivationFunction<Real> f(ActivationOf(kind), Beta());
    if (limit) {
      const ScopedStep at(Step::kGate);
      const Real most = Converted(Real(*limit)), any(std::numeric_limits<double>::max());
      if (mutation != Mutation::kLimitAfter)
        g = Clamp(g, mutation == Mutation::kGateTwoSided ? -most : -any, most);
      if (plus_one && mutation == Mutation::kOneFirst) u = u + Real(1.0);
      if (mutation != Mutation::kUpNotLimited)
        u = Clamp(u, mutation == Mutation::kUpOneSided ? -any : -most, most);
    }
    if (mutation == Mutation::kOfProduct) return f(g * u);
    const Real activated = f(g), other = mutation == Mutation::kBoth ? f(u) : u;
    const ScopedStep at(Step::kGate);
    const Real one(1.0);
    if (mutation == Mutation::kNoGate) return Converted(activated);
    if (mutation == Mutation::kOneOnGate) return (activated + one) * u;
    Real kept = activated;
    if (limit && mutation == Mutation::kLimitAfter)
      kept = Clamp(kept, Real(-std::numeric_limits<double>::max()), Converted(Real(*limit)));
    const bool done = limit && mutation == Mutation::kOneFirst;
    return kept * (plus_one && !done ? other + one : other);
  }
  template <class Real>
  void operator()(const Tensor<Real>& gate, const Tensor<Real>& up, Tensor<Real>& y) const {
    for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = Of(gate.data[i], up.data[i]);
  }
};

inline MutationsOf<MutatedGated> GatedMutations() {
  using Mutation = MutatedGated::Mutation;
  return {
      {"product_activated", "the product is activated instead of the gate (minimind#3)",
       Mutation::kOfProduct},
      {"both_activated", "up is activated too", Mutation::kBoth},
      {"gate_limited_below", "the gate is clamped on both sides, like up", Mutation::kGateTwoSided},
      {"up_limited_above_alone", "up is clamped on one side, like the gate", Mutation::kUpOneSided},
      {"limited_after_activation", "f(g) is clamped instead of g", Mutation::kLimitAfter},
      {"one_added_to_gate", "1 is added to f(g) instead of up", Mutation::kOneOnGate},
      {"one_added_before_the_limit", "up + 1 is limited instead of up", Mutation::kOneFirst},
      {"up_not_limited", "only the gate is limited", Mutation::kUpNotLimited},
      {"up_missing", "y is f(g): up is ignored", Mutation::kNoGate},
  };
}

}  // namespace sextant::oracle
