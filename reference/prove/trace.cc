#include "reference/prove/trace.h"

#include <algorithm>

namespace sextant {
namespace {

thread_local Tracing* current = nullptr;

}  // namespace

Tracing::Tracing(const Tensors& given) : given_(given), previous_(current) { current = this; }
Tracing::~Tracing() { current = previous_; }

const NamedTensor* Tracing::Find(std::string_view name) {
  if (!current) return nullptr;
  const auto at = std::ranges::find(current->given_, name, &NamedTensor::name);
  if (at == current->given_.end()) return nullptr;
  current->used_ = true;
  return &*at;
}

}  // namespace sextant
