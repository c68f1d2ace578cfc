#include "oracle/rope/mistaken.h"

namespace sextant::oracle {
namespace {

template <class Real>
void RotateMistaken(const RotaryMistake& mistake, const Head& head, bool forward,
                    const Tensor<Real>& x, const Tables<Real>& tables, Tensor<Real>& y) {
  const InStep at(Step::kRotate);
  const size_t B = x.shape[0], H = x.shape[1], S = x.shape[2];
  y.data = x.data;
  for (size_t b = 0; b < B; ++b) {
    for (size_t h = 0; h < H; ++h) {
      for (size_t s = 0; s < S; ++s) {
        const Row row = mistake.row ? mistake.row(b, h, s, S) : Row{b, s};
        for (size_t c = 0; c < head.D; ++c) {
          const std::optional<Turn> turn = mistake.turn(head, c);
          if (!turn) continue;
          Real& result = y(b, h, s, turn->target);
          if (turn->cos_sign == 0) {
            result = Real(0.0);
            continue;
          }
          const size_t pair = turn->pair % tables.cos.shape[2];
          const Real cosine = tables.cos(row.b, row.s, pair), sine = tables.sin(row.b, row.s, pair);
          const bool minus = (turn->sine_sign < 0) == forward;
          const bool in_place = mistake.flow == RotaryMistake::Flow::kInPlace && turn->partner < c;
          const Real& partner = (in_place ? y : x)(b, h, s, turn->partner);
          const Real kept = turn->cos_sign < 0 ? -(x(b, h, s, c) * cosine) : x(b, h, s, c) * cosine;
          if (mistake.flow == RotaryMistake::Flow::kAdded) {
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
Tensor<Real> MistakenFrequencies(const RotaryMistake& mistake, const RopeFrequencies& from,
                                 size_t count, const Head& head) {
  Tensor<Real> frequencies({count});
  const auto R = static_cast<int64_t>(head.R), D = static_cast<int64_t>(head.D);
  const InStep at(Step::kFrequency);
  const GrownBase<Real> base{from.base, GrowthOf<Real>(from.scaling, from.Setting()), R};
  const ScalingFormula<Real> scaled = FormulaOf<Real>(from.scaling, from.Setting());
  for (size_t i = 0; i < count; ++i) {
    const auto k = static_cast<int64_t>(i);
    const Exponent e = mistake.exponent ? mistake.exponent(k, R, D) : Exponent{2 * k, R};
    frequencies(i) = scaled(InversePower(base, e.k, e.n), k % (R / 2));
    if (mistake.kept) frequencies(i) = KeptIn(*mistake.kept, frequencies(i));
  }
  return frequencies;
}

template <class Real>
Tables<Real> MistakenTables(const RotaryMistake& mistake, const Tensor<double>& position,
                            const Tensor<Real>& frequencies, const Real& amplitude) {
  const Shape shape = {position.shape[0], position.shape[1], frequencies.shape[0]};
  Tables<Real> tables{Tensor<Real>(shape), Tensor<Real>(shape)};
  RopeTable::Fill(position, frequencies, amplitude, tables.cos, tables.sin);
  if (mistake.flow == RotaryMistake::Flow::kCosOnly) {
    Tensor<Real> unused(shape);
    RopeTable::Fill(position, frequencies, Real(1.0), unused, tables.sin);
  }
  return tables;
}

template <class Real>
void Apply(const RotaryMistake& mistake, const Head& head, bool forward, const Tensor<Real>& x,
           Tables<Real> tables, Tensor<Real>& y) {
  if (mistake.flow == RotaryMistake::Flow::kSwapped) std::swap(tables.cos, tables.sin);
  RotateMistaken(mistake, head, forward, x, tables, y);
  if (mistake.flow != RotaryMistake::Flow::kTwice) return;
  const Tensor<Real> once = y;
  RotateMistaken(mistake, head, forward, once, tables, y);
}

template Tensor<Counted> MistakenFrequencies(const RotaryMistake&, const RopeFrequencies&, size_t,
                                             const Head&);
template Tables<Counted> MistakenTables(const RotaryMistake&, const Tensor<double>&,
                                        const Tensor<Counted>&, const Counted&);
template void Apply(const RotaryMistake&, const Head&, bool, const Tensor<Counted>&,
                    Tables<Counted>, Tensor<Counted>&);
template Tensor<Rounded> MistakenFrequencies(const RotaryMistake&, const RopeFrequencies&, size_t,
                                             const Head&);
template Tables<Rounded> MistakenTables(const RotaryMistake&, const Tensor<double>&,
                                        const Tensor<Rounded>&, const Rounded&);
template void Apply(const RotaryMistake&, const Head&, bool, const Tensor<Rounded>&,
                    Tables<Rounded>, Tensor<Rounded>&);

}  // namespace sextant::oracle
