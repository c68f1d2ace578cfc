#include "tools/api/memory.h"

namespace sextant::tools {

Error OutOfMemory(const Case& c) {
  size_t elements = 0;
  for (const auto* side : {&c.info().signature.inputs, &c.info().signature.outputs}) {
    for (const TensorSpec& tensor : *side) elements += CountOf(c.ShapeOf(tensor));
  }
  return Error("out of memory: the tensors of this case have ", elements,
               " elements and need at least ", sizeof(double) * elements, " bytes: ", c.ToString());
}

}  // namespace sextant::tools
