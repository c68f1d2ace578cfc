#include "tools/c/dl_tensor.h"

#include <cstddef>

#include "reference/base/error.h"
#include "reference/base/value_text.h"

namespace sextant::tools {
namespace {

constexpr int kMostAxes = 64;

static_assert(RowOf(DType::kF32).dlpack == kDLFloat && RowOf(DType::kBF16).dlpack == kDLBfloat &&
              RowOf(DType::kI64).dlpack == kDLInt);

ElementType TypeOf(const std::string& name, const DLDataType& type) {
  constexpr auto kNames = NamesOf(ElementType());
  for (size_t i = 0; i < kNames.size(); ++i) {
    const DLDataType known = DataTypeOf(static_cast<ElementType>(i));
    if (known.code == type.code && known.bits == type.bits && known.lanes == type.lanes)
      return static_cast<ElementType>(i);
  }
  throw Error(name, " has DLPack type code ", int{type.code}, " of ", int{type.bits}, " bits and ",
              int{type.lanes}, " lanes, expected, in one lane:", NamesText(kNames));
}

}  // namespace

DLDataType DataTypeOf(ElementType type) {
  auto bits = static_cast<uint8_t>(8 * SizeOf(type));
  int code = type < ElementType::kU64 ? kDLInt : kDLUInt;
  if (type < ElementType::kI64) {
    code = RowOf(static_cast<DType>(type)).dlpack;
    bits = static_cast<uint8_t>(RowOf(static_cast<DType>(type)).bits);
  }
  return {static_cast<uint8_t>(code), bits, 1};
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
