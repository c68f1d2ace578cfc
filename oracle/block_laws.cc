#include "oracle/block_laws.h"

#include <algorithm>
#include <cmath>

#include "oracle/laws.h"

namespace sextant::oracle {
namespace {

constexpr size_t kY = 0;

void Zero(Tensors& inputs, const char* name) { std::ranges::fill(In(inputs, name).data, 0); }

bool Has(const Tensors& inputs, const char* name) {
  return std::ranges::find(inputs, name, &NamedTensor::name) != inputs.end();
}

Findings CompareY(const Case& c, const Tensors& inputs, const Tensors& others, const Ask& ask) {
  const Response a = ask(c, inputs), b = ask(c, others);
  Findings findings;
  for (size_t i = 0; i < a.outputs[kY].values.data.size(); ++i) {
    findings.Equal(a(kY, i), b(kY, i), {b, kY, i});
  }
  return findings;
}

// Branches that add nothing; with eps 0 their norms would divide 0 by 0.
Findings CheckIdentity(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (NumberOf(c, "eps", 0) == 0) return {};
  Tensors idle = inputs;
  Zero(idle, "wo");
  Zero(idle, "down");
  const Response y = ask(c, idle);
  const auto& x = In(idle, "x").data;
  Findings findings;
  for (size_t i = 0; i < x.size(); ++i) findings.Equal(y(kY, i), x[i], {y, kY, i});
  return findings;
}

// The last token is another: nothing before it changes.
Findings CheckPast(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t S = ExtentOf(c, "S"), M = ExtentOf(c, "M");
  if (TextOf(c, "mask") != "causal" || S < 2) return {};
  Tensors other = inputs;
  auto& x = In(other, "x").data;
  for (size_t i = (S - 1) * M; i < S * M; ++i) x[i] = -x[i];
  const Response a = ask(c, inputs), b = ask(c, other);
  Findings findings;
  for (size_t i = 0; i < (S - 1) * M; ++i) findings.Equal(a(kY, i), b(kY, i), {b, kY, i});
  return findings;
}

Findings CheckShift(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors later = inputs;
  for (double& p : In(later, "position").data) p += 64;
  return CompareY(c, inputs, later, ask);
}

Findings CheckValues(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors values = inputs, output = inputs;
  In(values, "wv") = Times(In(values, "wv"), 2);
  In(output, "wo") = Times(In(output, "wo"), 2);
  return CompareY(c, values, output, ask);
}

// Blocks of `size` rows in reverse order.
void ReverseRows(Tensor<double>& tensor, size_t size) {
  const std::vector<double> from = tensor.data;
  const size_t count = size == 0 ? 0 : from.size() / size;
  for (size_t i = 0; i < from.size(); ++i)
    tensor.data[i] = from[(count - 1 - i / size) * size + i % size];
}

// Of every row the blocks of `size` columns in reverse order.
void ReverseColumns(Tensor<double>& tensor, size_t size) {
  const std::vector<double> from = tensor.data;
  const size_t width = tensor.shape.back();
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t column = i % width;
    tensor.data[i] = from[i - column + (width / size - 1 - column / size) * size + column % size];
  }
}

Findings CheckHidden(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors other = inputs;
  for (const char* name : {"gate", "up"}) ReverseRows(In(other, name), ExtentOf(c, "M"));
  if (ExtentOf(c, "F") > 0) ReverseColumns(In(other, "down"), 1);
  return CompareY(c, inputs, other, ask);
}

Findings CheckHeads(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t D = ExtentOf(c, "D"), M = ExtentOf(c, "M");
  if (D == 0 || ExtentOf(c, "H") == 0) return {};
  Tensors other = inputs;
  for (const char* name : {"wq", "wk", "wv"}) ReverseRows(In(other, name), D * M);
  for (const char* name : {"q_norm", "k_norm"}) {
    if (Has(other, name)) ReverseRows(In(other, name), D);
  }
  ReverseColumns(In(other, "wo"), D);
  return CompareY(c, inputs, other, ask);
}

Defect Exchanged(std::string name, std::string why, const char* a, const char* b) {
  return ChangedInputs(std::move(name), std::move(why), [a, b](const Case&, Tensors& inputs) {
    if (In(inputs, a).shape != In(inputs, b).shape) return false;
    std::swap(In(inputs, a), In(inputs, b));
    return true;
  });
}

Defect Transposed(std::string name, std::string why, const char* weight) {
  return ChangedInputs(std::move(name), std::move(why), [weight](const Case&, Tensors& inputs) {
    Tensor<double>& w = In(inputs, weight);
    if (w.shape[0] != w.shape[1]) return false;
    const Tensor<double> from = w;
    for (size_t i = 0; i < w.shape[0]; ++i) {
      for (size_t j = 0; j < w.shape[1]; ++j) w(i, j) = from(j, i);
    }
    return true;
  });
}

// Scores are divided by the root of another width, where no scale is asked for.
Defect ScaledBy(std::string name, std::string why, double (*width)(double M, double H, double D)) {
  return ChangedWord(std::move(name), std::move(why), [width](const Case& c) -> std::string {
    const auto extent = [&c](const char* letter) {
      return static_cast<double>(ExtentOf(c, letter));
    };
    const double of = width(extent("M"), extent("H"), extent("D"));
    if (!TextOf(c, "scale").empty() || !(of > 0) || std::isinf(of)) return "";
    return "scale=" + PrintValue(1 / std::sqrt(of));
  });
}

}  // namespace

std::vector<Property> BlockLaws() {
  return {{"idle_branches_change_nothing", "with wo and down 0 the block is the identity",
           CheckIdentity},
          {"no_token_changes_its_past", "under a causal mask another last token changes no other",
           CheckPast},
          {"translation_invariant", "only differences of positions count", CheckShift},
          {"values_pass_linearly", "twice wv gives what twice wo does", CheckValues},
          {"hidden_channels_in_any_order", "rows of gate and up, and columns of down, in reverse",
           CheckHidden},
          {"heads_in_any_order", "heads in reverse, with their columns of wo", CheckHeads}};
}

std::vector<Defect> BlockInputDefects() {
  return {
      Exchanged("gate_exchanged_with_up", "the other half goes through the activation", "gate",
                "up"),
      Exchanged("keys_exchanged_with_values",
                "wk and wv are swapped, as when a fused weight is "
                "split in another order",
                "wk", "wv"),
      Exchanged("queries_exchanged_with_keys", "wq and wk are swapped", "wq", "wk"),
      Exchanged("norms_exchanged", "the two norms' weights are swapped", "attn_norm", "mlp_norm"),
      Transposed("wq_transposed", "wq is multiplied from the other side", "wq"),
      Transposed("wo_transposed", "wo is multiplied from the other side", "wo"),
      ChangedInputs("positions_of_first", "every token stands where the first does",
                    [](const Case&, Tensors& inputs) {
                      auto& p = In(inputs, "position").data;
                      if (p.empty()) return false;
                      std::ranges::fill(p, p[0]);
                      return true;
                    }),
      ScaledBy("scale_of_whole_width", "scores are divided by the root of H D",
               [](double, double H, double D) { return H * D; }),
      ScaledBy("scale_of_model",
               "scores are divided by the root of M/H, which is not the heads' own width "
               "(ggml-org/llama.cpp#8444)",
               [](double M, double H, double) { return M / H; }),
      ChangedRecipe("norms_in_bf16", "norms sum and divide in bf16 whatever the dtype",
                    "square=bf16 sum=bf16 rsqrt=bf16"),
      ChangedRecipe("softmax_in_bf16", "the softmax is computed in bf16 whatever the dtype",
                    "softmax=bf16"),
      ChangedRecipe("sums_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("handed_on_in_bf16", "tensors are handed on in bf16 whatever the dtype",
                    "keep=bf16"),
      ChangedRecipe("angles_in_bf16", "angles are computed in bf16", "angle=bf16"),
  };
}

}  // namespace sextant::oracle
