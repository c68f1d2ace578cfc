#include "tools/c/guarded_tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "tools/c/dl_tensor.h"

namespace sextant::tools {
namespace {

constexpr size_t kAlignment = 64;  // bytes
constexpr char kGuarded = '\xFD';  // about -4e37 in f32 and bf16, NaN in f16

// A byte that fills elements with NaN, or with -1; with -120 in i8, -8 in i4 and -0 in f4_e2m1.
char UnwrittenIn(DType dtype) {
  if (SizeOf(dtype) > 1) return '\xFF';
  return HasNaN(dtype) ? static_cast<char>(EncodeBits(dtype, kNaN)) : '\x88';
}

std::string BytesText(size_t count, const char* where) {
  return std::to_string(count) + (count == 1 ? " byte " : " bytes ") + where;
}

}  // namespace

GuardedTensor::GuardedTensor(DType dtype, const Shape& shape, std::optional<unsigned char> fill,
                             std::unique_ptr<GuardedTensor> former)
    : dtype_(dtype),
      shape_(shape),
      size_(CountOf(shape) * SizeOf(dtype)),
      extents_(shape.begin(), shape.end()),
      strides_(RowMajorStrides(shape)) {
  const size_t all = (2 * kGuard + size_ + kAlignment - 1) / kAlignment * kAlignment;
  if (former && former->size_ == size_) {
    memory_ = std::move(former->memory_);
  } else {
    memory_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, all)));
  }
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), kGuarded, all);
  std::ranges::fill(bytes(), fill ? static_cast<char>(*fill) : UnwrittenIn(dtype));
  for (auto* list : {&extents_, &strides_}) list->reserve(1);  // no null pointer for a scalar
  dl_ = {.data = bytes().data(),
         .device = {kDLCPU, 0},
         .ndim = static_cast<int32_t>(shape.size()),
         .dtype = DataTypeOf(ElementTypeOf(dtype)),
         .shape = extents_.data(),
         .strides = strides_.data(),
         .byte_offset = 0};
}

std::string GuardedTensor::Damage() const {
  const auto is_changed = [](char byte) { return byte != kGuarded; };
  const std::span before(memory_.get(), kGuard), after(bytes().data() + size_, kGuard);
  const size_t changed_before = static_cast<size_t>(std::ranges::count_if(before, is_changed));
  const size_t changed_after = static_cast<size_t>(std::ranges::count_if(after, is_changed));
  std::string text;
  if (changed_before > 0) text = BytesText(changed_before, "before its start");
  if (changed_before > 0 && changed_after > 0) text += " and ";
  if (changed_after > 0) text += BytesText(changed_after, "after its end");
  return text;
}

}  // namespace sextant::tools
