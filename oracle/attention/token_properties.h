// Tokens of operations with attention inside (reference/attention/inner_attention.h): the number
// that is read, the tokens whose result is specified, and their properties.
#pragma once

#include <string>

#include "oracle/attention/attention_properties.h"
#include "oracle/property/property.h"
#include "reference/attention/inner_attention.h"

namespace sextant::oracle {

// The number of tokens that are read: key_length if set, otherwise the extent `letter`.
size_t TokensRead(const Case& c, const std::string& letter);

// True if the result of token s of a self-attention is specified: it reads a token, or empty rows
// are 0.
class SpecifiedTokens {
 public:
  explicit SpecifiedTokens(const Case& c);
  bool operator()(size_t s) const;

 private:
  Attention attention_;
};

// Compares the specified tokens of the first output [S,..] for two inputs: the first `count`, or
// all.
Comparisons SameTokens(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask,
                       size_t count);
Comparisons SameTokens(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask);

// Changes the tokens from `first` on. ChangeRows changes rows of x [S,M].
using TokenChange = void (*)(const Case& c, Tensors& inputs, size_t first);
void ChangeRows(const Case& c, Tensors& inputs, size_t first);

// With a causal mask, later tokens do not change a result; the content of padding never does.
Property LaterTokensDoNotCount(TokenChange change = ChangeRows);
Property PaddingIsNotRead(TokenChange change = ChangeRows);

}  // namespace sextant::oracle
