// Writing past the caches. Out of cache an ordinary store first reads the line it will overwrite; a
// streaming store does not, which saves a third of the traffic of an out-of-place operation. In
// cache it costs twice as much. So: by size.
#pragma once

#include <cstddef>

namespace sextant::fast {

// True if an operation that reads and writes `bytes` in all, out of place, had better stream: they
// exceed three quarters of the last-level cache (the threshold that glibc chose for its memcpy).
bool ShouldStream(size_t bytes) noexcept;

// Copies to memory that will not be read soon; the ranges must not overlap. Visible to other
// threads after the next StreamFence. Meanwhile it fetches `next`, what will be read afterwards (as
// many bytes; they need not exist): reading and writing overlap, worth 5 % of a rotation at 1 GiB.
void StreamCopy(const void* from, void* to, size_t bytes, const void* next = nullptr) noexcept;
void StreamFence() noexcept;

// Rows computed at a time when streaming: into a buffer of this size in the first-level cache,
// whose copy is streamed; so no kernel needs a streaming variant, whatever its layout and
// alignment.
inline constexpr size_t kStreamBuffer = 8192;  // bytes

}  // namespace sextant::fast
