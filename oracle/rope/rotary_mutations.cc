#include "oracle/rope/rotary_mutations.h"

#include <tuple>
#include <utility>
#include <variant>

namespace sextant::oracle {
namespace {

template <class Real>
void RotateMutated(const RotaryMutation& mutation, const Head& head, bool forward,
                   const Tensor<Real>& x, const Tables<Real>& tables, Tensor<Real>& y) {
  const ScopedStep at(Step::kRotate);
  const size_t B = x.shape[0], H = x.shape[1], S = x.shape[2];
  y.data = x.data;
  for (size_t b = 0; b < B; ++b) {
    for (size_t h = 0; h < H; ++h) {
      for (size_t s = 0; s < S; ++s) {
        const Row row = mutation.row ? mutation.row(b, h, s, S) : Row{b, s};
        for (size_t c = 0; c < head.D; ++c) {
          const std::optional<ChannelRotation> rotation = mutation.rotation(head, c);
          if (!rotation) continue;
          Real& result = y(b, h, s, rotation->target);
          if (rotation->cos_sign == 0) {
            result = Real(0.0);
            continue;
          }
          const size_t pair = rotation->pair % tables.cos.shape[2];
          const Real cosine = tables.cos(row.b, row.s, pair), sine = tables.sin(row.b, row.s, pair);
          const bool minus = (rotation->sine_sign < 0) == forward;
          const bool in_place =
              mutation.flow == RotaryMutation::Flow::kInPlace && rotation->partner < c;
          const Real& partner = (in_place ? y : x)(b, h, s, rotation->partner);
          const Real kept =
              rotation->cos_sign < 0 ? -(x(b, h, s, c) * cosine) : x(b, h, s, c) * cosine;
          if (mutation.flow == RotaryMutation::Flow::kAdded) {
            result = x(b, h, s, c) + (minus ? sine : cosine);
          } else {
            result = minus ? kept - partner * sine : kept + partner * sine;
          }
        }
      }
    }
  }
}

}  // namespace

template <class Real>
Tensor<Real> MutatedFrequencies(const RotaryMutation& mutation, const RopeFrequencies& from,
                                size_t count, const Head& head) {
  Tensor<Real> frequencies({count});
  const auto R = static_cast<int64_t>(head.R), D = static_cast<int64_t>(head.D);
  const ScopedStep at(Step::kFrequency);
  const GrownBase<Real> base{from.base, GrowthOf<Real>(from.scaling, from.Setting()), R};
  const ScalingFormula<Real> scaled = FormulaOf<Real>(from.scaling, from.Setting());
  for (size_t i = 0; i < count; ++i) {
    const auto k = static_cast<int64_t>(i);
    const Exponent e = mutation.exponent ? mutation.exponent(k, R, D) : Exponent{2 * k, R};
    frequencies(i) = scaled(InversePower(base, e.k, e.n), k % (R / 2));
    if (mutation.frequency_format)
      frequencies(i) = ConvertedTo(*mutation.frequency_format, frequencies(i));
  }
  return frequencies;
}

template <class Real>
Tables<Real> MutatedTables(const RotaryMutation& mutation, const Tensor<double>& position,
                           const Tensor<Real>& frequencies, const Real& amplitude) {
  const Shape shape = {position.shape[0], position.shape[1], frequencies.shape[0]};
  Tables<Real> tables{Tensor<Real>(shape), Tensor<Real>(shape)};
  RopeTable::Fill(position, frequencies, amplitude, tables.cos, tables.sin);
  if (mutation.flow == RotaryMutation::Flow::kCosOnly) {
    Tensor<Real> unused(shape);
    RopeTable::Fill(position, frequencies, Real(1.0), unused, tables.sin);
  }
  return tables;
}

template <class Real>
Tables<Real> IteratedTables(const RopeFrequencies& from, const Tensor<double>& position,
                            const Tensor<Real>& frequencies, const Real& amplitude) {
  const size_t half = frequencies.shape[0] / 2, rows = position.data.size();
  const auto R = static_cast<int64_t>(2 * half);
  const Shape shape = {position.shape[0], position.shape[1], frequencies.shape[0]};
  Tables<Real> tables{Tensor<Real>(shape), Tensor<Real>(shape)};
  const GrownBase<Real> base{from.base, GrowthOf<Real>(from.scaling, from.Setting()), R};
  const bool scales = !std::holds_alternative<NoScaling>(from.scaling);
  const Real ratio = InversePower(base, 2, R);
  for (size_t row = 0; row < rows; ++row) {
    Real angle(position.data[row], DType::kI64);
    for (size_t k = 0; k < half; ++k) {
      Real scaled = angle;
      {
        const ScopedStep at(Step::kAngle);
        if (k > 0) angle = angle * ratio;
        scaled = angle;
        if (scales)
          scaled = angle * (frequencies(k) / InversePower(base, 2 * static_cast<int64_t>(k), R));
      }
      const size_t at = row * shape[2] + k;
      std::pair<Real, Real> entry;
      {
        const ScopedStep trig(Step::kTrig);
        entry = CosSin(scaled);
      }
      std::tie(tables.cos.data[at], tables.sin.data[at]) = TableEntry(entry, amplitude);
    }
  }
  return tables;
}

template <class Real>
void Apply(const RotaryMutation& mutation, const Head& head, bool forward, const Tensor<Real>& x,
           Tables<Real> tables, Tensor<Real>& y) {
  if (mutation.flow == RotaryMutation::Flow::kSwapped) std::swap(tables.cos, tables.sin);
  RotateMutated(mutation, head, forward, x, tables, y);
  if (mutation.flow != RotaryMutation::Flow::kTwice) return;
  const Tensor<Real> once = y;
  RotateMutated(mutation, head, forward, once, tables, y);
}

template Tensor<Counted> MutatedFrequencies(const RotaryMutation&, const RopeFrequencies&, size_t,
                                            const Head&);
template Tables<Counted> MutatedTables(const RotaryMutation&, const Tensor<double>&,
                                       const Tensor<Counted>&, const Counted&);
template Tables<Counted> IteratedTables(const RopeFrequencies&, const Tensor<double>&,
                                        const Tensor<Counted>&, const Counted&);
template void Apply(const RotaryMutation&, const Head&, bool, const Tensor<Counted>&,
                    Tables<Counted>, Tensor<Counted>&);
template Tensor<Rounded> MutatedFrequencies(const RotaryMutation&, const RopeFrequencies&, size_t,
                                            const Head&);
template Tables<Rounded> MutatedTables(const RotaryMutation&, const Tensor<double>&,
                                       const Tensor<Rounded>&, const Rounded&);
template Tables<Rounded> IteratedTables(const RopeFrequencies&, const Tensor<double>&,
                                        const Tensor<Rounded>&, const Rounded&);
template void Apply(const RotaryMutation&, const Head&, bool, const Tensor<Rounded>&,
                    Tables<Rounded>, Tensor<Rounded>&);

}  // namespace sextant::oracle
