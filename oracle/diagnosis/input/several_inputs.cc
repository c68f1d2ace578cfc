#include "oracle/diagnosis/input/several_inputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_axes.h"
#include "oracle/diagnosis/input/input_memory.h"
#include "oracle/diagnosis/input/input_roundings.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

// The changes of some inputs, in words.
struct SeveralChanges {
  std::string text;
  std::vector<std::pair<size_t, std::function<Numbers(const Tensors& inputs)>>> of;
};

// One of them; a choice that changes no number is none.
Deviation OneOfSeveral(const std::string& name, const std::vector<SeveralChanges>& all) {
  std::vector<Choice> choices;
  for (const SeveralChanges& changes : all)
    choices.push_back({changes.text, [changes](const Hypothesis& base) {
                         const Tensors right = base.inputs;
                         Tensors changed = right;
                         bool changes_one = false;
                         for (const auto& [index, apply] : changes.of) {
                           Numbers numbers = apply(right);
                           changes_one |= numbers != right[index].values.data;
                           changed[index].values.data = std::move(numbers);
                         }
                         Hypothesis model = base;
                         model.inputs = std::move(changed);
                         return changes_one ? std::optional(std::move(model)) : std::nullopt;
                       }});
  return OneOf(name, "inputs", choices);
}

SeveralChanges Rounded(const Tensors& inputs, const Rounding& rounding) {
  SeveralChanges changes{"all inputs are " + rounding.text, {}};
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dtype != DType::kI64)
      changes.of.emplace_back(
          i, [i, rounding](const Tensors& all) { return rounding.apply(all[i].values); });
  return changes;
}

}  // namespace

std::vector<Deviation> AllRounded(const Tensors& inputs) {
  const auto is_real = [](const NamedTensor& input) { return input.dtype != DType::kI64; };
  std::vector<Deviation> deviations;
  if (std::ranges::count_if(inputs, is_real) < 2) return deviations;
  for (const DType format : {DType::kBF16, DType::kF16, DType::kF32}) {
    const auto is_narrower = [&](const NamedTensor& input) {
      return is_real(input) && UnitRoundoffOf(format) > UnitRoundoffOf(input.dtype);
    };
    if (std::ranges::any_of(inputs, is_narrower))
      deviations.push_back(OneOfSeveral("inputs_in_" + std::string(NameOf(format)),
                                        {Rounded(inputs, ToFormat(format))}));
  }
  std::vector<SeveralChanges> few_bits;
  for (const Rounding& rounding : UsualRoundings()) few_bits.push_back(Rounded(inputs, rounding));
  deviations.push_back(OneOfSeveral("inputs_changed", few_bits));
  return deviations;
}

std::vector<Deviation> CachesReordered(const Case& c, const Tensors& inputs) {
  if (!HasInput(inputs, "k") || !HasInput(inputs, "v")) return {};
  const auto index_of = [&](const char* name) {
    return static_cast<size_t>(std::ranges::find(inputs, name, &NamedTensor::name) -
                               inputs.begin());
  };
  const size_t k = index_of("k"), v = index_of("v");
  const auto changes_of = [&](size_t i, const auto& orders) {
    return orders(c.signature().inputs[i], inputs[i].values.shape, i);
  };
  std::vector<SeveralChanges> changes;
  for (const auto& orders : {ExchangedAxes, InputOrders, RareInputOrders}) {
    std::vector<InputChange> of_k = changes_of(k, orders), of_v = changes_of(v, orders);
    for (size_t i = 0; i < of_k.size(); ++i) {
      // Those along axes that both have; axes that are exchanged have the same places.
      const auto same = orders == ExchangedAxes && of_k.size() == of_v.size()
                            ? of_v.begin() + static_cast<std::ptrdiff_t>(i)
                            : std::ranges::find(of_v, of_k[i].text, &InputChange::text);
      if (same != of_v.end())
        changes.push_back({"k " + of_k[i].text + ", and v in the same way",
                           {{k, of_k[i].apply}, {v, same->apply}}});
    }
  }
  return {OneOfSeveral("caches_changed", changes)};
}

}  // namespace sextant::oracle
