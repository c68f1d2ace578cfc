// Deviations that are a choice: one of several ways to compute a part, which no number tells from
// each other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/deviation.h"
#include "reference/case/operation.h"

namespace sextant::oracle {

struct Choice {
  std::string sentence;
  // Empty if it changes nothing, or is not valid in this case.
  std::function<std::optional<Hypothesis>(const Hypothesis& base)> changed;
};
// The most likely first.
Deviation OneOf(const std::string& name, const std::string& factor,
                const std::vector<Choice>& choices);

// The Op of `base`, whose operation is a Wrapped<Op, false>.
template <class Op>
const Op& OpOf(const Hypothesis& base) {
  return dynamic_cast<const TypedOperation<Op>&>(*base.operation).op();
}
// `base` with another Op.
template <class Op>
Hypothesis Edited(const Hypothesis& base, const std::function<void(Op& op)>& edit) {
  Op changed = OpOf<Op>(base);
  edit(changed);
  return {std::make_shared<Wrapped<Op, false>>(changed), base.inputs, base.recipe};
}
template <class Op>
Choice Edit(const std::string& sentence, std::function<void(Op& op)> edit) {
  return {sentence, [edit = std::move(edit)](const Hypothesis& base) {
            return std::optional(Edited<Op>(base, edit));
          }};
}

}  // namespace sextant::oracle
