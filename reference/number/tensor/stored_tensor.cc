#include "reference/number/tensor/stored_tensor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "reference/number/tensor/element_vectors.h"

namespace sextant {
namespace {

template <class T>
void Widen(const void* elements, size_t first, std::span<double> to) {
  const T* const from = static_cast<const T*>(elements) + first;
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<double>(from[i]);
}

template <class T>
void Narrow(std::span<const double> values, T* to) {
  for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
}

}  // namespace

StoredTensor::StoredTensor(std::string name, DType dtype, Shape shape)
    : name_(std::move(name)),
      dtype_(dtype),
      shape_(std::move(shape)),
      bytes_(new std::byte[CountOf(shape_) * SizeOf(dtype)]) {}

StoredTensor::StoredTensor(const NamedTensor& tensor)
    : StoredTensor(tensor.name, tensor.dtype, tensor.values.shape) {
  Write(0, tensor.values.data);
}

void StoredTensor::Write(size_t first, std::span<const double> values) {
  switch (dtype_) {
    case DType::kF64:
      return Narrow(values, As<double>() + first);
    case DType::kF32:
      return sextant::Narrow(values, As<float>() + first);
    case DType::kI64:
      return Narrow(values, As<int64_t>() + first);
    case DType::kBF16:
      return NarrowToBF16(values, As<uint16_t>() + first);
    case DType::kF16:
      std::ranges::transform(values, As<uint16_t>() + first, [](double x) {
        return static_cast<uint16_t>(EncodeBits(DType::kF16, x));
      });
  }
}

TensorReader::TensorReader(const NamedTensor& tensor)
    : name_(&tensor.name),
      shape_(&tensor.values.shape),
      dtype_(tensor.dtype),
      kept_as_(DType::kF64),
      elements_(tensor.values.data.data()) {}

TensorReader::TensorReader(const StoredTensor& tensor)
    : name_(&tensor.name()),
      shape_(&tensor.shape()),
      dtype_(tensor.dtype()),
      kept_as_(tensor.dtype()),
      elements_(tensor.As<std::byte>()) {}

void TensorReader::Read(size_t first, std::span<double> to) const {
  ReadKept(first, to);
  for (const auto& change : changes_)
    for (size_t i = 0; i < to.size(); ++i) to[i] = (*change)(first + i, to[i]);
}

TensorReader TensorReader::Changed(std::shared_ptr<const ElementChange> change) const {
  TensorReader changed = *this;
  changed.changes_.push_back(std::move(change));
  return changed;
}

void TensorReader::ReadKept(size_t first, std::span<double> to) const {
  switch (kept_as_) {
    case DType::kF64:
      return Widen<double>(elements_, first, to);
    case DType::kF32:
      return sextant::Widen(static_cast<const float*>(elements_) + first, to);
    case DType::kI64:
      return Widen<int64_t>(elements_, first, to);
    case DType::kBF16:
      return WidenBF16(static_cast<const uint16_t*>(elements_) + first, to);
    case DType::kF16:
      std::transform(static_cast<const uint16_t*>(elements_) + first,
                     static_cast<const uint16_t*>(elements_) + first + to.size(), to.begin(),
                     [](uint16_t bits) { return DecodeBits(DType::kF16, bits); });
  }
}

NamedTensor TensorReader::Values() const {
  NamedTensor tensor{name(), dtype_, Tensor<double>(shape())};
  Read(0, tensor.values.data);
  return tensor;
}

Tensors ValuesOf(const TensorReaders& tensors) {
  Tensors values;
  for (const TensorReader& tensor : tensors) values.push_back(tensor.Values());
  return values;
}

}  // namespace sextant
