// Memory of a tensor that is given to code of others.
#pragma once

#include <dlpack/dlpack.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/number/tensor/tensor_view.h"

namespace sextant::tools {

// A dense row-major tensor between two guards, regions with a known content. A write into a guard
// is noticed, and numbers read from a guard are huge or NaN.
class GuardedTensor {
 public:
  // Every element is NaN, or -1 for integers; or each byte is `fill`. It takes the memory of
  // `former`, if that has the same number of bytes. Throws std::bad_alloc.
  GuardedTensor(DType dtype, const Shape& shape, std::optional<unsigned char> fill = {},
                std::unique_ptr<GuardedTensor> former = nullptr);
  GuardedTensor(const GuardedTensor&) = delete;
  GuardedTensor& operator=(const GuardedTensor&) = delete;

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::span<char> bytes() const { return {memory_.get() + kGuard, size_}; }
  DLTensor* dl() { return &dl_; }  // valid as long as this object
  const DLTensor* dl() const { return &dl_; }

  // Where a guard was changed: "12 bytes after its end"; empty if it was not.
  std::string Damage() const;

 private:
  static constexpr size_t kGuard = 4096;  // bytes on each side
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };

  DType dtype_;
  Shape shape_;
  size_t size_;
  std::unique_ptr<char, Free> memory_;
  std::vector<int64_t> extents_, strides_;
  DLTensor dl_;
};

}  // namespace sextant::tools
