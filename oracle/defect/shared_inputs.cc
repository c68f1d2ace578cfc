#include "oracle/defect/shared_inputs.h"

#include <algorithm>

namespace sextant::oracle {

SharedInputs SharedInputs::With(const Tensors& of_case, Tensors changed) {
  SharedInputs inputs(&of_case);
  inputs.changes_ = std::make_shared<Changes>();
  inputs.changes_->changed = std::move(changed);
  return inputs;
}

const NamedTensor* SharedInputs::ChangedAt(size_t i) const {
  if (!changes_) return nullptr;
  const auto at = std::ranges::find(changes_->changed, (*tensors_)[i].name, &NamedTensor::name);
  return at == changes_->changed.end() ? nullptr : &*at;
}

SharedInputs::operator const Tensors&() const {
  if (!changes_) return *tensors_;
  std::call_once(changes_->once, [&] {
    for (size_t i = 0; i < tensors_->size(); ++i) changes_->all.push_back((*this)[i]);
  });
  return changes_->all;
}

TensorReaders SharedInputs::Readers() const {
  TensorReaders readers;
  for (size_t i = 0; i < tensors_->size(); ++i) readers.emplace_back((*this)[i]);
  return readers;
}

const NamedTensor& SharedInputs::operator[](size_t i) const {
  const NamedTensor* const changed = ChangedAt(i);
  return changed ? *changed : (*tensors_)[i];
}

}  // namespace sextant::oracle
