#include "reference/case/out_of_memory.h"

namespace sextant {

size_t ElementsOf(const Case& c) {
  size_t elements = 0;
  for (const auto* side : {&c.signature().inputs, &c.signature().outputs}) {
    for (const TensorSpec& tensor : *side) elements += CountOf(c.ShapeOf(tensor));
  }
  return elements;
}

OutOfMemory::OutOfMemory(const Case& c)
    : Error("out of memory: the tensors of this case have ", ElementsOf(c),
            " elements and need at least ", sizeof(double) * ElementsOf(c),
            " bytes: ", c.ToString()) {}

}  // namespace sextant
