// The inputs of a hypothesis: changed ones, or those of the case, which must outlive it. Copying
// large inputs for each of a hundred hypotheses takes longer than evaluating them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "reference/number/tensor/stored_tensor.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

class SharedInputs {
 public:
  SharedInputs(Tensors changed)  // implicit: whoever changes inputs holds them
      : own_(std::make_shared<Tensors>(std::move(changed))), tensors_(own_.get()) {}
  static SharedInputs Of(const Tensors& of_case) { return SharedInputs(&of_case); }
  // Those of the case but for some, which are found by their names.
  static SharedInputs With(const Tensors& of_case, Tensors changed);
  // These, but for elements of input i, which are changed whenever they are read.
  SharedInputs Changed(size_t i, ElementChange change) const;
  // All of them: the first call copies those of the case if some are changed.
  operator const Tensors&() const;
  operator InputTensors() const { return static_cast<const Tensors&>(*this); }
  TensorReaders Readers() const;  // without copies
  const NamedTensor& operator[](size_t i) const;
  NamedTensor& operator[](size_t i) {  // to change it: copies inputs of others first
    if (changes_ || own_.use_count() != 1) *this = SharedInputs(ValuesOf(Readers()));
    return (*own_)[i];
  }
  // The elements that were copied or computed to make these of `base`.
  size_t ElementsBeyond(const SharedInputs& base) const;

 private:
  struct Changes {
    std::shared_ptr<const Tensors> tensors;  // instead of those of the case; null: none
    std::vector<std::pair<size_t, std::shared_ptr<const ElementChange>>> of_elements;  // in order
    std::once_flag once;
    Tensors all;  // made when they are first needed
  };
  explicit SharedInputs(const Tensors* of_case) : tensors_(of_case) {}
  const NamedTensor& WithoutElementChanges(size_t i) const;
  bool HasElementChanges(size_t i) const;

  std::shared_ptr<Tensors> own_;  // null: those of the case
  const Tensors* tensors_;
  std::shared_ptr<Changes> changes_;  // of *tensors_; null: none
};

}  // namespace sextant::oracle
