#include "oracle/layer/measured/feed_forward_formula.h"

#include <set>
#include <span>

#include "oracle/layer/measured/altered_function.h"
#include "oracle/layer/measured/model.h"
#include "reference/base/value_text.h"
#include "reference/case/intermediate.h"
#include "reference/layer/feed_forward.h"
#include "reference/layer/linear.h"

namespace sextant::oracle {
namespace {

template <class Real>
void Normalize(std::span<Real> row, double eps) {
  std::vector<Real> squares(row.begin(), row.end());
  for (Real& one : squares) one = one * one;
  const Real mean = SumOf(squares) / Real(static_cast<double>(row.size()));
  const Real divisor = Sqrt(mean + Real(eps));
  for (Real& one : row) one = one / divisor;
}

template <class Real>
void Combine(const HiddenFormula& formula, const Tensor<Real>& gate, const Tensor<Real>& up,
             Tensor<Real>& hidden) {
  const size_t N = hidden.shape[0], F = hidden.shape[1];
  for (size_t n = 0; n < N; ++n) {
    const size_t of_gate = formula.GateRow(n, N), of_up = formula.UpRow(n, N);
    for (size_t f = 0; f < F; ++f) hidden(n, f) = formula(f, gate(of_gate, f), up(of_up, f));
    if (formula.norm_eps && F > 0) Normalize(std::span(&hidden(n, 0), F), *formula.norm_eps);
  }
}

template <class Real>
void AddResidual(const HiddenFormula& formula, const Tensor<Real>& x, Tensor<Real>& y) {
  for (size_t i = 0; i < y.data.size() && formula.residual != 0; ++i)
    y.data[i] = y.data[i] + Real(formula.residual) * x.data[i];
}

struct MeasuredFeedForward : FeedForward {
  HiddenFormula formula;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& gate, const Weights<Real>& up,
                  const Weights<Real>& down, const Tensor<Real>* gate_bias,
                  const Tensor<Real>* up_bias, const Tensor<Real>* down_bias, Tensor<Real>& y,
                  Tensor<Real>& hidden) const {
    Tensor<Real> g(hidden.shape), u(hidden.shape);
    Linear()(x, gate, gate_bias, g);
    Linear()(x, up, up_bias, u);
    Combine(formula, Stored(std::move(g)), Stored(std::move(u)), hidden);
    Linear()(Intermediate(hidden), down, down_bias, y);
    AddResidual(formula, x, y);
  }
};

// Where the last hidden columns may begin: remainders of vectors, halves, the last few.
std::set<size_t> FirstsOfRests(size_t F) {
  std::set<size_t> firsts = {F / 2};
  for (const size_t few : {1, 2, 4, 8, 16})
    if (few < F) firsts.insert(F - few);
  for (size_t width = 4; width < F && width <= 256; width *= 2) firsts.insert(F / width * width);
  firsts.erase(0);
  firsts.erase(F);
  return firsts;
}
struct RestFacts {
  Combination how;
  const char *name, *text;
};
constexpr RestFacts kRests[] = {
    {Combination::kNotActivated, "rest_not_activated", "nothing is activated"},
    {Combination::kGateAlone, "rest_without_up", "up is ignored"},
    {Combination::kGateTwice, "rest_with_gate_for_up", "up is the gate"},
    {Combination::kSum, "rest_added", "gate and up are added instead of multiplied"},
    {Combination::kBothActivated, "rest_both_activated", "both halves are activated"}};

}  // namespace

const std::vector<CombinationFacts>& Combinations() {
  static const std::vector<CombinationFacts> kCombinations = {
      {Combination::kGated, "", ""},
      {Combination::kOfProduct, "product_activated", "the product of both halves is activated"},
      {Combination::kGateAlone, "up_missing", "up is ignored: an ordinary layer without a gate"},
      {Combination::kBothActivated, "both_activated", "both halves are activated"},
      {Combination::kSum, "halves_added", "the halves are added instead of multiplied"},
      {Combination::kNotActivated, "not_activated", "nothing is activated: a bilinear layer"},
      {Combination::kPlusOne, "one_added_to_up", "1 is added to up"}};
  return kCombinations;
}

const std::vector<ProjectionNumber>& ProjectionNumbers() {
  using F = HiddenFormula;
  using enum ProjectionNumber::Kind;
  static const std::vector<ProjectionNumber> kNumbers = {
      {kAdded, true, "gate_offset", "# is added to gate",
       [](F& f) -> double& { return f.gate_added; }},
      {kAdded, false, "up_offset", "# is added to up", [](F& f) -> double& { return f.up_added; }},
      {kMost, true, "gate_limited_above", "gate is limited to at most #",
       [](F& f) -> double& { return f.gate_high; }},
      {kLeast, true, "gate_limited_below", "gate is limited to at least #",
       [](F& f) -> double& { return f.gate_low; }},
      {kMost, false, "up_limited_above", "up is limited to at most #",
       [](F& f) -> double& { return f.up_high; }},
      {kLeast, false, "up_limited_below", "up is limited to at least #",
       [](F& f) -> double& { return f.up_low; }}};
  return kNumbers;
}

std::vector<HiddenChange> HiddenChanges(const Function& right, size_t F) {
  std::vector<HiddenChange> changes;
  for (const NamedAlteration& one : AlterationsWithoutNumber(right.curve)) {
    changes.push_back({one.name, one.sentence,
                       [=](HiddenFormula& formula) { formula.function.alteration = {one.kind}; }});
  }
  for (const double eps : {0.0, 1e-5, 1e-6, 1e-8}) {
    changes.push_back(
        {"hidden_normed",
         "each row of the hidden tensor is divided by its root mean square, with eps = " +
             PrintValue(eps),
         [=](HiddenFormula& formula) { formula.norm_eps = eps; }});
  }
  for (const DType format : {DType::kBF16, DType::kF16}) {
    const std::string in(NameOf(format));
    changes.push_back({"hidden_in_" + in, "the hidden tensor is rounded to " + in,
                       [=](HiddenFormula& formula) { formula.format = format; }});
  }
  changes.push_back({"gate_of_first_row", "every row has the gate of row 0",
                     [](HiddenFormula& formula) { formula.gate_of_first = true; }});
  changes.push_back({"up_of_first_row", "every row has up of row 0",
                     [](HiddenFormula& formula) { formula.up_of_first = true; }});
  for (const size_t from : FirstsOfRests(F)) {
    const std::string columns = "from hidden column " + std::to_string(from) + " on ";
    for (const auto& [how, name, text] : kRests)
      changes.push_back({name, columns + text, [=, how = how](HiddenFormula& formula) {
                           formula.other_from = from;
                           formula.other = how;
                         }});
  }
  return changes;
}

std::shared_ptr<const Operation> WithHiddenFormula(const Case& c, const HiddenFormula& formula) {
  MeasuredFeedForward measured;
  measured.formula = formula;
  return MeasuredOperation(c, measured);
}

}  // namespace sextant::oracle
