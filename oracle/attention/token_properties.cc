#include "oracle/attention/token_properties.h"

#include <algorithm>

namespace sextant::oracle {

size_t TokensRead(const Case& c, const std::string& letter) {
  const auto length = AttributesIn<AttentionAttributes>(c).key_length;
  return length ? static_cast<size_t>(length->at(0)) : ExtentOf(c, letter);
}

SpecifiedTokens::SpecifiedTokens(const Case& c)
    : attention_(AttributesIn<InnerAttention>(c).MakeAttention()) {}

bool SpecifiedTokens::operator()(size_t s) const {
  return attention_.empty_rows == EmptyRows::kZero || !attention_.KeysOf(0, s).IsEmpty();
}

Comparisons SameTokens(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask,
                       size_t count) {
  const SpecifiedTokens specified(c);
  const Response first = ask(c, a), second = ask(c, b);
  const size_t width = first.shape().back();
  Comparisons comparisons;
  for (size_t i = 0; i < std::min(count * width, first.size()); ++i) {
    if (specified(i / width)) comparisons.Equal(second(0, i), first(0, i), {second, 0, i});
  }
  return comparisons;
}

Comparisons SameTokens(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask) {
  return SameTokens(c, a, b, ask, ExtentOf(c, "S"));
}

void ChangeRows(const Case& c, Tensors& inputs, size_t first) {
  Tensor<double>& x = InputNamed(inputs, "x");
  for (size_t i = first * ExtentOf(c, "M"); i < x.data.size(); ++i)
    x.data[i] = -2 * x.data[i] + 0.0;
}

Property LaterTokensDoNotCount(TokenChange change) {
  return {"later_tokens_do_not_count", "with mask=causal a token does not depend on later tokens",
          [change](const Case& c, const Tensors& inputs, const Ask& ask) {
            const size_t S = ExtentOf(c, "S");
            if (TextOf(c, "mask") != "causal" || S < 2) return Comparisons();
            Tensors other = inputs;
            change(c, other, S - 1);
            return SameTokens(c, inputs, other, ask, S - 1);
          }};
}

Property PaddingIsNotRead(TokenChange change) {
  return {"padding_is_not_read", "tokens beyond key_length do not change the others",
          [change](const Case& c, const Tensors& inputs, const Ask& ask) {
            const size_t read = TokensRead(c, "S");
            if (read == ExtentOf(c, "S")) return Comparisons();
            Tensors other = inputs;
            change(c, other, read);
            return SameTokens(c, inputs, other, ask, read);
          }};
}

}  // namespace sextant::oracle
