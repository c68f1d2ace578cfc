// What the operations share that have attention inside of them: its attributes and, from them, it.
#pragma once

#include "reference/attention/attention.h"

namespace sextant {

// Of one sequence, whose token s asks at the place of key s, also where the last keys are padding.
// Whoever derives from it visits those attributes that it has; the others keep their defaults.
struct InnerAttention : AttentionAttributes {
  // Over the sequence itself.
  Attention Attending() const { return Over(S); }

 protected:
  Attention Over(const Dimension& keys) const {
    Attention attention{*this};
    attention.align = Align::kTopLeft;
    attention.B.value = 1;
    attention.T = keys;
    return attention;
  }
};

}  // namespace sextant
