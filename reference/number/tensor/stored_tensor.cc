#include "reference/number/tensor/stored_tensor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "reference/number/tensor/element_vectors.h"

namespace sextant {
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
  if (dtype_ == DType::kF64) {
    std::ranges::copy(values, As<double>() + first);
    return;
  }
  if (dtype_ == DType::kF32) return Narrow(values, As<float>() + first);
  if (dtype_ == DType::kBF16) return NarrowToBF16(values, As<uint16_t>() + first);
  WithBitsOf(dtype_, [&]<class Bits>(Bits) {
    std::ranges::transform(values, As<Bits>() + first,
                           [this](double x) { return static_cast<Bits>(EncodeBits(dtype_, x)); });
  });
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

TensorReader::TensorReader(const TensorSource& tensor)
    : name_(&tensor.name()),
      shape_(&tensor.shape()),
      dtype_(tensor.dtype()),
      kept_as_(tensor.dtype()),
      elements_(nullptr),
      source_(&tensor) {}

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
  if (source_) return source_->Read(first, to);
  if (kept_as_ == DType::kF64) {
    std::copy_n(static_cast<const double*>(elements_) + first, to.size(), to.begin());
    return;
  }
  if (kept_as_ == DType::kF32) return Widen(static_cast<const float*>(elements_) + first, to);
  if (kept_as_ == DType::kBF16)
    return WidenBF16(static_cast<const uint16_t*>(elements_) + first, to);
  WithBitsOf(kept_as_, [&]<class Bits>(Bits) {
    const Bits* const from = static_cast<const Bits*>(elements_) + first;
    std::transform(from, from + to.size(), to.begin(),
                   [this](Bits bits) { return DecodeBits(kept_as_, bits); });
  });
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
