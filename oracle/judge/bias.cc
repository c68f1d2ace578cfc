#include "oracle/judge/bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oracle/judge/error_sums.h"

namespace sextant::oracle {
namespace {

// Limit of |mean| of independent errors, in standard errors. Two-sided tail of Student's t for
// kLeastUnits units: 5e-9.
constexpr double kUnlikelyBias = 8;
constexpr size_t kLeastUnits = 32;

constexpr size_t kMostUnits = size_t{1} << 16;

// 16 bits: the highest of the product with 2^64 / golden ratio.
size_t HashOf(double x) { return std::bit_cast<uint64_t>(x) * 0x9e3779b97f4a7c15 >> 48; }

// Of `count` rows or columns.
size_t PerUnit(size_t count) { return (count + kMostUnits - 1) / kMostUnits; }
size_t UnitsOf(size_t count) { return count == 0 ? 0 : (count - 1) / PerUnit(count) + 1; }

}  // namespace

double Bias::Unit::Mean() const { return sum / static_cast<double>(count); }

// Answers of the same magnitude are one unit. Units are found by hash, so distinct answers may
// share one.
Bias::Bias(size_t elements, size_t width, bool units)
    : has_units_(units),
      width_(width),
      rows_per_unit_(PerUnit(elements / width)),
      columns_per_unit_(PerUnit(width)) {
  if (!units) return;
  rows_.resize(UnitsOf(elements / width));
  columns_.resize(UnitsOf(width));
  column_count_steps_.resize(columns_.size() + 1);
  answers_.resize(std::min(kMostUnits, std::bit_ceil(4 * elements + 1)));
}

Bias::Unit& Bias::UnitOfAnswer(double got) {
  return answers_[HashOf(std::abs(got)) & (answers_.size() - 1)];  // the size is a power of two
}

void Bias::Add(size_t i, double got, double relative) {
  squares_ += relative * relative;
  all_.Add(relative, 1);
  if (!has_units_) return;
  UnitOfAnswer(got).Add(relative, 1);
  rows_[i / width_ / rows_per_unit_].Add(relative, 1);
  AddToColumn(i % width_, relative);
}

void Bias::Add(size_t i, std::span<const double> got, std::span<const double> relative) {
  if (relative.size() == 1) return Add(i, got[0], relative[0]);
  const ErrorSums sums(relative);
  squares_ += sums.squares;
  all_.Add(sums.sum, relative.size());
  if (!has_units_) return;
  AddToAnswers(got, relative);
  for (size_t k = 0; k < relative.size();) {
    const size_t row = (i + k) / width_, column = i + k - row * width_;
    const size_t count = std::min(relative.size() - k, width_ - column);
    const std::span<const double> in_row = relative.subspan(k, count);
    const double sum = count == relative.size() ? sums.sum : ErrorSums(in_row).sum;
    rows_[row / rows_per_unit_].Add(sum, count);
    AddToColumns(column, in_row);
    k += count;
  }
}

// The units of answers are more than a cache holds, so they are fetched some time before they are
// used.
void Bias::AddToAnswers(std::span<const double> got, std::span<const double> relative) {
  constexpr size_t kAtOnce = 64;
  Unit* units[kAtOnce];
  for (size_t first = 0; first < got.size(); first += kAtOnce) {
    const size_t count = std::min(kAtOnce, got.size() - first);
    for (size_t k = 0; k < count; ++k) {
      units[k] = &UnitOfAnswer(got[first + k]);
      __builtin_prefetch(units[k], 1);
    }
    for (size_t k = 0; k < count; ++k) units[k]->Add(relative[first + k], 1);
  }
}

void Bias::AddToColumns(size_t column, std::span<const double> relative) {
  if (columns_per_unit_ == 1) {
    AddEach(relative, &columns_[column]);
    ++column_count_steps_[column];
    --column_count_steps_[column + relative.size()];
    return;
  }
  for (size_t k = 0; k < relative.size(); ++k) AddToColumn(column + k, relative[k]);
}

void Bias::AddToColumn(size_t column, double relative) {
  const size_t unit = column / columns_per_unit_;
  columns_[unit] += relative;
  ++column_count_steps_[unit];
  --column_count_steps_[unit + 1];
}

void Bias::Merge(const Bias& next) {
  const auto merge = [](Unit& unit, const Unit& other) {
    unit.sum += other.sum;
    unit.count += other.count;
  };
  const auto merge_all = [&](std::vector<Unit>& units, const std::vector<Unit>& others) {
    for (size_t u = 0; u < units.size(); ++u) merge(units[u], others[u]);
  };
  merge_all(rows_, next.rows_);
  AddEach(next.columns_, columns_.data());
  for (size_t u = 0; u < column_count_steps_.size(); ++u)
    column_count_steps_[u] += next.column_count_steps_[u];
  merge_all(answers_, next.answers_);
  merge(all_, next.all_);
  squares_ += next.squares_;
}

double Bias::Mean() const { return all_.count == 0 ? 0 : all_.Mean(); }

double Bias::Spread() const {
  return all_.count == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(all_.count));
}

std::vector<double> Bias::RowMeans() const {
  std::vector<double> means;
  for (const Unit& unit : rows_) {
    if (unit.count > 0) means.push_back(unit.Mean());
  }
  return means;
}

std::vector<double> Bias::ColumnMeans() const {
  std::vector<double> means;
  int64_t count = 0;
  for (size_t u = 0; u < columns_.size(); ++u) {
    count += column_count_steps_[u];
    if (count > 0) means.push_back(columns_[u] / static_cast<double>(count));
  }
  return means;
}

// Variance of the mean of units, of which these are the means; infinite if there are too few. Units
// of equal mean (the same position twice) count once.
double Bias::Variance(std::vector<double> means) {
  std::ranges::sort(means);
  means.erase(std::ranges::unique(means).begin(), means.end());
  if (means.size() < kLeastUnits) return INFINITY;
  const auto n = static_cast<double>(means.size());
  double center = 0, variance = 0;
  for (const double mean : means) center += mean / n;
  for (const double mean : means) variance += (mean - center) * (mean - center) / (n - 1);
  return variance / n;
}

// Variance of the mean of units, weighted by their sizes.
double Bias::VarianceBySize(const std::vector<Unit>& units) const {
  size_t count = 0;
  double variance = 0;
  for (const Unit& unit : units) {
    if (unit.count == 0) continue;
    ++count;
    const double deviation = (unit.sum - all_.Mean() * static_cast<double>(unit.count)) /
                             static_cast<double>(all_.count);
    variance += deviation * deviation;
  }
  if (count < kLeastUnits) return INFINITY;
  return variance * static_cast<double>(count) / static_cast<double>(count - 1);
}

double Bias::StandardErrors() const {
  if (all_.count == 0) return 0;
  return Mean() /
         std::sqrt(Variance(RowMeans()) + Variance(ColumnMeans()) + VarianceBySize(answers_));
}

bool Bias::IsBeyond(double correct_bound) const {
  const double errors = std::abs(StandardErrors());
  return errors > kUnlikelyBias && std::abs(Mean()) * (1 - kUnlikelyBias / errors) > correct_bound;
}

}  // namespace sextant::oracle
