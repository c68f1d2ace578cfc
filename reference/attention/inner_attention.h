// The attention inside composite operations: its attributes, and the Attention made from them.
#pragma once

#include "reference/attention/attention.h"

namespace sextant {

// Attention of one sequence without a batch. Query s has the index of key s (align=top_left), also
// where the last keys are padding. A derived operation visits the attributes that it supports; the
// others keep their defaults.
struct InnerAttention : AttentionAttributes {
  // Self-attention: the keys are those of the sequence itself.
  Attention MakeAttention() const { return MakeAttentionOver(S); }

 protected:
  Attention MakeAttentionOver(const Dimension& keys) const {
    Attention attention{*this};
    attention.align = Align::kTopLeft;
    attention.B.value = 1;
    attention.T = keys;
    return attention;
  }
};

}  // namespace sextant
