// The weights and the outputs of a decoder block by their names in its signature, and parts of
// stacks of weights. Visit: reference/case/operation.h.
#pragma once

#include <optional>
#include <vector>

#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

template <class Norm, class Matrix>
struct BlockWeightsOf {
  Norm attn_norm, mlp_norm;
  Matrix wq, wk, wv, wo, gate, up, down;
  std::optional<Norm> q_norm{}, k_norm{}, attn_post_norm{}, mlp_post_norm{};

  void Visit(auto&& v) {
    v("attn_norm", attn_norm);
    v("mlp_norm", mlp_norm);
    v("wq", wq);
    v("wk", wk);
    v("wv", wv);
    v("wo", wo);
    v("gate", gate);
    v("up", up);
    v("down", down);
    v("q_norm", q_norm);
    v("k_norm", k_norm);
    v("attn_post_norm", attn_post_norm);
    v("mlp_post_norm", mlp_post_norm);
  }
};
template <class Real>
using BlockWeights = BlockWeightsOf<Tensor<Real>, Weights<Real>>;

template <class Values>
struct BlockOutputsOf {
  Values y, normed, q_rotated, k_rotated, attention_out, middle, hidden;

  void Visit(auto&& v) {
    v("y", y);
    v("normed", normed);
    v("q_rotated", q_rotated);
    v("k_rotated", k_rotated);
    v("attention_out", attention_out);
    v("middle", middle);
    v("hidden", hidden);
  }
};
template <class Real>
using BlockOutputs = BlockOutputsOf<Tensor<Real>*>;

// Part i of a stack, along its first axis.
template <class T>
Tensor<T> PartOf(const Tensor<T>& stack, size_t i) {
  const Shape shape(stack.shape.begin() + 1, stack.shape.end());
  const auto count = static_cast<ptrdiff_t>(CountOf(shape));
  const auto first = stack.data.begin() + static_cast<ptrdiff_t>(i) * count;
  return {shape, std::vector<T>(first, first + count)};
}
template <class Real>
Weights<Real> PartOf(const Weights<Real>& stack, size_t i) {
  return stack.Part(i);
}
template <class Stack>
std::optional<Stack> PartOf(const std::optional<Stack>& stack, size_t i) {
  return stack ? std::optional(PartOf(*stack, i)) : std::nullopt;
}

}  // namespace sextant
