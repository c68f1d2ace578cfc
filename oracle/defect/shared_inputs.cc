#include "oracle/defect/shared_inputs.h"

#include <algorithm>

namespace sextant::oracle {
namespace {

size_t CountElements(const Tensors& tensors) {
  size_t count = 0;
  for (const NamedTensor& tensor : tensors) count += tensor.values.data.size();
  return count;
}

}  // namespace

SharedInputs SharedInputs::With(const Tensors& of_case, Tensors changed) {
  SharedInputs inputs(&of_case);
  inputs.changes_ = std::make_shared<Changes>();
  inputs.changes_->tensors = std::make_shared<const Tensors>(std::move(changed));
  return inputs;
}

SharedInputs SharedInputs::Changed(size_t i, ElementChange change) const {
  SharedInputs inputs = *this;
  inputs.changes_ = std::make_shared<Changes>();
  if (changes_) {
    inputs.changes_->tensors = changes_->tensors;
    inputs.changes_->of_elements = changes_->of_elements;
  }
  inputs.changes_->of_elements.emplace_back(
      i, std::make_shared<const ElementChange>(std::move(change)));
  return inputs;
}

const NamedTensor& SharedInputs::WithoutElementChanges(size_t i) const {
  const NamedTensor& of_case = (*tensors_)[i];
  if (!changes_ || !changes_->tensors) return of_case;
  const auto at = std::ranges::find(*changes_->tensors, of_case.name, &NamedTensor::name);
  return at == changes_->tensors->end() ? of_case : *at;
}

bool SharedInputs::HasElementChanges(size_t i) const {
  return changes_ && std::ranges::any_of(changes_->of_elements,
                                         [i](const auto& change) { return change.first == i; });
}

SharedInputs::operator const Tensors&() const {
  if (!changes_) return *tensors_;
  std::call_once(changes_->once, [&] { changes_->all = ValuesOf(Readers()); });
  return changes_->all;
}

TensorReaders SharedInputs::Readers() const {
  TensorReaders readers;
  for (size_t i = 0; i < tensors_->size(); ++i) readers.emplace_back(WithoutElementChanges(i));
  if (!changes_) return readers;
  for (const auto& [i, change] : changes_->of_elements) readers[i] = readers[i].Changed(change);
  return readers;
}

const NamedTensor& SharedInputs::operator[](size_t i) const {
  return HasElementChanges(i) ? static_cast<const Tensors&>(*this)[i] : WithoutElementChanges(i);
}

size_t SharedInputs::ElementsBeyond(const SharedInputs& base) const {
  const auto changed = [](const SharedInputs& of) {
    return of.changes_ ? of.changes_->tensors : nullptr;
  };
  const size_t own = own_ && own_ != base.own_ ? CountElements(*own_) : 0;
  return own +
         (changed(*this) && changed(*this) != changed(base) ? CountElements(*changed(*this)) : 0);
}

}  // namespace sextant::oracle
