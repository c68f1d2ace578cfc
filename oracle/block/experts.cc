#include "reference/block/experts.h"

#include <algorithm>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/code_defects.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

// Twice the weights give twice y; they multiply x before a function that is not linear else.
Comparisons CheckWeightsTwice(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  if (TextOf(c, "weigh") == "output")
    ExpectProportional(ask(c, Multiplied(inputs, {"weights"}, 2)), 2, ask(c, inputs), comparisons);
  return comparisons;
}

// Twice down gives twice y.
Comparisons CheckDownTwice(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), doubled = ask(c, Multiplied(inputs, {"down"}, 2));
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i)
    comparisons.Equal(y(0, i) * 2, doubled(0, i), {doubled, 0, i});
  return comparisons;
}

// The slots of a token in reverse order give the same y.
Comparisons CheckSlotsReversed(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors reversed = inputs;
  for (const char* name : {"indices", "weights"}) {
    Tensor<double>& slots = InputNamed(reversed, name);
    for (size_t n = 0; n < slots.shape[0]; ++n) {
      const auto first = slots.data.begin() + static_cast<ptrdiff_t>(n * slots.shape[1]);
      std::reverse(first, first + static_cast<ptrdiff_t>(slots.shape[1]));
    }
  }
  const Response y = ask(c, inputs), other = ask(c, reversed);
  return EachEqual(other, [&](size_t i) { return y(0, i); });
}

// The experts in reverse order, and the indices with them, give the same y.
Comparisons CheckExpertsReversed(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors reversed = inputs;
  for (const char* name : {"gate", "up", "down"}) {
    Tensor<double>& experts = InputNamed(reversed, name);
    ReverseBlocks(experts, 1, experts.data.size() / std::max<size_t>(1, experts.shape[0]));
  }
  const auto last = static_cast<double>(ExtentOf(c, "E") - 1);
  for (double& e : InputNamed(reversed, "indices").data) e = last - e;
  const Response y = ask(c, inputs), other = ask(c, reversed);
  return EachEqual(other, [&](size_t i) { return y(0, i); });
}

// Changes indices[N,K] or weights[N,K], given N, K and E.
using ChangeSlots = void (*)(Tensor<double>& slots, size_t E);
Defect ChangedSlots(std::string name, std::string why, std::string input, ChangeSlots change,
                    bool across = false) {
  Defect defect = ChangedInputs(std::move(name), std::move(why),
                                [input = std::move(input), change](const Case& c, Tensors& inputs) {
                                  Tensor<double>& slots = InputNamed(inputs, input);
                                  const Tensor<double> right = slots;
                                  change(slots, ExtentOf(c, "E"));
                                  const DType dtype = FindInput(inputs, input)->dtype;
                                  for (double& x : slots.data)
                                    if (dtype != DType::kI64) x = RoundTo(dtype, x);
                                  return slots.data != right.data;
                                });
  return across ? AcrossSlices(std::move(defect)) : defect;
}

void ForEachToken(Tensor<double>& slots, const auto& change) {
  const size_t K = slots.shape[1];
  for (size_t n = 0; K > 0 && n < slots.shape[0]; ++n) change(&slots.data[n * K], K);
}

std::vector<Defect> ExpertsDefects() {
  return {
      FilledInput("weights_ignored", "every expert counts once", "weights", 1),
      ChangedSlots("first_expert_only", "only the first expert of a token counts", "weights",
                   [](Tensor<double>& slots, size_t) {
                     ForEachToken(slots, [](double* of, size_t K) {
                       for (size_t k = 1; k < K; ++k) of[k] = 0;
                     });
                   }),
      ChangedSlots("last_expert_missing", "the last expert of a token is not added", "weights",
                   [](Tensor<double>& slots, size_t) {
                     ForEachToken(slots, [](double* of, size_t K) {
                       if (K > 1) of[K - 1] = 0;
                     });
                   }),
      ChangedSlots("weights_of_next_slot", "an expert has the weight of the next one of the token",
                   "weights",
                   [](Tensor<double>& slots, size_t) {
                     ForEachToken(slots,
                                  [](double* of, size_t K) { std::rotate(of, of + 1, of + K); });
                   }),
      ChangedSlots(
          "weights_of_next_token", "a token has the weights of the next one", "weights",
          [](Tensor<double>& slots, size_t) { RotateRows(slots); }, true),
      ChangedSlots("renormalised", "the weights of a token are divided by their sum", "weights",
                   [](Tensor<double>& slots, size_t) {
                     ForEachToken(slots, [](double* of, size_t K) {
                       double sum = 0;
                       for (size_t k = 0; k < K; ++k) sum += of[k];
                       for (size_t k = 0; sum != 0 && k < K; ++k) of[k] /= sum;
                     });
                   }),
      ChangedSlots("next_expert", "the indices count from 1", "indices",
                   [](Tensor<double>& slots, size_t E) {
                     for (double& e : slots.data)
                       e = static_cast<double>((static_cast<size_t>(e) + 1) % E);
                   }),
      ChangedSlots(
          "experts_of_next_token", "the tokens are not put back into their order", "indices",
          [](Tensor<double>& slots, size_t) { RotateRows(slots); }, true),
      ChangedSlots("last_expert_lost", "the last expert is taken for another one", "indices",
                   [](Tensor<double>& slots, size_t E) {
                     for (double& e : slots.data)
                       if (e + 1 == static_cast<double>(E)) e = 0;
                   }),
      ExchangedInputs("halves_exchanged", "gate and up are exchanged", {{"gate", "up"}}),
      MissingInput("down_missing", "down is not read", "down"),
      ChangedRecipe("weights_in_bf16", "the weights multiply in bf16", "weigh=bf16"),
      ChangedRecipe("sum_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("sum_in_f16", "dot products are accumulated in f16", "dot=f16"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Experts>() {
  return {
      .properties = {{"weights_in_proportion", "twice the weights give twice y", CheckWeightsTwice},
                     {"down_in_proportion", "twice down gives twice y", CheckDownTwice},
                     {"slots_in_any_order", "the order of a token's experts does not matter",
                      CheckSlotsReversed},
                     {"experts_in_any_order", "the numbers of the experts do not matter",
                      CheckExpertsReversed}},
      .defects = ExpertsDefects()};
}

}  // namespace sextant::oracle
