#include "fast/simd/stream.h"

#include <unistd.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/simd/stream.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifndef SEXTANT_FAST_STREAM_LINE_
#define SEXTANT_FAST_STREAM_LINE_
namespace sextant::fast {
namespace {
constexpr size_t kLine = 64;
}  // namespace
}  // namespace sextant::fast
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Copies whole cache lines to aligned memory. StreamCopy copies the two ends with memcpy.
void CopyLines(const uint8_t* HWY_RESTRICT from, uint8_t* HWY_RESTRICT to, size_t bytes,
               uintptr_t next) {
  const hn::CappedTag<uint8_t, 64> d;
  const size_t N = hn::Lanes(d);
  for (size_t line = 0; line < bytes; line += kLine) {
    hwy::Prefetch(reinterpret_cast<const void*>(next + line));
    for (size_t i = line; i < line + kLine; i += N) hn::Stream(hn::LoadU(d, from + i), d, to + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(CopyLines);

namespace {
// Larger values reported by the system are not used: glibc 2.36 adds up the caches of all chiplets
// of an AMD processor, but a core fills only one of them.
constexpr size_t kLargestCache = size_t{64} << 20;
}  // namespace

bool ShouldStream(size_t bytes) noexcept {
  static const size_t threshold = [] {
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return std::min(cache > 0 ? static_cast<size_t>(cache) : kLargestCache, kLargestCache) / 4 * 3;
  }();
  return bytes > threshold;
}

void StreamCopy(const void* from, void* to, size_t bytes, const void* next) noexcept {
  if (bytes == 0) return;  // the pointers may be null
  const auto* source = static_cast<const uint8_t*>(from);
  auto* target = static_cast<uint8_t*>(to);
  const size_t misaligned = reinterpret_cast<uintptr_t>(target) % kLine;
  const size_t head = misaligned == 0 ? 0 : std::min(bytes, kLine - misaligned);
  const size_t lines = (bytes - head) / kLine * kLine, tail = bytes - head - lines;
  std::memcpy(target, source, head);
  HWY_DYNAMIC_DISPATCH(CopyLines)
  (source + head, target + head, lines,
   reinterpret_cast<uintptr_t>(next == nullptr ? source : next));
  std::memcpy(target + head + lines, source + head + lines, tail);
}

void StreamFence() noexcept { hwy::FlushStream(); }

}  // namespace sextant::fast
#endif
