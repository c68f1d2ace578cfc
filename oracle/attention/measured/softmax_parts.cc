#include "oracle/attention/measured/softmax_parts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "oracle/attention/arg_max_score.h"
#include "reference/attention/empty_log_sum_exp.h"
#include "reference/layer/activation.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

double CenterOf(const Counted& x) { return x.center().high; }
double CenterOf(const Rounded& x) { return x.value(); }

std::vector<Counted> ExpOfAll(std::span<const Counted> numbers) {
  std::vector<Counted> all;
  for (const Counted& x : numbers) all.push_back(Exp(x));
  return all;
}

template <class Real>
class PartsOfRow {
 public:
  // Row n of the case.
  PartsOfRow(const SoftmaxParts& parts, size_t n, std::span<const Real> x) : parts_(parts), n_(n) {
    for (size_t j = 0; j < x.size(); ++j) {
      if (IsEmptyLogSumExp(x[j])) continue;
      columns_.push_back(j);
      x_.push_back(x[j]);
    }
    if (columns_.empty()) return;
    largest_ = x_[ArgMaxScore<Real>(x_)];
    SetTerms();
  }

  // A row without elements has no softmax.
  void Answer(std::span<Real> y) const {
    std::ranges::fill(y, Real(columns_.empty() ? kNaN : 0.0));
    const std::map<size_t, Real> sums = Sums();
    for (size_t i = 0; i < columns_.size(); ++i) {
      const size_t j = columns_[i];
      const bool divides = parts_.sum != SoftmaxSum::kNone && j < parts_.undivided_from;
      y[j] = divides ? Result(i, sums.at(parts_.GroupOf(j))) : terms_[i];
    }
  }

 private:
  void SetTerms() {
    Real largest = largest_;
    std::vector<Real> exponents;
    for (size_t i = 0, last = 0, at = 0; i < x_.size(); ++i) {
      if (parts_.tile > 0 && i == last) {
        while (last < x_.size() && columns_[last] / parts_.tile == columns_[i] / parts_.tile)
          ++last;
        at = ArgMaxScoreUpTo<Real>(x_, i, last, at);
        largest = x_[at];
      }
      Real exponent = x_[i] - largest;
      if (parts_.limit < kInfinity) exponent = ClampOrNaN(exponent, Real(-parts_.limit), Real(0.0));
      exponents.push_back(exponent);
    }
    terms_ = ExpOfAll(std::span<const Real>(exponents));
    for (Real& term : terms_)
      if (CenterOf(term) < parts_.dropped) term = Real(0.0);
  }

  // The sum of e^(x - largest) of each row, over the rows that have the sum of this one.
  Real SumOfRows() const {
    const Tensor<double>& x = parts_.all_rows->values;
    const size_t block = parts_.width, first = block == 0 ? 0 : n_ / block * block;
    const size_t last = std::min(x.shape[0], first + std::max<size_t>(block, 1));
    std::vector<Real> terms;
    for (size_t row = first; row < last; ++row) {
      const auto values = std::span(x.data).subspan(row * x.shape[1], x.shape[1]);
      const Real largest(std::ranges::max(values), parts_.all_rows->dtype);
      for (const double value : values)
        terms.push_back(Exp(Real(value, parts_.all_rows->dtype) - largest));
    }
    return SumOf(terms);
  }
  // The sum of each group of columns.
  std::map<size_t, Real> Sums() const {
    if (columns_.empty()) return {};
    if (parts_.sum == SoftmaxSum::kRows) return {{0, SumOfRows()}};
    std::map<size_t, std::vector<Real>> summed;
    for (size_t i = 0; i < columns_.size(); ++i) {
      std::vector<Real>& group = summed[parts_.GroupOf(columns_[i])];
      if (parts_.IsSummed(columns_[i])) group.push_back(terms_[i]);
    }
    std::map<size_t, Real> sums;
    for (auto& [group, some] : summed) {
      if (parts_.added != 0) some.push_back(Real(parts_.added));
      if (parts_.zeros > 0) some.push_back(Exp(Real(std::log(parts_.zeros)) - largest_));
      sums.emplace(group, SumOf(some));
    }
    return sums;
  }

  Real Result(size_t i, const Real& sum) const {
    if (parts_.result == SoftmaxResult::kLogarithm) return x_[i] - largest_ - Log(sum);
    const Real quotient = terms_[i] / sum;
    return parts_.result == SoftmaxResult::kSquare ? quotient * quotient : quotient;
  }

  const SoftmaxParts& parts_;
  const size_t n_;
  std::vector<size_t> columns_;  // without those of -infinity
  std::vector<Real> x_, terms_;
  Real largest_{};
};

}  // namespace

template <class Real>
void SoftmaxByParts::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  const ScopedStep in(Step::kSoftmax);
  const size_t M = x.shape[1];
  for (size_t n = 0; n < x.shape[0]; ++n) {
    const PartsOfRow<Real> row(parts, SliceBegin("N") + n, std::span(x.data).subspan(n * M, M));
    row.Answer(std::span(y.data).subspan(n * M, M));
  }
}

template void SoftmaxByParts::operator()(const Tensor<Counted>&, Tensor<Counted>&) const;
template void SoftmaxByParts::operator()(const Tensor<Rounded>&, Tensor<Rounded>&) const;

SoftmaxParts PartsOf(const Hypothesis& model) {
  const auto* by_parts = dynamic_cast<const TypedOperation<SoftmaxByParts>*>(model.operation.get());
  return by_parts ? by_parts->op().parts : SoftmaxParts();
}

Hypothesis WithSoftmaxParts(const Hypothesis& model, SoftmaxParts parts) {
  SoftmaxByParts changed;
  changed.parts = std::move(parts);
  return {std::make_shared<Wrapped<SoftmaxByParts, false>>(changed), model.inputs, model.recipe};
}

}  // namespace sextant::oracle
