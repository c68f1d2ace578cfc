#include "reference/prove/proof.h"

#include <cmath>
#include <iterator>

#include "reference/number/decision.h"
#include "reference/number/interval.h"
#include "reference/number/rounded.h"

namespace sextant {
namespace {

// 184 bits decide nearly all roundings (below 192 bits MPFR has special code for three words).
// Exact sums of products of doubles need up to 4200 bits.
constexpr int kPrecisions[] = {184, 384, 768, 1536, 3072, 6144};

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
    for (const size_t i : proof.IndicesOf(o, slice)) {
      const double radius = proof.golden[o].radius.data[i];
      ++count.all;
      count.open += radius != 0;
      count.unknown += radius == kInfinity;
    }
  }
  return count;
}

// Parts of a slice that contain all open elements. At least half of the elements of a part are
// open, unless the part cannot be cut.
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

std::vector<size_t> ProofState::IndicesOf(size_t output, const Slice& slice) const {
  return IndicesIn(golden[output].value.shape, c.info().signature.outputs[output], slice);
}

void Open(const ProofState& proof, const Slice& slice) {
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    for (const size_t i : proof.IndicesOf(o, slice)) {
      g.value.data[i] = g.high.data[i] = g.low.data[i] = 0;
      g.radius.data[i] = kInfinity;
    }
  }
}

void SettleBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    const auto indices = proof.IndicesOf(o, slice);
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto decision = Decide(outputs[o].values.data[i], g.dtype);
      if (decision) Set(*decision, 0, g, indices[i]);
    }
  }
}

void EncloseBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice) {
  constexpr double kRoundUp = 1 + 0x1p-50;  // covers the rounding of the sum
  for (size_t o = 0; o < outputs.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    const auto indices = proof.IndicesOf(o, slice);
    for (size_t i = 0; i < indices.size(); ++i) {
      const Counted& x = outputs[o].values.data[i];
      const auto [high, low] = x.center();
      const double radius = (std::abs(low) + x.drift()) * kRoundUp;
      if (g.radius.data[indices[i]] == 0 || !std::isfinite(high) || !std::isfinite(radius))
        continue;
      Set({RoundTo(g.dtype, x.center()), high, 0}, radius, g, indices[i]);
    }
  }
}

void ProveOpen(const ProofState& proof, const Slice& slice) {
  for (const Slice& part : OpenParts(proof, slice)) ProveSlice(proof, part, 0);
}

}  // namespace sextant
