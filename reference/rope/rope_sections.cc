#include "reference/rope/rope_sections.h"

#include <algorithm>
#include <numeric>

#include "reference/case/operation.h"
#include "reference/rope/rope_table.h"

namespace sextant {

void RopeSections::Check() const {
  RopeAttributes::Check();
  if (static_cast<int64_t>(sections.size()) != A.value || sections.empty()) {
    throw Error("sections is ", PrintValue(sections),
                ", expected one number for each of the A = ", A.value, " axes of position");
  }
  CheckSections(sections, order, R.value / 2);
}

void CheckSections(const std::vector<int64_t>& sections, SectionOrder order, int64_t pairs) {
  const std::string text = PrintValue(sections);
  const auto A = static_cast<int64_t>(sections.size());
  if (std::ranges::any_of(sections, [](int64_t n) { return n < 0; })) {
    throw Error("sections is ", text, ", expected no negative number");
  }
  // Before they are summed: a sum of numbers of at most R/2 cannot overflow.
  const bool fits = std::ranges::all_of(sections, [&](int64_t n) { return n <= pairs; });
  if (!fits || std::accumulate(sections.begin(), sections.end(), int64_t{0}) != pairs) {
    throw Error("sections is ", text, ", expected a sum of ", pairs, " (R/2 pairs)");
  }
  if (order == SectionOrder::kContiguous) return;
  if (order == SectionOrder::kTrailing) {
    const bool same = std::ranges::all_of(sections.begin() + 1, sections.end(),
                                          [&](int64_t n) { return n == sections[1]; });
    if (same) return;
    throw Error("sections is ", text, ", expected the same number for axes 1 to ", A - 1,
                ", which alternate with order=trailing");
  }
  for (int64_t a = 1; a < A; ++a) {
    const int64_t n = sections[static_cast<size_t>(a)], most = (pairs - a + A - 1) / A;
    if (n > most) {
      throw Error("sections is ", text, ", expected at most ", most, " for axis ", a,
                  ": with order=interleaved it has the pairs ", a, " + ", A, " j < ", pairs);
    }
  }
}

std::vector<size_t> AxesOfPairs(const std::vector<int64_t>& sections, SectionOrder order,
                                int64_t pairs) {
  std::vector<size_t> axes;
  const size_t count = sections.size(), all = static_cast<size_t>(pairs);
  if (order == SectionOrder::kTrailing) {
    const size_t alternating = all - static_cast<size_t>(sections[0]);
    for (size_t k = 0; k < all; ++k) axes.push_back(k < alternating ? 1 + k % (count - 1) : 0);
    return axes;
  }
  if (order == SectionOrder::kContiguous) {
    for (size_t a = 0; a < sections.size(); ++a) {
      axes.insert(axes.end(), static_cast<size_t>(sections[a]), a);
    }
    return axes;
  }
  for (size_t k = 0; k < all; ++k) {
    const size_t a = k % count;
    axes.push_back(k < count * static_cast<size_t>(sections[a]) ? a : 0);
  }
  return axes;
}

Tensor<double> PositionsOfAxis(const Tensor<double>& position, size_t axis) {
  Tensor<double> positions({position.shape[0], position.shape[2]});
  for (size_t b = 0; b < position.shape[0]; ++b) {
    for (size_t s = 0; s < position.shape[2]; ++s) positions(b, s) = position(b, axis, s);
  }
  return positions;
}

template <class Real>
void RopeSections::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                              Tensor<Real>& y) const {
  const std::vector<size_t> axes = Axes();
  Tensor<Real> inv_freq({axes.size()}), factor;
  Frequencies()(inv_freq, factor);
  const Shape table = {position.shape[0], position.shape[2], axes.size()};
  Tensor<Real> cos(table), sin(table);
  for (size_t k = 0; k < axes.size(); ++k) {
    RopeTable::FillPair(PositionsOfAxis(position, axes[k]), inv_freq(k), factor(), k, cos, sin);
  }
  Rotation()(x, cos, sin, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeSections>() {
  return Wrap<RopeSections>();
}

}  // namespace sextant
