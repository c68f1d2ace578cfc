#include "oracle/rope/table_properties.h"

#include <algorithm>
#include <cmath>

#include "oracle/property/changed_inputs.h"
#include "oracle/rope/configuration.h"
#include "reference/number/real.h"
#include "reference/rope/rope_table.h"

namespace sextant::oracle {

Measured FactorOf(const Case& c) {
  const double given = NumberOf(c, "attention_factor", NAN);
  return std::isnan(given) ? AmplitudeOf(c) : Measured(given);
}

namespace {

Response AskTableAt(const Case& c, const Tensors& inputs, const Ask& ask,
                    double (*change)(double)) {
  return ask(c, Mapped(inputs, "position", change));
}

Comparisons CheckCircle(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response t = ask(c, inputs);
  const Measured a = FactorOf(c);
  return ForEachEntry(t, [&](size_t i, Comparisons& comparisons) {
    comparisons.Equal(t(kCos, i) * t(kCos, i) + t(kSin, i) * t(kSin, i), a * a, {t, kCos, i});
  });
}

Comparisons CheckTableZero(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response t = AskTableAt(c, inputs, ask, [](double) { return 0.0; });
  return ForEachEntry(t, [&](size_t i, Comparisons& comparisons) {
    comparisons.Equal(t(kCos, i), FactorOf(c), {t, kCos, i});
    comparisons.Equal(t(kSin, i), 0, {t, kSin, i});
  });
}

Comparisons CheckParity(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response t = ask(c, inputs),
                 negative = AskTableAt(c, inputs, ask, [](double p) { return -p; });
  return ForEachEntry(t, [&](size_t i, Comparisons& comparisons) {
    comparisons.Equal(negative(kCos, i), t(kCos, i), {negative, kCos, i});
    comparisons.Equal(negative(kSin, i), -t(kSin, i), {negative, kSin, i});
  });
}

// a cos(m + n) = cos m cos n - sin m sin n for tables of amplitude a; here n is 7.
Comparisons CheckTableSum(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Measured a = FactorOf(c);
  const Response m = ask(c, inputs), n = AskTableAt(c, inputs, ask, [](double) { return 7.0; }),
                 sum = AskTableAt(c, inputs, ask, [](double p) { return p + 7; });
  return ForEachEntry(m, [&](size_t i, Comparisons& comparisons) {
    comparisons.Equal(a * sum(kCos, i), m(kCos, i) * n(kCos, i) - m(kSin, i) * n(kSin, i),
                      {sum, kCos, i});
    comparisons.Equal(a * sum(kSin, i), m(kSin, i) * n(kCos, i) + m(kCos, i) * n(kSin, i),
                      {sum, kSin, i});
  });
}

// True if no angle at position 1 exceeds one radian. Given frequencies are drawn so.
bool StepsForward(const Case& c) {
  if (TextOf(c, "scaling").empty()) return true;
  const Configuration given(c);
  const ExactFrequencies exact = FrequenciesOf(given.scaling, given.setting);
  const auto fits = [](double f) { return 0 <= f && f <= 1; };
  return exact.amplitude >= 0 && std::ranges::all_of(exact.of_pair, fits);
}

// With frequencies of at most 1, the angle at position 1 lies in the first quadrant.
Comparisons CheckTableSign(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (!StepsForward(c)) return {};
  const Response t = AskTableAt(c, inputs, ask, [](double) { return 1.0; });
  return ForEachEntry(t, [&](size_t i, Comparisons& comparisons) {
    comparisons.AtMost(0, t(kCos, i), {t, kCos, i});
    comparisons.AtMost(0, t(kSin, i), {t, kSin, i});
  });
}

bool PositionsOfFirstRow(const Case& c, Tensors& inputs) {
  Tensor<double>& position = InputNamed(inputs, "position");
  const size_t length = ExtentOf(c, "S");
  for (size_t i = length; i < position.data.size(); ++i)
    position.data[i] = position.data[i % length];
  return position.data.size() > length;
}

}  // namespace

std::vector<Property> TableProperties() {
  return {
      {"on_a_circle", "cos^2 + sin^2 is the squared attention factor", CheckCircle},
      {"starts_at_zero", "the angle at position 0 is 0", CheckTableZero},
      {"cos_even_sin_odd", "cos(-p) is cos(p) and sin(-p) is -sin(p)", CheckParity},
      {"angles_add", "the angle at p + 7 is the sum of the angles at p and at 7", CheckTableSum},
      {"rotates_forward", "a step of at most one radian ends in the first quadrant",
       CheckTableSign}};
}

Defect PositionsOfFirstBatch() {
  return ChangedInputs("positions_of_first_batch",
                       "every row of the batch uses the positions of the first row "
                       "(linkedin/Liger-Kernel@d7c78df1)",
                       PositionsOfFirstRow);
}

std::vector<NamedMutation<TableMutation>> TableMutations() {
  return {{"cos_and_sin_swapped", "cos and sin are swapped", TableMutation::kSwapped},
          {"amplitude_on_cos_only", "the attention factor multiplies only cos",
           TableMutation::kCosOnly},
          {"rotates_backwards", "the sine has the wrong sign (trymirai/lalamo#268)",
           TableMutation::kBackwards}};
}

template <class Real>
void FillMutated(TableMutation mutation, const Tensor<double>& position,
                 const Tensor<Real>& frequencies, const Real& amplitude, Tensor<Real>& cos,
                 Tensor<Real>& sin) {
  const bool cos_only = mutation == TableMutation::kCosOnly;
  RopeTable::Fill(position, frequencies, cos_only ? Real(1.0) : amplitude, cos, sin);
  if (cos_only) {
    const ScopedStep at(Step::kTrig);
    for (Real& x : cos.data) x = x * amplitude;
  }
  if (mutation == TableMutation::kSwapped) std::swap(cos.data, sin.data);
  if (mutation != TableMutation::kBackwards) return;
  for (Real& x : sin.data) x = -x;
}

template void FillMutated(TableMutation, const Tensor<double>&, const Tensor<Counted>&,
                          const Counted&, Tensor<Counted>&, Tensor<Counted>&);
template void FillMutated(TableMutation, const Tensor<double>&, const Tensor<Rounded>&,
                          const Rounded&, Tensor<Rounded>&, Tensor<Rounded>&);

}  // namespace sextant::oracle
