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

// The choice for element i, whose other numbers are set.
void Choose(GoldenTensor& g, size_t i) {
  if (g.choice == Choice::kNone) return;
  g.value.data[i] = Chosen(g.choice, g.dtype, g.high.data[i], g.low.data[i]) + 0.0;
}

void Set(const Decision& found, double radius, GoldenTensor& g, size_t i) {
  g.value.data[i] = found.value;
  g.high.data[i] = found.high;
  g.low.data[i] = found.low;
  g.radius.data[i] = radius;
  Choose(g, i);
}

// Updates element i by the enclosure x.
void Settle(const Interval& x, GoldenTensor& g, size_t i) {
  if (g.radius.data[i] == 0) return;
  const double no_value = g.dtype == DType::kI64 ? 0 : kNaN;  // files have no NaN of it
  if (!x.IsSpecified()) return Set({no_value, kNaN, 0}, 0, g, i);
  if (const auto decision = Decide(x, g.dtype)) return Set(*decision, 0, g, i);
  const double middle = Middle(x);
  Set({RoundTo(g.dtype, middle), middle, 0}, RadiusAround(x, middle, 0), g, i);
}

// Level 1 of element i, which level 2 does not decide. False if it stays undecided.
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

// The number of elements of a slice: all, the undecided ones, and those without an enclosure.
struct ElementCounts {
  size_t all = 0, undecided = 0, unknown = 0;
};
ElementCounts CountElements(const ProofState& proof, const Slice& slice) {
  ElementCounts count;
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    for (const auto& [first, size] : proof.RunsOf(o, slice)) {
      const double* const radius = &proof.golden[o].radius.data[first];
      count.all += size;
      for (size_t i = 0; i < size; ++i) {
        count.undecided += radius[i] > 0;
        count.unknown += radius[i] == kInfinity;
      }
    }
  }
  return count;
}

// Proves a slice, beginning with precision number `level`. The undecided parts are proven again
// at the next precision. The formula either encloses all elements of a slice or throws. If it
// throws at every precision, the slice is cut until only elements without an enclosure are left
// out.
void ProveSlice(const ProofState& proof, const Slice& slice, size_t level) {
  if (level == std::size(kPrecisions)) {
    if (CountElements(proof, slice).unknown == 0) return;
    if (const auto halves = Halve(proof.c, slice)) {
      ProveSlice(proof, halves->first, 0);
      ProveSlice(proof, halves->second, 0);
    }
    return;
  }
  std::vector<Slice> undecided = {slice};
  try {
    Enclose(proof, slice, kPrecisions[level]);
    undecided = UndecidedParts(proof, slice);
  } catch (const Undecided&) {  // the next precision may suffice
  }
  for (const Slice& part : undecided) ProveSlice(proof, part, level + 1);
}

}  // namespace

std::vector<Slice> UndecidedParts(const ProofState& proof, const Slice& slice) {
  constexpr size_t kPerUndecided = 2;  // a further part costs as much as proving 2 elements again
  const ElementCounts count = CountElements(proof, slice);
  if (count.undecided == 0) return {};
  const auto halves =
      count.all > kPerUndecided * count.undecided ? Halve(proof.c, slice) : std::nullopt;
  if (!halves) return {slice};
  std::vector<Slice> parts = UndecidedParts(proof, halves->first);
  std::ranges::copy(UndecidedParts(proof, halves->second), std::back_inserter(parts));
  return parts;
}

std::vector<size_t> ProofState::IndicesOf(size_t output, const Slice& slice) const {
  const TensorSpec& spec = c.info().signature.outputs[output];
  return IndicesIn(golden[output].value.shape, spec, Within(slice, window));
}

std::vector<Run> ProofState::RunsOf(size_t output, const Slice& slice) const {
  const TensorSpec& spec = c.info().signature.outputs[output];
  return RunsIn(golden[output].value.shape, spec, Within(slice, window));
}

void MakeUndecided(const ProofState& proof, const Slice& slice) {
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    for (const auto& [first, count] : proof.RunsOf(o, slice)) {
      for (Tensor<double>* part : {&g.value, &g.high, &g.low})
        std::fill_n(&part->data[first], count, 0.0);
      std::fill_n(&g.radius.data[first], count, kInfinity);
    }
  }
}

bool MakeUndecided(const ProofState& proof, const Slice& slice, const ElementMarks& marks) {
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
  size_t undecided = SettleBy(outputs, proof, slice);
  for (size_t o = 0; undecided > 0 && o < outputs.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    const Counted* x = outputs[o].values.data.data();
    for (const auto& [first, count] : proof.RunsOf(o, slice)) {
      for (size_t i = first; i < first + count; ++i, ++x) {
        if (g.radius.data[i] > 0) undecided -= EncloseElement(*x, g, i);
      }
    }
  }
  return undecided;
}

size_t SettleBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice) {
  size_t undecided = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    std::span<const Counted> numbers = outputs[o].values.data;
    for (const auto& [at, count] : proof.RunsOf(o, slice)) {
      const DecidedRun to{&g.value.data[at], &g.high.data[at], &g.low.data[at], &g.radius.data[at]};
      undecided += DecideAll(numbers.first(count), g.dtype, to);
      for (size_t i = at; i < at + count; ++i) Choose(g, i);
      numbers = numbers.subspan(count);
    }
  }
  return undecided;
}

namespace {

// Element `at` of the tensors. Returns 1 if it stays undecided, else 0.
size_t SettleOne(const Counted& x, Settling settling, GoldenTensor& g, size_t at) {
  const DecidedRun to{&g.value.data[at], &g.high.data[at], &g.low.data[at], &g.radius.data[at]};
  size_t undecided = 1;
  if (settling != Settling::kEncloses || x.drift() == 0)
    undecided = DecideAll({&x, 1}, g.dtype, to);
  else
    Set({0, 0, 0}, kInfinity, g, at);
  if (undecided > 0 && settling != Settling::kProves) undecided -= EncloseElement(x, g, at);
  g.permitted.data[at] = x.Permitted();
  return undecided;
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
  size_t undecided = 0, begin = 0;
  for (const auto& [at, count] : proof.RunsOf(0, slice)) {
    double* const of_likely = permitted ? &permitted->likely.data[at] : likely.data();
    const GoldenRun to{&g.value.data[at],  &g.high.data[at],      &g.low.data[at],
                       &g.radius.data[at], &g.permitted.data[at], of_likely};
    undecided += SetGoldens(From(y.numbers.numbers(), begin), count, g.dtype, settling, to, left);
    for (size_t k = 0; k < count; ++k) {
      if (!left[k]) continue;
      const Counted x = y.numbers.Get(begin + k, y.format);
      undecided += SettleOne(x, settling, g, at + k);
      of_likely[k] = x.Likely();
    }
    if (permitted) {
      std::copy_n(&g.permitted.data[at], count, &permitted->error.data[at]);
      std::fill_n(&permitted->vacuous[at], count, 0);
    }
    begin += count;
  }
  return undecided;
}

void EncloseUndecidedBy(const Outputs<Counted>& outputs, const ProofState& proof,
                        const Slice& slice) {
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

void ProveUndecided(const ProofState& proof, const Slice& slice) {
  for (const Slice& part : UndecidedParts(proof, slice)) ProveSlice(proof, part, 0);
}

}  // namespace sextant
