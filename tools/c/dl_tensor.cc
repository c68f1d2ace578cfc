#include "tools/c/dl_tensor.h"

#include <algorithm>
#include <cstddef>

#include "reference/base/error.h"

namespace sextant::tools {
namespace {

constexpr int kMostAxes = 64;

struct Known {
  uint8_t code, bits;
  ElementType type;
};
constexpr Known kKnown[] = {{kDLFloat, 64, ElementType::kF64}, {kDLFloat, 32, ElementType::kF32},
                            {kDLFloat, 16, ElementType::kF16}, {kDLBfloat, 16, ElementType::kBF16},
                            {kDLInt, 64, ElementType::kI64},   {kDLInt, 32, ElementType::kI32},
                            {kDLInt, 16, ElementType::kI16},   {kDLInt, 8, ElementType::kI8},
                            {kDLUInt, 64, ElementType::kU64},  {kDLUInt, 32, ElementType::kU32},
                            {kDLUInt, 16, ElementType::kU16},  {kDLUInt, 8, ElementType::kU8}};

ElementType TypeOf(const std::string& name, const DLDataType& type) {
  for (const Known& known : kKnown) {
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) return known.type;
  }
  throw Error(name, " has DLPack type code ", int{type.code}, " of ", int{type.bits}, " bits and ",
              int{type.lanes}, " lanes, expected floats of 64, 32 or 16 bits, bfloat of 16, or ",
              "integers of 64 to 8 bits, in one lane");
}

}  // namespace

DLDataType DataTypeOf(ElementType type) {
  const Known& known = *std::ranges::find(kKnown, type, &Known::type);
  return {known.code, known.bits, 1};
}

TensorView ViewOf(const std::string& name, const DLTensor* tensor) {
  if (!tensor) throw Error(name, ": the tensor is a null pointer");
  const int device = tensor->device.device_type;
  if (device != kDLCPU && device != kDLCUDAHost && device != kDLROCMHost) {
    throw Error(name, " is on the device of DLPack type ", device,
                ", expected memory of the CPU (1): copy it first");
  }
  TensorView view{.type = TypeOf(name, tensor->dtype)};
  if (tensor->ndim < 0 || tensor->ndim > kMostAxes)
    throw Error(name, " has ", tensor->ndim, " axes, expected 0 to ", kMostAxes);
  if (tensor->ndim > 0 && !tensor->shape) throw Error(name, ": its shape is a null pointer");
  for (int axis = 0; axis < tensor->ndim; ++axis) {
    if (tensor->shape[axis] < 0) {
      throw Error(name, " has extent ", tensor->shape[axis], " on axis ", axis,
                  ", expected 0 or more");
    }
    view.shape.push_back(static_cast<size_t>(tensor->shape[axis]));
  }
  if (CountOf(view.shape) > 0 && !tensor->data) throw Error(name, ": its data are a null pointer");
  view.data = static_cast<const std::byte*>(tensor->data) + tensor->byte_offset;
  view.strides = tensor->strides
                     ? std::vector<int64_t>(tensor->strides, tensor->strides + tensor->ndim)
                     : RowMajorStrides(view.shape);
  return view;
}

}  // namespace sextant::tools
