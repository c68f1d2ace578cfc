// Tokens of what has attention inside (reference/attention/inner_attention.h): those that it reads,
// those of which anything is specified, and properties of them.
#pragma once

#include <string>

#include "oracle/attention/attention_properties.h"
#include "oracle/property/common_properties.h"
#include "reference/attention/inner_attention.h"

namespace sextant::oracle {

// How many tokens of the sequence of that extent are read: what key_length says, or all.
size_t TokensRead(const Case& c, const std::string& letter);

// Whether anything is specified of token s of a sequence that attends to itself: it reads a token,
// or is answered without.
class SpecifiedTokens {
 public:
  explicit SpecifiedTokens(const Case& c);
  bool operator()(size_t s) const;

 private:
  Attention attention_;
};

// The first output [S,..] is the same for both inputs at the first `count` tokens, as far as it is
// specified; at all of them.
Findings SameTokens(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask,
                    size_t count);
Findings SameTokens(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask);

// Makes the tokens from `first` on others: rows of x [S,M].
using TokenChange = void (*)(const Case& c, Tensors& inputs, size_t first);
void ChangeRows(const Case& c, Tensors& inputs, size_t first);

// Under a causal mask no token knows of later ones; none knows what padding holds.
Property LaterTokensDoNotCount(TokenChange change = ChangeRows);
Property PaddingIsNotRead(TokenChange change = ChangeRows);

}  // namespace sextant::oracle
