#include "oracle/judge/bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sextant::oracle {
namespace {

// Limit of |mean| of independent errors, in standard errors. Two-sided tail of Student's t for
// kLeastUnits units: 5e-9.
constexpr double kUnlikelyBias = 8;
constexpr size_t kLeastUnits = 32;

constexpr size_t kMostUnits = size_t{1} << 16;

// The sum of numbers, and of their squares: eight sums of every eighth, so that no addition waits
// for the one before.
struct Sums {
  explicit Sums(std::span<const double> numbers) {
    constexpr size_t kSums = 8;
    double sums[kSums] = {}, of_squares[kSums] = {};
    size_t k = 0;
    for (; k + kSums <= numbers.size(); k += kSums) {
      for (size_t i = 0; i < kSums; ++i) {
        sums[i] += numbers[k + i];
        of_squares[i] += numbers[k + i] * numbers[k + i];
      }
    }
    for (size_t i = 0; k + i < numbers.size(); ++i) {
      sums[i] += numbers[k + i];
      of_squares[i] += numbers[k + i] * numbers[k + i];
    }
    sum = std::accumulate(sums, sums + kSums, 0.0);
    squares = std::accumulate(of_squares, of_squares + kSums, 0.0);
  }
  double sum, squares;
};

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
  answers_.resize(std::min(kMostUnits, std::bit_ceil(4 * elements + 1)));
}

void Bias::Add(size_t i, std::span<const double> got, std::span<const double> relative) {
  const Sums sums(relative);
  squares_ += sums.squares;
  all_.Add(sums.sum, relative.size());
  if (!has_units_) return;
  AddToAnswers(got, relative);
  for (size_t k = 0; k < relative.size();) {
    const size_t row = (i + k) / width_, column = i + k - row * width_;
    const size_t count = std::min(relative.size() - k, width_ - column);
    AddInRow(row, column, relative.subspan(k, count));
    k += count;
  }
}

// The units of answers are more than a cache holds, so they are fetched some time before they are
// used.
void Bias::AddToAnswers(std::span<const double> got, std::span<const double> relative) {
  constexpr size_t kAtOnce = 64;
  Unit* units[kAtOnce];
  const size_t mask = answers_.size() - 1;  // the size is a power of two
  for (size_t first = 0; first < got.size(); first += kAtOnce) {
    const size_t count = std::min(kAtOnce, got.size() - first);
    for (size_t k = 0; k < count; ++k) {
      units[k] = &answers_[HashOf(std::abs(got[first + k])) & mask];
      __builtin_prefetch(units[k], 1);
    }
    for (size_t k = 0; k < count; ++k) units[k]->Add(relative[first + k], 1);
  }
}

void Bias::AddInRow(size_t row, size_t column, std::span<const double> relative) {
  rows_[row / rows_per_unit_].Add(Sums(relative).sum, relative.size());
  Unit* of_column = &columns_[column / columns_per_unit_];
  if (columns_per_unit_ == 1) {
    for (const double x : relative) (of_column++)->Add(x, 1);
    return;
  }
  size_t left = columns_per_unit_ - column % columns_per_unit_;  // of the unit
  for (const double x : relative) {
    if (left == 0) {
      ++of_column;
      left = columns_per_unit_;
    }
    of_column->Add(x, 1);
    --left;
  }
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
  merge_all(columns_, next.columns_);
  merge_all(answers_, next.answers_);
  merge(all_, next.all_);
  squares_ += next.squares_;
}

double Bias::Mean() const { return all_.count == 0 ? 0 : all_.Mean(); }

double Bias::Spread() const {
  return all_.count == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(all_.count));
}

// Variance of the mean of units; infinite if there are too few. Units of equal mean (the same
// position twice) count once.
double Bias::Variance(const std::vector<Unit>& units) {
  std::vector<double> means;
  for (const Unit& unit : units) {
    if (unit.count > 0) means.push_back(unit.Mean());
  }
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
  return Mean() / std::sqrt(Variance(rows_) + Variance(columns_) + VarianceBySize(answers_));
}

bool Bias::IsBeyond(double correct_bound) const {
  const double errors = std::abs(StandardErrors());
  return errors > kUnlikelyBias && std::abs(Mean()) * (1 - kUnlikelyBias / errors) > correct_bound;
}

}  // namespace sextant::oracle
