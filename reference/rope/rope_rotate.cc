#include "reference/rope/rope_rotate.h"

#include <concepts>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "reference/case/operation.h"
#include "reference/number/real.h"
#include "reference/rope/plain_rotation.h"

namespace sextant {

void CheckWindow(int64_t offset, int64_t rotary_width, int64_t head_width) {
  if (rotary_width % 2 != 0) {
    throw Error("dimension R is ", rotary_width, ", expected a multiple of 2",
                rotary_width == head_width ? " (unless given, R is D)" : "");
  }
  if (rotary_width > head_width) {
    throw Error("dimension R is ", rotary_width, ", expected at most D, which is ", head_width);
  }
  if (offset < 0 || offset > head_width - rotary_width) {
    throw Error("offset is ", offset, ", expected 0 to ", head_width - rotary_width,
                " (D - R: the window of rotated channels lies inside the head)");
  }
}

void RopeRotate::Check() const { CheckWindow(offset, R.value, D.value); }

namespace {

// The table of one position, for the direction: cos and sin, [R/2] each.
template <class Real>
struct TableRow {
  TableRow(const Tensor<Real>& cos_table, const Tensor<Real>& sin_table, size_t row,
           Direction direction) {
    const size_t half = cos_table.shape[2];
    const auto at = static_cast<std::ptrdiff_t>(row * half);
    cos.assign(cos_table.data.begin() + at, cos_table.data.begin() + at + half);
    for (size_t k = 0; k < half; ++k) {
      const Real& s = sin_table.data[row * half + k];
      sin.push_back(direction == Direction::kForward ? s : -s);
    }
  }
  std::vector<Real> cos, sin;
};

// Rotates a window by one row of a table: x, y [R].
template <class Real>
void RotateWindow(Pairing pairing, const TableRow<Real>& row, std::span<const Real> x,
                  std::span<Real> y) {
  for (size_t k = 0; k < row.cos.size(); ++k) {
    const auto [i, j] = ChannelsOf(pairing, k, x.size());
    std::tie(y[i], y[j]) = RotatedPair(x[i], x[j], {row.cos[k], row.sin[k]});
  }
}

}  // namespace

template <class Real>
void RopeRotate::operator()(const Tensor<Real>& x, const Tensor<Real>& cos, const Tensor<Real>& sin,
                            Tensor<Real>& y) const {
  const size_t rotary_width = 2 * cos.shape[2], width = x.shape[3], positions = x.shape[2];
  if (rotary_width < width) y.data = x.data;
  const ScopedStep at(Step::kRotate);
  for (size_t row = 0; row < x.shape[0] * positions; ++row) {
    const TableRow<Real> table(cos, sin, row, direction);
    std::optional<PlainRotation> plain;
    if constexpr (std::same_as<Real, Counted>) plain.emplace(table.cos, table.sin);
    for (size_t h = 0; h < x.shape[1]; ++h) {
      const size_t head = row / positions * x.shape[1] + h;
      const size_t first =
          (head * positions + row % positions) * width + static_cast<size_t>(offset);
      const std::span<const Real> from(&x.data[first], rotary_width);
      const std::span<Real> to(&y.data[first], rotary_width);
      if constexpr (std::same_as<Real, Counted>) {
        if ((*plain)(pairing, from, to)) continue;
      }
      RotateWindow(pairing, table, from, to);
    }
  }
}

template void RopeRotate::operator()(const Tensor<Interval>&, const Tensor<Interval>&,
                                     const Tensor<Interval>&, Tensor<Interval>&) const;
template void RopeRotate::operator()(const Tensor<Counted>&, const Tensor<Counted>&,
                                     const Tensor<Counted>&, Tensor<Counted>&) const;
template void RopeRotate::operator()(const Tensor<Rounded>&, const Tensor<Rounded>&,
                                     const Tensor<Rounded>&, Tensor<Rounded>&) const;
template void RopeRotate::operator()(const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                                     const Tensor<BoostReal>&, Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<RopeRotate>() {
  return Wrap<RopeRotate>();
}

}  // namespace sextant
