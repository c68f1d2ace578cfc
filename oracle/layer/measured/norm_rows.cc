#include "oracle/layer/measured/norm_rows.h"

#include <cmath>
#include <set>
#include <utility>

#include "oracle/layer/measured/divisor.h"

namespace sextant::oracle {
NormRows::NormRows(const NormQuestion& question)
    : q_(question),
      N_(question.N * question.right.parts),
      M_(question.M / question.right.parts),
      rows_(ChosenRows()),
      sums_(question.x, N_, M_, *question.totals) {
  for (const size_t n : rows_) {
    error_factors_.push_back(ErrorFactor(n));
    telling_.push_back(TellingElements(n));
  }
  for (size_t j = 0; j < M_; ++j) sums_.AddColumn();
  if (q_.right.columns < M_) sums_.Restart();
  for (size_t j = 0; j < q_.right.columns && q_.right.columns < M_; ++j) sums_.AddColumn();
  for (const Sums& sums : SumsOf(q_.right))
    right_divisors_.push_back(DivisorOf(q_.right, sums.sum / q_.right.count));
}

// Parts of rows are one of each chosen row: of a large tensor it takes long to compare all parts,
// and there are many numbers of parts. Of the rows in turn the part with the largest distance, and
// another one.
std::vector<size_t> NormRows::ChosenRows() const {
  const size_t parts = q_.right.parts;
  const std::vector<size_t> rows = q_.samples.ChosenRows(q_.rows, q_.M);
  if (parts == 1) return rows;
  std::vector<size_t> chosen;
  for (size_t i = 0; i < rows.size(); ++i) {
    size_t part = i % parts;
    if (i % 2 == 0) {
      const std::vector<double> distances = ElementDistances(rows[i], q_.M);
      part = static_cast<size_t>(std::ranges::max_element(distances) - distances.begin()) / M_;
    }
    chosen.push_back(rows[i] * parts + part);
  }
  return chosen;
}

std::vector<Sums> NormRows::SumsOf(const Norm& norm) const {
  std::vector<Sums> all;
  for (const size_t n : rows_) all.push_back(sums_.Of(norm, n));
  return all;
}

std::vector<MeasuredDivisor> NormRows::DivisorsOf(const Norm& norm,
                                                  const std::vector<Sums>& sums) const {
  std::vector<MeasuredDivisor> all(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!FindDivisor(norm, i, sums[i].mean, all[i])) return {};
  }
  return all;
}

bool NormRows::Narrow(const Norm& norm, size_t i, double mean, size_t at, Range& factor,
                      double& least_error) const {
  if (!q_.samples.Has(at)) return true;
  const Sample sample = q_.samples.At(at);
  const double w = FactorOf(norm, WeightAt(at)), scale = (q_.x[at] - mean) * w;
  const double rest = sample.y - BiasOf(norm, w, q_.bias, ColumnAt(at)),
               error = error_factors_[i] * sample.error;
  if (scale == 0) return std::abs(rest) <= error;
  factor.Intersect(Quotient(rest, error, scale));
  least_error = std::min(least_error, error / std::abs(scale));
  return !factor.IsEmpty();
}

bool NormRows::FindDivisor(const Norm& norm, size_t i, double mean, MeasuredDivisor& found) const {
  Range factor{0, kInfinity};  // 1 / D
  double least_error = kInfinity;
  for (const size_t at : telling_[i])
    if (!Narrow(norm, i, mean, at, factor, least_error)) return false;
  for (size_t at = rows_[i] * M_; at < (rows_[i] + 1) * M_; ++at)
    if (!Narrow(norm, i, mean, at, factor, least_error)) return false;
  // Six roundings of this calculation, and of the one that compares.
  constexpr double kRoundings = 6 * 0x1p-53;
  found = {{(1 - kRoundings) / factor.high, (1 + kRoundings) / factor.low},
           least_error / factor.Middle()};
  return true;
}

// The worst element, and some others: most wrong norms contradict them.
std::vector<size_t> NormRows::TellingElements(size_t n) const {
  constexpr size_t kTelling = 16;
  const std::vector<double> distances = ElementDistances(n, M_);
  const auto worst = std::ranges::max_element(distances) - distances.begin();
  std::vector<size_t> elements = {n * M_ + static_cast<size_t>(worst)};
  for (size_t j = 0; j < kTelling; ++j) elements.push_back(n * M_ + j * M_ / kTelling);
  return elements;
}

template <class Use>
void NormRows::ForEachElement(const Norm& norm, const Use& use) const {
  const std::vector<Sums> sums = SumsOf(norm);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double divisor = DivisorOf(norm, sums[i].sum / norm.count);
    for (size_t at = rows_[i] * M_; at < (rows_[i] + 1) * M_; ++at) {
      if (!q_.samples.Has(at)) continue;
      const double w = FactorOf(norm, WeightAt(at));
      Sample sample = q_.samples.At(at);
      sample.error *= error_factors_[i];
      if (!use(sample, (q_.x[at] - sums[i].mean) / divisor, w,
               BiasOf(norm, w, q_.bias, ColumnAt(at))))
        return;
    }
  }
}

Range NormRows::OutputFactor(const Norm& norm) const {
  Range factor;
  ForEachElement(norm, [&](const Sample& sample, double z, double w, double bias) {
    const double y = z * w + bias;
    if (y != 0) factor.Intersect(Quotient(sample.y, sample.error, y));
    return !factor.IsEmpty();
  });
  return factor;
}

// For two columns j and k of a row: y_j z_k (w_k + a) = y_k z_j (w_j + a), where z = x - mean and y
// is without the bias. k is the column of the largest |y|.
Range NormRows::AddedToWeight(const Norm& norm) const {
  struct Element {
    double y, z, w, error;
  };
  std::vector<Element> row;
  Range added;
  const auto use_row = [&] {
    if (row.empty()) return;
    const Element k = *std::ranges::max_element(row, {}, [](auto& e) { return std::abs(e.y); });
    for (const Element& j : row) {
      const double value = k.y * j.z * j.w - j.y * k.z * k.w, divisor = j.y * k.z - k.y * j.z;
      const double a = divisor == 0 ? 0 : value / divisor;
      const double error =
          j.error * std::abs(k.z * (k.w + a)) + k.error * std::abs(j.z * (j.w + a));
      // The product of both errors is smaller than either term.
      added.Intersect(Quotient(value, 2 * error, divisor));
    }
    row.clear();
  };
  size_t n = rows_.empty() ? 0 : rows_.front();
  ForEachElement(norm, [&](const Sample& sample, double z, double w, double bias) {
    if (sample.at / M_ != n) use_row();
    n = sample.at / M_;
    row.push_back({sample.y - bias, z, w, sample.error});
    return !added.IsEmpty();
  });
  use_row();
  return added;
}

// A row that is larger than the right one has larger roundings.
double NormRows::ErrorFactor(size_t n) const {
  double y = 0, right = 0;
  for (size_t at = n * M_; at < (n + 1) * M_; ++at) {
    if (!q_.samples.Has(at)) continue;
    y = std::max(y, std::abs(q_.samples.At(at).y));
    right = std::max(right, std::abs(q_.samples.At(at).right));
  }
  return right > 0 ? std::max(1.0, y / right) : 1;
}

std::vector<double> NormRows::DistancesOf(const Norm& norm,
                                          const std::vector<MeasuredDivisor>& divisors,
                                          bool has_other_weights) const {
  const Norm& right = q_.right;
  const bool same_elements = !q_.has_other_weights && !has_other_weights &&
                             norm.unit_offset == right.unit_offset && norm.added == right.added &&
                             norm.weight == right.weight && norm.bias == right.bias;
  const bool any_error =
      norm.subtracts_mean || right.subtracts_mean || right.parts > 1 || divisors.empty();
  std::vector<double> distances;
  std::set<double> seen;  // rows with the same divisor have the same roundings
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!seen.insert(right_divisors_[i]).second) continue;
    const std::vector<double> elements = ElementDistances(rows_[i], M_);
    if (!same_elements) {
      distances.insert(distances.end(), elements.begin(), elements.end());
    } else if (any_error) {
      distances.push_back(std::ranges::max(elements));
    } else {
      const double ratio = right_divisors_[i] / divisors[i].range.Middle();
      distances.push_back(std::abs(1 - ratio) / divisors[i].error);
    }
  }
  return distances;
}

std::vector<double> NormRows::ElementDistances(size_t n, size_t width) const {
  std::vector<double> distances;
  for (size_t at = n * width; at < (n + 1) * width; ++at) {
    const bool has = q_.samples.Has(at);
    const Sample sample = has ? q_.samples.At(at) : Sample{};
    distances.push_back(has ? std::abs(sample.y - sample.right) / sample.error : 0);
  }
  return distances;
}

}  // namespace sextant::oracle
