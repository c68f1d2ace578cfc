#include "oracle/layer/measured/feed_forward_rows.h"

#include <cmath>

#include "oracle/layer/measured/shared_range.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

constexpr size_t kComparedRows = 4, kComparedColumns = 64;  // of each output that are looked at
constexpr size_t kColumnsWithProducts = 16;

std::vector<double> Product(const Tensor<double>& weight, const Tensor<double>* bias,
                            std::span<const double> x) {
  std::vector<double> all;
  for (size_t f = 0; f < weight.shape[0]; ++f) {
    double sum = bias ? bias->data[f] : 0;
    for (size_t m = 0; m < x.size(); ++m) sum += x[m] * weight(f, m);
    all.push_back(sum);
  }
  return all;
}

std::vector<double> HiddenOf(const HiddenFormula& formula, const ProjectedRow& row) {
  std::vector<double> hidden(row.gate.size());
  for (size_t f = 0; f < hidden.size(); ++f) hidden[f] = formula(f, row.gate[f], row.up[f]);
  if (!formula.norm_eps || hidden.empty()) return hidden;
  double squares = 0;
  for (const double h : hidden) squares += h * h;
  const double mean = squares / static_cast<double>(hidden.size());
  for (double& h : hidden) h /= std::sqrt(mean + *formula.norm_eps);
  return hidden;
}

}  // namespace

ForwardRows::ForwardRows(const Observation& seen, ErrorBar bar)
    : seen_(seen),
      y_(seen, kY, bar),
      hidden_(seen, kHidden, bar),
      M_(seen.inputs[0].values.shape[1]) {
  if (y_.IsAnswered()) rows_ = y_.ChosenRows(kComparedRows, M_);
}

std::vector<ProjectedRow> ForwardRows::ProjectedBy(const Tensors& inputs,
                                                   const HiddenFormula& formula) const {
  const size_t N = inputs[0].values.shape[0];
  std::vector<ProjectedRow> rows;
  for (const size_t n : rows_) {
    const auto product = [&](const std::string& name, size_t of) {
      const auto x = std::span(inputs[0].values.data).subspan(of * M_, M_);
      return Product(InputNamed(inputs, name), FindValues(inputs, name + "_bias"), x);
    };
    rows.push_back({n, product("gate", formula.GateRow(n, N)), product("up", formula.UpRow(n, N))});
  }
  return rows;
}

std::vector<size_t> ForwardRows::ColumnsOf(size_t most) const {
  std::vector<size_t> columns;
  for (size_t m = 0; m < M_; m += (M_ + most - 1) / most) columns.push_back(m);
  return columns;
}

std::vector<Rest> ForwardRows::RestsOf(const HiddenFormula& formula, const Tensors& inputs,
                                       const ProjectedRow& row) const {
  std::vector<Rest> rests;
  const std::vector<double> hidden = HiddenOf(formula, row);
  const auto add = [&](const Samples& samples, size_t at, double product, double other, double x) {
    if (!samples.Has(at)) return;
    const Sample sample = samples.At(at);
    rests.push_back({sample.y - (product + other), sample.error, x, product});
  };
  const size_t F = hidden.size();
  for (size_t f = 0; f < F && hidden_.IsAnswered(); ++f)
    add(hidden_, row.n * F + f, hidden[f], 0, 0);
  const Tensor<double>& down = InputNamed(inputs, "down");
  const Tensor<double>* bias = FindValues(inputs, "down_bias");
  for (const size_t m : ColumnsOf(kComparedColumns)) {
    const double x = inputs[0].values(row.n, m);
    double sum = 0;
    for (size_t f = 0; f < F; ++f) sum += hidden[f] * down(m, f);
    add(y_, row.n * M_ + m, sum, (bias ? bias->data[m] : 0) + formula.residual * x, x);
  }
  return rests;
}

bool ForwardRows::FitsAll(const HiddenFormula& formula, const Tensors& inputs,
                          const std::vector<ProjectedRow>& rows) const {
  return std::ranges::all_of(rows, [&](const ProjectedRow& row) {
    return std::ranges::all_of(RestsOf(formula, inputs, row),
                               [](const Rest& rest) { return std::abs(rest.rest) <= rest.error; });
  });
}

Range ForwardRows::Measured(HiddenFormula& formula, const Tensors& inputs, const ProjectedRow& row,
                            NumberOfFormula number, const Range& domain) const {
  const auto rests = [&](double value) {
    HiddenFormula other = formula;
    number(other) = value;
    return RestsOf(other, inputs, row);
  };
  const double found = Lowest([&](double value) { return SquaresOf(rests(value)); }, domain);
  number(formula) = found;
  const double width = domain.high - domain.low;
  const double step = 1e-6 * std::max(std::abs(found), width / 16);  // for a derivative
  if (!(step > 0)) return {1, 0};                                    // the number has no effect
  const auto here = rests(found), there = rests(found + step);
  Range range = domain;
  for (size_t i = 0; i < here.size(); ++i) {
    const double slope = (here[i].rest - there[i].rest) / step;
    if (slope == 0) continue;
    const double a = (here[i].rest - here[i].error) / slope,
                 b = (here[i].rest + here[i].error) / slope;
    range.Intersect({found + std::min(a, b), found + std::max(a, b)});
  }
  return range;
}

std::vector<Products> ForwardRows::HiddenProducts(const HiddenFormula& formula,
                                                  const Tensors& inputs,
                                                  const std::vector<ProjectedRow>& rows) const {
  const Tensor<double>& down = InputNamed(inputs, "down");
  const Tensor<double>* bias = FindValues(inputs, "down_bias");
  std::vector<Products> all;
  for (const ProjectedRow& row : rows) {
    const std::vector<double> hidden = HiddenOf(formula, row);
    for (const size_t m : ColumnsOf(kColumnsWithProducts)) {
      if (!y_.Has(row.n * M_ + m)) continue;
      const double residual = formula.residual * inputs[0].values(row.n, m);
      Products one{y_.At(row.n * M_ + m), (bias ? bias->data[m] : 0) + residual, {0}};
      for (size_t f = 0; f < hidden.size(); ++f)
        one.first.push_back(one.first.back() + hidden[f] * down(m, f));
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<double> ForwardRows::Distances() const {
  std::vector<double> distances;
  for (const size_t n : rows_) {
    for (const size_t m : ColumnsOf(kComparedColumns)) {
      if (!y_.Has(n * M_ + m)) continue;
      const Sample sample = y_.At(n * M_ + m);
      distances.push_back(std::abs(sample.y - sample.right) / sample.error);
    }
  }
  return distances;
}

}  // namespace sextant::oracle
