// Large tensors: each element takes the size of its dtype, not that of a double.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant {

class StoredTensor {
 public:
  StoredTensor(std::string name, DType dtype, Shape shape);  // the elements have no values yet
  explicit StoredTensor(const NamedTensor& tensor);
  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // The elements, row-major. T has the size of the dtype; i64 is int64_t.
  template <class T>
  T* As() {
    return reinterpret_cast<T*>(bytes_.get());
  }
  template <class T>
  const T* As() const {
    return reinterpret_cast<const T*>(bytes_.get());
  }
  // Sets the elements from element `first` on to values of the dtype.
  void Write(size_t first, std::span<const double> values);

 private:
  std::string name_;
  DType dtype_;
  Shape shape_;
  std::unique_ptr<std::byte[]> bytes_;
};
using StoredTensors = std::vector<StoredTensor>;

// A tensor whose elements are not in memory: they are drawn, or in a file. Several threads may
// read.
class TensorSource {
 public:
  TensorSource(std::string name, DType dtype, Shape shape)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}
  virtual ~TensorSource() = default;
  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // Sets `to` to the values of the elements from element `first` on. Throws Error if one is not a
  // value of the dtype, or cannot be read.
  virtual void Read(size_t first, std::span<double> to) const = 0;

 private:
  std::string name_;
  DType dtype_;
  Shape shape_;
};

// A number instead of element `flat`, whose value is x.
using ElementChange = std::function<double(size_t flat, double x)>;

// Reads a tensor, however its elements are kept. The tensor must outlive this.
class TensorReader {
 public:
  explicit TensorReader(const NamedTensor& tensor);
  explicit TensorReader(const StoredTensor& tensor);
  explicit TensorReader(const TensorSource& tensor);
  const std::string& name() const { return *name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return *shape_; }
  // Sets `to` to the values of the elements from element `first` on.
  void Read(size_t first, std::span<double> to) const;
  NamedTensor Values() const;
  // Reads the same tensor, and changes what it reads.
  TensorReader Changed(std::shared_ptr<const ElementChange> change) const;

 private:
  void ReadKept(size_t first, std::span<double> to) const;

  const std::string* name_;
  const Shape* shape_;
  DType dtype_, kept_as_;  // kept_as_: the type of an element in memory
  const void* elements_;
  const TensorSource* source_ = nullptr;                       // instead of elements_
  std::vector<std::shared_ptr<const ElementChange>> changes_;  // the first is made first
};
using TensorReaders = std::vector<TensorReader>;

// One reader for each tensor, which may be stored.
template <class Tensor>
TensorReaders ReadersOf(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}
Tensors ValuesOf(const TensorReaders& tensors);

}  // namespace sextant
