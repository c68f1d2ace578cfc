// The inputs of a hypothesis: changed ones, or those of the case, which must outlive it. Copying
// large inputs for each of a hundred hypotheses takes longer than evaluating them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "reference/number/tensor/stored_tensor.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

class SharedInputs {
 public:
  SharedInputs(Tensors changed)  // implicit: whoever changes inputs holds them
      : own_(std::make_shared<Tensors>(std::move(changed))), tensors_(own_.get()) {}
  static SharedInputs Of(const Tensors& of_case) { return SharedInputs(&of_case); }
  // Those of the case but for some, which are found by their names.
  static SharedInputs With(const Tensors& of_case, Tensors changed);
  // All of them: the first call copies those of the case if some are changed.
  operator const Tensors&() const;
  TensorReaders Readers() const;  // without copies
  const NamedTensor& operator[](size_t i) const;
  NamedTensor& operator[](size_t i) {  // to change it: copies inputs of others first
    if (own_.use_count() != 1) *this = SharedInputs(Tensors(static_cast<const Tensors&>(*this)));
    return (*own_)[i];
  }

 private:
  struct Changes {
    Tensors changed;
    std::once_flag once;
    Tensors all;  // made when they are first needed
  };
  explicit SharedInputs(const Tensors* of_case) : tensors_(of_case) {}
  // Null if the tensor is that of the case.
  const NamedTensor* ChangedAt(size_t i) const;

  std::shared_ptr<Tensors> own_;  // null: those of the case
  const Tensors* tensors_;
  std::shared_ptr<Changes> changes_;  // of *tensors_; null: none
};

}  // namespace sextant::oracle
