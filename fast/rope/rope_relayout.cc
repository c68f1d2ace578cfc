#include "fast/rope/rope_relayout.h"

#include <cstring>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/stream.h"
#include "reference/rope/rope_relayout.h"

namespace sextant::fast {

void RelayoutRows(const Relayout& r, const void* weight, size_t row_bytes, void* y) noexcept {
  const auto* source = static_cast<const char*>(weight);
  auto* target = static_cast<char*>(y);
  const bool stream = ShouldStream(2 * r.H * r.D * row_bytes);
  const auto copy = [&](size_t from, size_t to, size_t rows) {
    if (rows * row_bytes == 0) return;  // the pointers may be null
    if (stream) {
      StreamCopy(source + from * row_bytes, target + to * row_bytes, rows * row_bytes);
    } else {
      std::memcpy(target + to * row_bytes, source + from * row_bytes, rows * row_bytes);
    }
  };
  for (size_t h = 0; h < r.H; ++h) {
    const size_t head = h * r.D, window = head + r.offset, end = r.offset + r.R;
    copy(head, head, r.offset);
    for (size_t k = 0; k < r.R / 2; ++k) {
      const PairOfChannels a = ChannelsOf(r.from, k, r.R), b = ChannelsOf(r.to, k, r.R);
      copy(window + a.first, window + b.first, 1);
      copy(window + a.second, window + b.second, 1);
    }
    copy(head + end, head + end, r.D - end);
  }
  if (stream) StreamFence();
}

namespace {

StoredTensors RunRopeRelayout(const Case& c, const StoredTensors& inputs) {
  const RopeRelayout op = StructOf<RopeRelayout>(c);
  const auto size = [](const Dimension& d) { return static_cast<size_t>(d.value); };
  const Relayout r{size(op.H), size(op.D), size(op.R), static_cast<size_t>(op.offset),
                   op.from,    op.to};
  StoredTensors y = OutputsOf(c);
  RelayoutRows(r, inputs[0].As<std::byte>(), inputs[0].shape()[1] * SizeOf(inputs[0].dtype()),
               y[0].As<std::byte>());
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeRelayout>() {
  return {DeclinesMixedTypes, RunRopeRelayout};
}

}  // namespace sextant::fast
