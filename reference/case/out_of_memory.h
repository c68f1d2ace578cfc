// The size of a case, and errors of cases that need more memory than there is.
#pragma once

#include <new>

#include "reference/base/error.h"
#include "reference/case/case.h"

namespace sextant {

// The number of elements of all tensors of the case, inputs and outputs.
size_t ElementsOf(const Case& c);

// Names the case and the sizes of its tensors.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const Case& c);
};

// Returns the result of `work` on a case. Throws OutOfMemory if memory runs out.
template <class Work>
auto WithinMemory(const Case& c, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(c);
  }
}

}  // namespace sextant
