#include "reference/prove/proof.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>

#include "reference/number/counted/counted_span.h"
#include "reference/number/counted/enclosed_numbers.h"
#include "reference/number/exact/decision.h"
#include "reference/number/exact/interval.h"
#include "reference/number/rounded/rounded.h"

namespace sextant {
namespace {

// 184 bits decide nearly all roundings (below 192 bits MPFR has special code for three words).
// Exact sums of products of doubles need up to 4200 bits.
constexpr int kPrecisions[] = {184, 384, 768, 1536, 3072, 6144};

// A part of the window, counted from its beginning.
Slice InWindow(Slice slice, const Slice& window) {
  for (const auto& [letter, range] : window.ranges) slice.ranges.at(letter).first -= range.first;
  return slice;
}

void Set(const Decision& found, double radius, GoldenTensor& g, size_t i) {
  g.value.data[i] = found.value;
  g.high.data[i] = found.high;
  g.low.data[i] = found.low;
  g.radius.data[i] = radius;
}

// Updates element i by the enclosure x.
void Settle(const Interval& x, GoldenTensor& g, size_t i) {
  if (g.radius.data[i] == 0) return;
  if (!x.IsSpecified()) return Set({kNaN, kNaN, 0}, 0, g, i);
  if (const auto decision = Decide(x, g.dtype)) return Set(*decision, 0, g, i);
  const double middle = Middle(x);
  Set({RoundTo(g.dtype, middle), middle, 0}, RadiusAround(x, middle, 0), g, i);
}

// Level 1 of element i, which level 2 does not decide. False if it stays open.
bool EncloseElement(const Counted& x, GoldenTensor& g, size_t i) {
  const DoubleDouble center = x.center();
  const double size = std::abs(center.high);
  const bool in_range = size >= 0x1p-900 && size <= 0x1p900;  // double_double.h
  if (!in_range || x.saturated() || !std::isfinite(x.Permitted()) || x.drift() == 0) return false;
  Set({RoundTo(g.dtype, center), center.high, center.low}, -x.drift(), g, i);
  return true;
}

// Evaluates the slice at that precision. Throws Undecided if the precision does not suffice.
void Enclose(const ProofState& proof, const Slice& slice, int bits) {
  const ScopedPrecision precision(bits);
  const auto outputs = Evaluated<Interval>(proof, slice);
  for (size_t o = 0; o < outputs.size(); ++o) {
    const auto indices = proof.IndicesOf(o, slice);
    for (size_t i = 0; i < indices.size(); ++i)
      Settle(outputs[o].values.data[i], proof.golden[o], indices[i]);
  }
}

// The number of elements of a slice: all, the open ones, and those without an enclosure.
struct Openness {
  size_t all = 0, open = 0, unknown = 0;
};
Openness OpennessOf(const ProofState& proof, const Slice& slice) {
  Openness count;
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    for (const auto& [first, size] : proof.RunsOf(o, slice)) {
      const double* const radius = &proof.golden[o].radius.data[first];
      count.all += size;
      for (size_t i = 0; i < size; ++i) {
        count.open += radius[i] > 0;
        count.unknown += radius[i] == kInfinity;
      }
    }
  }
  return count;
}

// Proves a slice, beginning with precision number `level`. The parts that stay open are proven
// again at the next precision. The formula either encloses all elements of a slice or throws. If it
// throws at every precision, the slice is cut until only elements without an enclosure are left
// out.
void ProveSlice(const ProofState& proof, const Slice& slice, size_t level) {
  if (level == std::size(kPrecisions)) {
    if (OpennessOf(proof, slice).unknown == 0) return;
    if (const auto halves = Halve(proof.c, slice)) {
      ProveSlice(proof, halves->first, 0);
      ProveSlice(proof, halves->second, 0);
    }
    return;
  }
  std::vector<Slice> open = {slice};
  try {
    Enclose(proof, slice, kPrecisions[level]);
    open = OpenParts(proof, slice);
  } catch (const Undecided&) {  // the next precision may suffice
  }
  for (const Slice& part : open) ProveSlice(proof, part, level + 1);
}

}  // namespace

std::vector<Slice> OpenParts(const ProofState& proof, const Slice& slice) {
  constexpr size_t kPerOpen = 2;  // a further part costs as much as proving 2 elements again
  const Openness count = OpennessOf(proof, slice);
  if (count.open == 0) return {};
  const auto halves = count.all > kPerOpen * count.open ? Halve(proof.c, slice) : std::nullopt;
  if (!halves) return {slice};
  std::vector<Slice> parts = OpenParts(proof, halves->first);
  std::ranges::copy(OpenParts(proof, halves->second), std::back_inserter(parts));
  return parts;
}

std::vector<size_t> ProofState::IndicesOf(size_t output, const Slice& slice) const {
  const TensorSpec& spec = c.info().signature.outputs[output];
  return IndicesIn(golden[output].value.shape, spec, InWindow(slice, window));
}

std::vector<Run> ProofState::RunsOf(size_t output, const Slice& slice) const {
  const TensorSpec& spec = c.info().signature.outputs[output];
  return RunsIn(golden[output].value.shape, spec, InWindow(slice, window));
}

void Open(const ProofState& proof, const Slice& slice) {
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    for (const auto& [first, count] : proof.RunsOf(o, slice)) {
      for (Tensor<double>* part : {&g.value, &g.high, &g.low})
        std::fill_n(&part->data[first], count, 0.0);
      std::fill_n(&g.radius.data[first], count, kInfinity);
    }
  }
}

bool OpenMarked(const ProofState& proof, const Slice& slice, const ElementMarks& marks) {
  bool any = false;
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    for (const auto& [first, size] : proof.RunsOf(o, slice)) {
      if (std::memchr(&marks[o][first], 1, size) == nullptr) continue;
      for (size_t i = first; i < first + size; ++i) {
        if (marks[o][i]) proof.golden[o].radius.data[i] = kInfinity;
      }
      any = true;
    }
  }
  return any;
}

size_t EncloseBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice) {
  size_t open = SettleBy(outputs, proof, slice);
  for (size_t o = 0; open > 0 && o < outputs.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    const Counted* x = outputs[o].values.data.data();
    for (const auto& [first, count] : proof.RunsOf(o, slice)) {
      for (size_t i = first; i < first + count; ++i, ++x) {
        if (g.radius.data[i] > 0) open -= EncloseElement(*x, g, i);
      }
    }
  }
  return open;
}

size_t SettleBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice) {
  size_t open = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    std::span<const Counted> numbers = outputs[o].values.data;
    for (const auto& [at, count] : proof.RunsOf(o, slice)) {
      const DecidedRun to{&g.value.data[at], &g.high.data[at], &g.low.data[at], &g.radius.data[at]};
      open += DecideAll(numbers.first(count), g.dtype, to);
      numbers = numbers.subspan(count);
    }
  }
  return open;
}

namespace {

// Element `at` of the tensors. Returns 1 if it stays open, else 0.
size_t SettleOne(const Counted& x, Settling settling, GoldenTensor& g, size_t at) {
  const DecidedRun to{&g.value.data[at], &g.high.data[at], &g.low.data[at], &g.radius.data[at]};
  size_t open = 1;
  if (settling != Settling::kEncloses || x.drift() == 0)
    open = DecideAll({&x, 1}, g.dtype, to);
  else
    Set({0, 0, 0}, kInfinity, g, at);
  if (open > 0 && settling != Settling::kProves) open -= EncloseElement(x, g, at);
  g.permitted.data[at] = x.Permitted();
  return open;
}

}  // namespace

size_t SettleBy(CountedOutput& y, bool encloses, const ProofState& proof, const Slice& slice,
                PermittedTensor* permitted) {
  const Settling settling = !encloses   ? Settling::kProves
                            : y.level_1 ? Settling::kEncloses
                                        : Settling::kProvesOrEncloses;
  GoldenTensor& g = proof.golden[0];
  std::vector<char> left(y.numbers.size());
  std::vector<double> likely(y.numbers.size());
  size_t open = 0, begin = 0;
  for (const auto& [at, count] : proof.RunsOf(0, slice)) {
    double* const of_likely = permitted ? &permitted->likely.data[at] : likely.data();
    const GoldenRun to{&g.value.data[at],  &g.high.data[at],      &g.low.data[at],
                       &g.radius.data[at], &g.permitted.data[at], of_likely};
    open += SetGoldens(From(y.numbers.numbers(), begin), count, g.dtype, settling, to, left);
    for (size_t k = 0; k < count; ++k) {
      if (!left[k]) continue;
      const Counted x = y.numbers.Get(begin + k, y.format);
      open += SettleOne(x, settling, g, at + k);
      of_likely[k] = x.Likely();
    }
    if (permitted) {
      std::copy_n(&g.permitted.data[at], count, &permitted->error.data[at]);
      std::fill_n(&permitted->vacuous[at], count, 0);
    }
    begin += count;
  }
  return open;
}

void EncloseOpenBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice) {
  constexpr double kRoundUp = 1 + 0x1p-50;  // covers the rounding of the sum
  for (size_t o = 0; o < outputs.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    const Counted* x = outputs[o].values.data.data();
    for (const auto& [first, count] : proof.RunsOf(o, slice)) {
      for (size_t i = first; i < first + count; ++i, ++x) {
        const auto [high, low] = x->center();
        const double radius = (std::abs(low) + x->drift()) * kRoundUp;
        if (g.radius.data[i] == 0 || !std::isfinite(high) || !std::isfinite(radius)) continue;
        Set({RoundTo(g.dtype, x->center()), high, 0}, radius, g, i);
      }
    }
  }
}

void ProveOpen(const ProofState& proof, const Slice& slice) {
  for (const Slice& part : OpenParts(proof, slice)) ProveSlice(proof, part, 0);
}

}  // namespace sextant
