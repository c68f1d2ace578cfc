#include "oracle/rope/measured/model.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "oracle/diagnosis/number_in.h"
#include "reference/number/counted/counted.h"
#include "reference/number/real.h"
#include "reference/number/rounded/rounded.h"
#include "reference/prove/slices.h"
#include "reference/rope/plain_rotation.h"

namespace sextant::oracle {

template <class Real>
Real ModelAmplitude(const RotaryModel& model) {
  const ScopedStep at(Step::kFrequency);
  const Real one = AmplitudeOf<Real>(model.amplitude_of, model.setting);
  Real amplitude(model.gain);
  for (int n = 0; n < model.amplitude_power; ++n) {
    amplitude = n == 0 && model.gain == 1 ? one : amplitude * one;
  }
  return amplitude;
}

template <class Real>
Tensor<Real> ModelFrequencies(const RotaryModel& model, const Tensor<Real>* given) {
  const ScopedStep at(Step::kFrequency);
  const GrownBase<Real> base{model.setting.base, GrowthOf<Real>(model.scaling, model.setting),
                             model.setting.R};
  const ScalingFormula<Real> scaled = FormulaOf<Real>(model.scaling, model.setting);
  Tensor<Real> frequency({model.pairs.size()});
  for (size_t i = 0; i < model.pairs.size(); ++i) {
    const auto& [k, n, scaled_as, factor, axis] = model.pairs[i];
    frequency(i) = given ? (*given)(static_cast<size_t>(scaled_as))
                         : scaled(InversePower(base, k, n), scaled_as);
    if (factor != 1) frequency(i) = frequency(i) * Real(factor);
  }
  return frequency;
}

namespace {

template <class Real>
void Apply(Turn turn, Real& c, Real& s) {
  const bool swaps = turn == Turn::kSwapped || turn == Turn::kQuarter || turn == Turn::kQuarterBack;
  if (swaps) std::swap(c, s);
  if (turn == Turn::kNegated || turn == Turn::kCosineNegated || turn == Turn::kQuarter) c = -c;
  if (turn == Turn::kNegated || turn == Turn::kQuarterBack) s = -s;
  if (turn == Turn::kOnlyCosines) s = c;
  if (turn == Turn::kOnlySines) c = s;
  if (turn == Turn::kCosineAbsolute && NumberIn(c) < 0) c = -c;
  if (turn == Turn::kSineAbsolute && NumberIn(s) < 0) s = -s;
}

// The steps are those of the operation that grows.
template <class Real>
Real GrowthAt(const RotaryModel& model, size_t k, double position) {
  const Growth& growth = *model.growth;
  const auto [gamma, scale_base, center] =
      std::tuple(growth.gamma, growth.scale_base, growth.center);
  const ScopedStep at(Step::kFactor);
  const Real part = Real(static_cast<double>(2 * growth.PairOf(k))) /
                    Real(static_cast<double>(2 * model.pairs.size()));
  const Real decay = (part + Real(gamma)) / (Real(1.0) + Real(gamma));
  const Real distance = Real(position, DType::kI64) - Real(center, DType::kI64);
  const double times = growth.PowerOf(k);
  const Real exponent = distance / Real(scale_base);
  const bool is_plain = std::abs(times) == 1;
  const Real power = Power(decay, is_plain ? exponent : Real(std::abs(times)) * exponent);
  return growth.is_of_key == (times >= 0) ? Real(1.0) / power : power;
}

template <class Real>
Real GrownBy(const RotaryModel& model, size_t k, double position, const Real& amplitude) {
  const Real growth = GrowthAt<Real>(model, k, position);
  return model.gain == 1 ? growth : growth * amplitude;
}

// of_a a + of_b b
template <class Real>
Real SignedSum(int of_a, const Real& a, int of_b, const Real& b) {
  if (of_a == 0) return of_b == 0 ? Real(0.0) : of_b < 0 ? -b : b;
  const Real first = of_a < 0 ? -a : a;
  return of_b == 0 ? first : of_b < 0 ? first - b : first + b;
}

template <class Real>
std::pair<Real, Real> Flowed(const Flow& flow, const Real& x_i, const Real& x_j, const Real& c,
                             const Real& s) {
  using InPlace = Flow::InPlace;
  Real y_i, y_j;
  const auto first = [&](const Real& other) {
    y_i = SignedSum(flow.first_cos, x_i * c, flow.first_sin, other * s);
  };
  const auto second = [&](const Real& other) {
    y_j = SignedSum(flow.second_sin, other * s, flow.second_cos, x_j * c);
  };
  if (flow.in_place == InPlace::kFirstReadsSecond) {
    second(x_i);
    first(y_j);
  } else {
    first(x_j);
    second(flow.in_place == InPlace::kNo ? x_i : y_i);
  }
  return {y_i, y_j};
}

}  // namespace

template <class Real>
PairTables<Real> TablesOf(const RotaryModel& model, const Tensor<Real>& frequency,
                          const Tensor<double>& position) {
  const Shape shape = {position.shape[0], position.shape[2], frequency.shape[0]};
  PairTables<Real> tables{Tensor<Real>(shape), Tensor<Real>(shape)};
  const Real amplitude = ModelAmplitude<Real>(model);
  const size_t first_b = SliceBegin("B"), first_s = SliceBegin("S");
  const auto grows_at = [&](size_t b, size_t s, double p) {
    const std::vector<double>& at = model.growth->positions;
    return at.empty() ? p : at[(first_b + b) * model.growth->length + first_s + s];
  };
  const Real of_cosine = amplitude * Real(model.cosine_gain);
  const Real of_sine = amplitude * Real(model.sine_gain);
  for (size_t k = 0; k < shape[2]; ++k) {
    AngleTable<Real> angles(frequency(k));
    for (size_t b = 0; b < shape[0]; ++b) {
      for (size_t s = 0; s < shape[1]; ++s) {
        const double p = position(b, model.pairs[k].axis, s);
        const auto at = model.rounding && model.rounding->HasAngle()
                            ? model.rounding->CosSinOf(p, frequency(k))
                        : model.has_coordinates ? CosSinAt(p, frequency(k))
                                                : angles(p);
        Real& sine = tables.sin(b, s, k);
        const Real factor =
            model.growth ? GrownBy(model, k, grows_at(b, s, p), amplitude) : amplitude;
        Real& cosine = tables.cos(b, s, k);
        std::tie(cosine, sine) = TableEntry(at, factor);
        if (model.cosine_gain != 1 || !model.cosine_grows) cosine = TableEntry(at, of_cosine).first;
        if (model.sine_gain != 1 || !model.sine_grows) sine = TableEntry(at, of_sine).second;
        if (model.cosine_offset != 0) cosine = cosine + Real(model.cosine_offset);
        if (model.sine_offset != 0) sine = sine + Real(model.sine_offset);
        Apply(model.turn, cosine, sine);
        if (model.rounding) model.rounding->Round(cosine, sine);
        if (!model.forward) sine = -sine;
      }
    }
  }
  return tables;
}

template <class Real>
PairTables<Real> AllTablesOf(const RotaryModel& model, const Tensor<Real>* given,
                             const Tensor<double>& position) {
  PairTables<Real> tables = TablesOf(model, ModelFrequencies(model, given), position);
  if (!model.elsewhere) return tables;
  const auto& [where, other, positions, length] = *model.elsewhere;
  const size_t first_b = SliceBegin("B"), first_s = SliceBegin("S");
  Tensor<double> there(position.shape);
  for (size_t b = 0; b < there.shape[0]; ++b) {
    for (size_t a = 0; a < there.shape[1]; ++a) {
      for (size_t s = 0; s < there.shape[2]; ++s)
        there(b, a, s) = positions[a][(first_b + b) * length + first_s + s];
    }
  }
  PairTables<Real> others = TablesOf(*other, ModelFrequencies(*other, given), there);
  using Where = Elsewhere::Where;
  if (where == Where::kCosine) tables.cos = others.cos;
  if (where == Where::kSine) tables.sin = others.sin;
  if (where == Where::kFirstSum) std::swap(tables, others);
  if (where == Where::kFirstSum || where == Where::kSecondSum)
    tables.of_second = {others.cos, others.sin};
  return tables;
}

namespace {

// Channels outside the pairs that do not pass unchanged.
template <class Real>
void SetRest(const RotaryModel& model, const Tensor<Real>& x, Tensor<Real>& y) {
  const size_t width = x.shape[3], S = x.shape[2], H = x.shape[1];
  const auto source = [&](size_t row) {
    const size_t s = row / width % S, h = row / width / S % H;
    if (model.rest_rows == RestRows::kOfFirstToken) return row - s * width;
    if (model.rest_rows == RestRows::kOfFirstHead) return row - h * S * width;
    if (model.rest_rows == RestRows::kOfTokenBefore) return s == 0 ? row : row - width;
    return row;
  };
  for (size_t row = 0; row < x.data.size() && !model.rest.empty(); row += width) {
    for (const auto& [to, from, factor] : model.rest) {
      const Real& value = x.data[source(row) + from];
      y.data[row + to] = factor == 1 ? value : factor == 0 ? Real(0.0) : value * Real(factor);
    }
  }
}

}  // namespace

template <class Real>
void Rotate(const RotaryModel& model, const PairTables<Real>& tables, const Tensor<Real>& x,
            Tensor<Real>& y) {
  y.data = x.data;
  const size_t first_h = SliceBegin("H");
  SetRest(model, x, y);
  const std::vector<Tensor<Real>>& second = tables.of_second;
  const ScopedStep at(Step::kRotate);
  for (size_t k = 0; k < model.read.size(); ++k) {
    const auto [i, j] = model.read[k];
    const auto [to_i, to_j] = model.written[k];
    for (size_t b = 0; b < x.shape[0]; ++b) {
      for (size_t h = 0; h < x.shape[1]; ++h) {
        for (size_t s = 0; s < x.shape[2]; ++s) {
          const Real &x_i = x(b, h, s, i), &x_j = x(b, h, s, j);
          const Real& c = tables.cos(b, s, k);
          const bool is_back = model.flow.SignOfSine(first_h + h) < 0;
          const auto rotated = [&](const Real& cosine, const Real& sine) {
            const Real s = is_back ? -sine : sine;
            return model.flow == Flow{} ? RotatedPair(x_i, x_j, {cosine, s})
                                        : Flowed(model.flow, x_i, x_j, cosine, s);
          };
          std::tie(y(b, h, s, to_i), y(b, h, s, to_j)) = rotated(c, tables.sin(b, s, k));
          if (!second.empty())
            y(b, h, s, to_j) = rotated(second[0](b, s, k), second[1](b, s, k)).second;
          if (!model.adds_operand) continue;
          y(b, h, s, to_i) = x_i + y(b, h, s, to_i);
          y(b, h, s, to_j) = x_j + y(b, h, s, to_j);
        }
      }
    }
  }
}

template <class Real>
void RotateAt(const RotaryModel& model, const Tensor<Real>* given, const Tensor<double>& position,
              const Tensor<Real>& x, Tensor<Real>& y) {
  if (model.rows == RowPositions::kOfToken)
    return Rotate(model, AllTablesOf(model, given, position), x, y);
  // Each head of a batch is a sequence of its own.
  const size_t B = x.shape[0], H = x.shape[1], S = x.shape[2], A = position.shape[1];
  Tensor<double> of_rows({B * H, A, S});
  for (size_t i = 0; i < of_rows.data.size(); ++i) {
    const size_t b = i / (H * A * S), h = i / (A * S) % H, s = i % S;
    const size_t token = model.rows == RowPositions::kOfHead ? h : (h * S + s) / H;
    of_rows.data[i] = position(b, i / S % A, token);
  }
  Tensor<Real> heads = x, rotated = y;
  heads.shape = rotated.shape = {B * H, 1, S, x.shape[3]};
  Rotate(model, AllTablesOf(model, given, of_rows), heads, rotated);
  y.data = std::move(rotated.data);
}

template Tensor<Counted> ModelFrequencies(const RotaryModel&, const Tensor<Counted>*);
template Counted ModelAmplitude(const RotaryModel&);
template PairTables<Counted> TablesOf(const RotaryModel&, const Tensor<Counted>&,
                                      const Tensor<double>&);
template PairTables<Counted> AllTablesOf(const RotaryModel&, const Tensor<Counted>*,
                                         const Tensor<double>&);
template void Rotate(const RotaryModel&, const PairTables<Counted>&, const Tensor<Counted>&,
                     Tensor<Counted>&);
template void RotateAt(const RotaryModel&, const Tensor<Counted>*, const Tensor<double>&,
                       const Tensor<Counted>&, Tensor<Counted>&);
template void RotateAt(const RotaryModel&, const Tensor<Rounded>*, const Tensor<double>&,
                       const Tensor<Rounded>&, Tensor<Rounded>&);
template Tensor<Rounded> ModelFrequencies(const RotaryModel&, const Tensor<Rounded>*);
template Rounded ModelAmplitude(const RotaryModel&);
template PairTables<Rounded> TablesOf(const RotaryModel&, const Tensor<Rounded>&,
                                      const Tensor<double>&);
template PairTables<Rounded> AllTablesOf(const RotaryModel&, const Tensor<Rounded>*,
                                         const Tensor<double>&);
template void Rotate(const RotaryModel&, const PairTables<Rounded>&, const Tensor<Rounded>&,
                     Tensor<Rounded>&);

}  // namespace sextant::oracle
