#include "oracle/attention/measured/softmax_sums.h"

#include <algorithm>
#include <cmath>

#include "oracle/attention/measured/softmax_parts.h"

namespace sextant::oracle {
namespace {

// All ranges of columns are compared where that needs at most so many sums.
constexpr size_t kMostRanges = size_t{1} << 22;
// A range counts if it leaves so much less than all columns do; a number that is added, if its
// spread over the rows is so much smaller than the number.
constexpr double kBetterSum = 4;
// Evenly spread rows with about so many elements are read, but not fewer rows than that.
constexpr size_t kMostElements = size_t{1} << 16, kFewestRows = 8;

// e^(x - largest) of a row, with the parts of the model.
std::vector<double> ExponentialsOf(std::span<const double> x, const SoftmaxParts& parts) {
  std::vector<double> terms(x.size());
  double largest = -kInfinity;
  if (parts.tile == 0) largest = std::ranges::max(x);
  for (size_t j = 0; j < x.size(); ++j) {
    if (parts.tile > 0 && j % parts.tile == 0) {
      for (size_t k = j; k < std::min(x.size(), j + parts.tile); ++k)
        largest = std::max(largest, x[k]);
    }
    terms[j] = x[j] == -kInfinity ? 0 : std::exp(std::max(x[j] - largest, -parts.limit));
    if (terms[j] < parts.dropped) terms[j] = 0;
  }
  return terms;
}

double Median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

// e^(x - largest) / sum, from the result; NaN if the result does not say it.
double QuotientOf(double result, SoftmaxResult kind) {
  if (kind == SoftmaxResult::kLogarithm) return std::exp(result);
  return kind == SoftmaxResult::kSquare ? std::sqrt(result) : result;
}

struct Answered {
  std::span<const double> x, y;
};
std::vector<Answered> RowsOf(const Tensors& inputs, const Tensors& answer) {
  std::vector<Answered> rows;
  if (answer.empty()) return rows;
  const Tensor<double>& x = inputs[0].values;
  const size_t M = x.shape[1];
  for (size_t i = 0; M > 0 && i < x.data.size(); i += M) {
    const Answered row{std::span(x.data).subspan(i, M),
                       std::span(answer[0].values.data).subspan(i, M)};
    if (std::ranges::max(row.x) > -kInfinity) rows.push_back(row);
  }
  return rows;
}

size_t RowsRead(size_t rows, size_t M) {
  return std::min(rows, std::max(kMostElements / M, kFewestRows));
}

}  // namespace

size_t SoftmaxSums::ElementsRead(size_t rows, size_t M) {
  return M == 0 ? 0 : RowsRead(rows, M) * M;
}

SoftmaxSums::SoftmaxSums(const Observation& seen, const Hypothesis& model) {
  const SoftmaxParts parts = PartsOf(model);
  const TensorReader reader = model.inputs.Readers()[0];
  const size_t count = reader.shape()[0], M = reader.shape()[1];
  const size_t rows = seen.answer.empty() || M == 0 ? 0 : RowsRead(count, M);
  std::vector<double> x(M);
  for (size_t i = 0; i < rows; ++i) {
    const size_t at = i * count / rows * M;
    reader.Read(at, x);
    const auto y = std::span(seen.answer[0].values.data).subspan(at, M);
    if (std::ranges::max(x) == -kInfinity) continue;
    const std::vector<double> terms = ExponentialsOf(x, parts);
    Row row{{0}, std::ranges::max(x), 0};
    std::vector<double> sums;
    for (size_t j = 0; j < x.size(); ++j) {
      row.until.push_back(row.until.back() + terms[j]);
      const double sum = terms[j] / QuotientOf(y[j], parts.result);
      if (std::isfinite(sum) && sum > 0) sums.push_back(sum);
    }
    if (sums.empty()) continue;
    row.sum = Median(std::move(sums));
    rows_.push_back(std::move(row));
  }
}

std::optional<std::pair<size_t, size_t>> SoftmaxSums::Range() const {
  if (rows_.empty()) return std::nullopt;
  const size_t M = rows_[0].until.size() - 1;
  if (M * M * rows_.size() > kMostRanges) return std::nullopt;
  // The relative error of the sums; given up beyond `most`.
  const auto left_by = [&](size_t first, size_t last, double most) {
    double left = 0;
    for (const Row& row : rows_) {
      left += std::abs((row.until[last] - row.until[first]) / row.sum - 1);
      if (left > most) break;
    }
    return left;
  };
  const double of_all = left_by(0, M, kInfinity);
  double least = of_all / kBetterSum;
  std::optional<std::pair<size_t, size_t>> best;
  for (size_t first = 0; first < M; ++first) {
    for (size_t last = first + 1; last <= M; ++last) {
      const double left = left_by(first, last, least);
      if (left < least) best = {first, last}, least = left;
    }
  }
  return best == std::pair(size_t{0}, M) ? std::nullopt : best;
}

std::optional<MeasuredNumber> SoftmaxSums::MeanOf(double (*unit)(const Row& row)) const {
  if (rows_.size() < 2) return std::nullopt;
  std::vector<double> numbers;
  for (const Row& row : rows_) numbers.push_back((row.sum - row.until.back()) * unit(row));
  const double middle = Median(numbers);
  // Half of the rows are at most so far from it: rows with large sums say little.
  for (double& number : numbers) number = std::abs(number - middle);
  const double spread = Median(std::move(numbers));
  if (!std::isfinite(middle) || kBetterSum * spread > std::abs(middle)) return std::nullopt;
  return MeasuredNumber{middle, std::max(2 * spread, 0x1p-40 * std::abs(middle))};
}

std::optional<MeasuredNumber> SoftmaxSums::Added() const {
  return MeanOf([](const Row&) { return 1.0; });
}
std::optional<MeasuredNumber> SoftmaxSums::Zeros() const {
  return MeanOf([](const Row& row) { return std::exp(row.largest); });
}

std::optional<MeasuredNumber> DroppedBelow(const Observation& seen) {
  const std::vector<Answered> rows = RowsOf(seen.inputs, seen.answer);
  const auto has_zero = [](const Answered& row) {
    return std::ranges::find(row.y, 0.0) != row.y.end();
  };
  double most_dropped = 0, least_kept = 1;
  // A row without a zero only limits what others say, so it is looked at last.
  for (const bool with_zeros : {true, false}) {
    for (const Answered& row : rows) {
      if (has_zero(row) != with_zeros) continue;
      const std::vector<double> terms = ExponentialsOf(row.x, {});
      for (size_t j = 0; j < terms.size(); ++j) {
        if (row.y[j] == 0) most_dropped = std::max(most_dropped, terms[j]);
        if (row.y[j] != 0 && !std::isnan(row.y[j])) least_kept = std::min(least_kept, terms[j]);
      }
      if (most_dropped >= least_kept) return std::nullopt;
    }
    if (!(most_dropped > 0)) return std::nullopt;
  }
  return MiddleOf({most_dropped, least_kept});
}

}  // namespace sextant::oracle
