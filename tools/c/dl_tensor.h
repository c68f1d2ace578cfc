// Tensors of DLPack as views.
#pragma once

#include <dlpack/dlpack.h>

#include <string>

#include "reference/number/tensor/tensor_view.h"

namespace sextant::tools {

// The view of a tensor in CPU memory, with the strides of a dense tensor if it has none. `name` is
// for messages. Throws Error for null pointers, other devices, element types that no operation has,
// vectors as elements, and impossible shapes.
TensorView ViewOf(const std::string& name, const DLTensor* tensor);

DLDataType DataTypeOf(ElementType type);

}  // namespace sextant::tools
