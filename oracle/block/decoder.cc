#include "reference/block/decoder.h"

#include <algorithm>

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/token_properties.h"
#include "oracle/block/block_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/rope/scaling_defects.h"
#include "reference/block/decoder_formula.h"

namespace sextant::oracle {
namespace {

constexpr size_t kLogits = 0, kStates = 1;

// If the branches add nothing, every state is the embedding.
Comparisons CheckIdle(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (NumberOf(c, "eps", 0) == 0) return {};
  const Response answer = ask(c, Filled(inputs, {"wo", "down"}, 0));
  Comparisons comparisons;
  if (!answer.Has(kStates)) return comparisons;
  const SpecifiedTokens specified(c);
  const size_t M = ExtentOf(c, "M"), first = ExtentOf(c, "S") * M;
  for (size_t i = first; i < answer.size(kStates); ++i) {
    if (specified(i % first / M))
      comparisons.Equal(answer(kStates, i), answer(kStates, i - first), {answer, kStates, i});
  }
  return comparisons;
}

// Replaces every token from `first` on by the next one in the vocabulary.
void ChangeTokens(const Case& c, Tensors& inputs, size_t first) {
  const auto V = static_cast<double>(ExtentOf(c, "V"));
  auto& token = InputNamed(inputs, "token").data;
  for (size_t s = first; s < token.size(); ++s) token[s] = token[s] + 1 < V ? token[s] + 1 : 0;
}

// Reversing the numbers of the tokens, with the rows of table and head, reverses the logits.
Comparisons CheckNames(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t V = ExtentOf(c, "V"), M = ExtentOf(c, "M");
  const double last = static_cast<double>(V) - 1;
  Tensors renamed = Mapped(inputs, "token", [last](double token) { return last - token; });
  for (const char* name : {"table", "head"}) ReverseBlocks(InputNamed(renamed, name), 1, M);
  const Response a = ask(c, inputs), b = ask(c, renamed);
  const SpecifiedTokens specified(c);
  Comparisons comparisons;
  for (size_t i = 0; i < a.size(kLogits); ++i) {
    if (!specified(i / V)) continue;
    comparisons.Equal(a(kLogits, i), b(kLogits, i / V * V + (V - 1 - i % V)), {a, kLogits, i});
  }
  return comparisons;
}

Comparisons CheckDecoderShift(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameTokens(c, inputs, Mapped(inputs, "position", [](double p) { return p + 64; }), ask);
}

struct MutatedDecoder : Decoder {
  BlockMutation of_blocks = BlockMutation::kNone;
  enum class End { kRight, kNormMissing, kLogitsInBf16 } end = End::kRight;

  template <class Real>
  void operator()(const Tensor<double>& token, const Tensor<double>& position,
                  const DecoderWeights<Real>& weights, Tensor<Real>& logits,
                  Tensor<Real>& states) const {
    const auto run = [&](const Tensor<Real>& x, const BlockWeights<Real>& w,
                         const BlockOutputs<Real>& out) {
      RunMutated(of_blocks, *this, x, position, w, out);
    };
    const Tensor<Real> last = RunBlocks(*this, token, weights, states, run);
    const bool bare = end == End::kNormMissing;
    ToLogits(*this, bare ? last : Normed(Norm(), last, weights.last_norm), weights.head, logits);
    if (end != End::kLogitsInBf16) return;
    for (Real& logit : logits.data) logit = ConvertedTo(DType::kBF16, logit);
  }
};

std::vector<Defect> DecoderFormulaDefects() {
  using End = MutatedDecoder::End;
  return Joined<Defect>(
      {MutatedFormulas<MutatedDecoder, &MutatedDecoder::end>({
           {"last_norm_missing", "the last state is not normalised before the logits",
            End::kNormMissing},
           {"logits_in_bf16", "logits are rounded to bf16 before they are stored in f32",
            End::kLogitsInBf16},
       }),
       MutatedFormulas<MutatedDecoder, &MutatedDecoder::of_blocks>(BlockMutations())});
}

// Block l uses the parts of the stacked weights that belong to block from(l, L).
Defect OtherBlocks(std::string name, std::string why, size_t (*from)(size_t l, size_t L)) {
  return ChangedInputs(std::move(name), std::move(why), [from](const Case& c, Tensors& inputs) {
    const size_t L = ExtentOf(c, "L");
    if (L < 2) return false;
    for (const TensorSpec& spec : c.signature().inputs) {
      if (spec.extents.front() != "L") continue;
      auto& data = InputNamed(inputs, spec.name).data;
      const std::vector<double> before = data;
      const size_t part = data.size() / L;
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = before[from(i / part, L) * part + i % part];
    }
    return true;
  });
}

std::vector<Defect> InputDefects() {
  return {
      LengthOneMore(),
      OtherBlocks("blocks_in_reverse", "the blocks are in reverse order",
                  [](size_t l, size_t L) { return L - 1 - l; }),
      OtherBlocks("one_block_for_all", "every block has the weights of the first one",
                  [](size_t, size_t) { return size_t{0}; }),
      RepeatedInputs("head_tied", "the head is the embedding table, as if both were tied",
                     {{"table", "head"}}),
      ChangedInput(
          "token_before", "every token is replaced by the one before it", "token",
          [](Tensor<double>& token) { std::shift_right(token.data.begin(), token.data.end(), 1); }),
      ClampedInput("negative_position_clamped", "a negative position is replaced by 0", "position"),
      ExchangedInputs("gate_exchanged_with_up", "up is activated instead of gate",
                      {{"gate", "up"}}),
      ChangedRecipe("intermediates_in_bf16", "intermediates are stored in bf16 for every dtype",
                    "keep=bf16"),
      ChangedRecipe("dot_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Decoder>() {
  return {.properties = {{"idle_branches_change_nothing",
                          "with wo = 0 and down = 0 every state is the embedding", CheckIdle},
                         LaterTokensDoNotCount(ChangeTokens),
                         PaddingIsNotRead(ChangeTokens),
                         {"tokens_are_names",
                          "reversing the numbers of the tokens reverses the logits", CheckNames},
                         {"translation_invariant", "only differences of positions matter",
                          CheckDecoderShift}},
          .defects = Joined<Defect>({DecoderFormulaDefects(), InputDefects(), DynamicDefects()})};
}

}  // namespace sextant::oracle
