#include "reference/attention/cross_attention.h"

#include <algorithm>

#include "oracle/attention/heads_defects.h"
#include "oracle/attention/heads_properties.h"
#include "oracle/attention/measured/cross.h"
#include "oracle/attention/token_properties.h"
#include "oracle/diagnosis/catalog_entry.h"

namespace sextant::oracle {
namespace {

// Reversing the order of the tokens of memory that are read does not change y.
Comparisons CheckMemoryOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors reversed = inputs;
  ReverseRows(InputNamed(reversed, "memory"), TokensRead(c, "T"));
  return SameAnswer(c, inputs, reversed, ask);
}

Comparisons CheckQueryOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors reversed = inputs;
  const size_t S = ExtentOf(c, "S"), M = ExtentOf(c, "M");
  ReverseRows(InputNamed(reversed, "x"), S);
  const Response y = ask(c, inputs), other = ask(c, reversed);
  Comparisons comparisons;
  for (size_t i = 0; i < S * M; ++i) {
    comparisons.Equal(other(0, (S - 1 - i / M) * M + i % M), y(0, i), {y, 0, i});
  }
  return comparisons;
}

// The content of memory beyond key_length does not change y.
Comparisons CheckPadding(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t read = TokensRead(c, "T"), M = ExtentOf(c, "M");
  if (read == ExtentOf(c, "T")) return {};
  Tensors other = inputs;
  auto& memory = InputNamed(other, "memory").data;
  for (size_t i = read * M; i < memory.size(); ++i) memory[i] = -2 * memory[i] + 0.0;
  return SameAnswer(c, inputs, other, ask);
}

// If all tokens of memory are equal, y is the same for every query.
Comparisons CheckEqualMemory(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors equal = inputs;
  const size_t M = ExtentOf(c, "M"), read = TokensRead(c, "T");
  auto& memory = InputNamed(equal, "memory").data;
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = memory[i % M];
  const Response y = ask(c, equal);
  Comparisons comparisons;
  for (size_t i = M; read > 0 && i < y.size(); ++i) {
    comparisons.Equal(y(0, i), y(0, i % M), {y, 0, i});
  }
  return comparisons;
}

struct MutatedCrossAttention : CrossAttention {
  enum class Mutation {
    kNone,
    kQueriesFromMemory,
    kKeysFromQueries,    // keys come from x, values from memory
    kMemoryFromQueries,  // keys and values come from x: self-attention
    kCausal,             // memory has the causal mask of the decoder
    kResidual            // x is added to y
  } mutation = Mutation::kNone;
  HeadsMutation heads = HeadsMutation::kNone;

  // The first `count` rows of x, repeated if there are fewer, or 0 if there are none.
  template <class Real>
  static Tensor<Real> RowsOf(const Tensor<Real>& x, size_t count) {
    Tensor<Real> rows({count, x.shape[1]});
    for (size_t i = 0; !x.data.empty() && i < rows.data.size(); ++i)
      rows.data[i] = x.data[i % x.data.size()];
    return rows;
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& memory,
                  const MultiHeadWeights<Real>& weights, Tensor<Real>& y, Tensor<Real>& q,
                  Tensor<Real>& k, Tensor<Real>& v, Tensor<Real>& mean) const {
    const Tensor<Real> of_memory = RowsOf(memory, x.shape[0]), of_x = RowsOf(x, memory.shape[0]);
    const bool of_queries = mutation == Mutation::kMemoryFromQueries;
    const Sequences<Real> sequences{
        mutation == Mutation::kQueriesFromMemory ? of_memory : x,
        of_queries || mutation == Mutation::kKeysFromQueries ? of_x : memory,
        of_queries ? of_x : memory};
    Attention attention = MakeAttention();
    attention.align = Align::kTopLeft;
    if (mutation == Mutation::kCausal) attention.mask = Mask::kCausal;
    y = MutatedHeads<Real>(heads, attention, sequences, weights)
            .Answer({.q = q, .k = k, .v = v, .mean = mean});
    if (mutation == Mutation::kResidual) y = StoredSum(x, y);
  }
};

std::vector<Defect> CrossAttentionFormulaDefects() {
  using Mutation = MutatedCrossAttention::Mutation;
  return Joined<Defect>(
      {MutatedFormulas<MutatedCrossAttention>({
           {"queries_of_memory", "queries are projected from memory too",
            Mutation::kQueriesFromMemory},
           {"keys_of_queries", "keys are projected from x", Mutation::kKeysFromQueries},
           {"self_attention", "keys and values are projected from x: memory is not read",
            Mutation::kMemoryFromQueries},
           {"causal", "the causal mask of the decoder is applied to memory", Mutation::kCausal},
           {"residual_inside", "x is added to y, and the block adds it again", Mutation::kResidual},
       }),
       MutatedFormulas<MutatedCrossAttention, &MutatedCrossAttention::heads>(HeadsMutations())});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<CrossAttention>() {
  return {
      .properties = Joined<Property>(
          {{{"memory_in_any_order", "y does not depend on the order of memory", CheckMemoryOrder},
            {"queries_in_any_order", "reversing the tokens of x reverses y", CheckQueryOrder},
            {"padding_is_not_read", "memory beyond key_length does not change y", CheckPadding},
            {"equal_memory", "if all tokens of memory are equal, y is the same for every query",
             CheckEqualMemory}},
           HeadsProperties(0)}),
      .defects = Joined<Defect>(
          {CrossAttentionFormulaDefects(), HeadsInputDefects(), HeadsRecipeDefects()}),
      .measurements = {MeasureCross}};
}

}  // namespace sextant::oracle
