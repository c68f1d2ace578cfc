// Attention with measured parts: the keys that each query sees, and the heads that it reads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "oracle/defect/defect.h"
#include "reference/attention/attention_rows.h"

namespace sextant::oracle {

// How often query s of batch b counts key t: 0 for a key that it does not see, usually 1.
using KeyCounts = std::function<double(size_t b, size_t s, size_t t)>;

struct MeasuredParts {
  KeyCounts counts;  // null: those of the mask
  // The key and value head of every query head; empty: those of the formula.
  std::vector<size_t> key_heads, value_heads;
  std::shared_ptr<const Tensors> inputs;  // of the whole case: a slice has only its own heads
};

// Attend with these parts. Instantiated for Counted and Rounded.
template <class Real>
void AttendMeasured(const MeasuredParts& parts, const AttentionAttributes& op,
                    const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse);

// Changes the parts of an operation that computes with them.
using EditParts = std::function<void(MeasuredParts&)>;
using WithParts =
    std::function<std::shared_ptr<const Operation>(const Operation&, const EditParts&)>;
// ByParts is an operation with the member `parts`.
template <class ByParts>
WithParts WithPartsOf() {
  return [](const Operation& operation, const EditParts& edit) {
    ByParts changed = dynamic_cast<const TypedOperation<ByParts>&>(operation).op();
    edit(changed.parts);
    return std::make_shared<Wrapped<ByParts, false>>(changed);
  };
}

}  // namespace sextant::oracle
