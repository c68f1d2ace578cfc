#include "oracle/attention/measured/least_squares.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::oracle {
namespace {

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

}  // namespace

void LeastSquares::Add(std::span<const double> a, double b) {
  const auto n = static_cast<Eigen::Index>(right_.size());
  const ConstVector row(a.data(), n);
  ++equations_;
  squares_ += b * b;
  Vector(right_.data(), n) += b * row;
  Eigen::Map<Eigen::MatrixXd>(matrix_.data(), n, n).selfadjointView<Eigen::Lower>().rankUpdate(row);
}

namespace {

// The unknowns whose pivots in L D L^T are not lost in the rounding errors of the sums, ascending.
// `scaled` has a diagonal of 1, or 0 for an unknown of no equation.
std::vector<Eigen::Index> Determined(const Eigen::MatrixXd& scaled) {
  const double lost = static_cast<double>(scaled.rows() + 1) * 0x1p-50;
  const Eigen::LDLT<Eigen::MatrixXd> factors(scaled);
  Eigen::VectorXi places = Eigen::VectorXi::LinSpaced(static_cast<int>(scaled.rows()), 0,
                                                      static_cast<int>(scaled.rows()) - 1);
  places = factors.transpositionsP() * places;
  std::vector<Eigen::Index> determined;
  for (Eigen::Index i = 0; i < scaled.rows(); ++i)
    if (factors.vectorD()[i] > lost) determined.push_back(places[i]);
  std::ranges::sort(determined);
  return determined;
}

}  // namespace

LeastSquares::Solution LeastSquares::Solve() const {
  const size_t n = right_.size();
  const auto order = static_cast<Eigen::Index>(n);
  const ConstVector right(right_.data(), order);
  const Eigen::MatrixXd A = Eigen::Map<const Eigen::MatrixXd>(matrix_.data(), order, order)
                                .selfadjointView<Eigen::Lower>();
  // Unknowns of different sizes are as well determined as others.
  const Eigen::VectorXd size = A.diagonal().cwiseSqrt();
  const Eigen::VectorXd scale = (size.array() > 0).select(size.cwiseInverse(), 0);
  const Eigen::MatrixXd scaled = scale.asDiagonal() * A * scale.asDiagonal();
  Solution solution{std::vector<double>(n),
                    std::vector<double>(n, std::numeric_limits<double>::infinity()), 1};
  const std::vector<Eigen::Index> known = Determined(scaled);
  const auto count = static_cast<Eigen::Index>(known.size());
  const Eigen::LLT<Eigen::MatrixXd> factors(scaled(known, known));
  const Eigen::VectorXd x = factors.solve(right(known).cwiseProduct(scale(known)));
  const Eigen::MatrixXd inverse = factors.solve(Eigen::MatrixXd::Identity(count, count));
  Vector all(solution.x.data(), order);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double factor = scale[known[i]];
    all[known[i]] = factor * x[i];
    solution.bar[static_cast<size_t>(known[i])] = factor * std::sqrt(inverse(i, i));
  }
  // The sum of the squared residuals is x A x - 2 x b + b^2.
  const double sum = squares_ + all.dot(A * all - 2 * right);
  if (equations_ > n)
    solution.rms = std::sqrt(std::max(0.0, sum) / static_cast<double>(equations_ - n));
  return solution;
}

}  // namespace sextant::oracle
