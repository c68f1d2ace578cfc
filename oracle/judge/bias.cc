#include "oracle/judge/bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>

namespace sextant::oracle {
namespace {

// Limit of |mean| of independent errors, in standard errors. Two-sided tail of Student's t for
// kLeastUnits units: 5e-9.
constexpr double kUnlikelyBias = 8;
constexpr size_t kLeastUnits = 32;

// Answers of the same magnitude are one unit. Units are found by hash, so distinct answers may
// share one. Beyond this number, more units would not change the result.
constexpr size_t kMostAnswers = size_t{1} << 16;

}  // namespace

void Bias::Unit::Add(double x) {
  sum += x;
  ++count;
}

double Bias::Unit::Mean() const { return sum / static_cast<double>(count); }

Bias::Bias(size_t elements, size_t width)
    : width_(width),
      rows_(elements / width),
      columns_(width),
      answers_(std::min(kMostAnswers, std::bit_ceil(4 * elements + 1))) {}

void Bias::Add(size_t i, double got, double relative) {
  rows_[i / width_].Add(relative);
  columns_[i % width_].Add(relative);
  answers_[std::hash<double>()(std::abs(got)) % answers_.size()].Add(relative);
  all_.Add(relative);
  squares_ += relative * relative;
}

double Bias::Mean() const { return all_.count == 0 ? 0 : all_.Mean(); }

double Bias::Spread() const {
  return all_.count == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(all_.count));
}

// Variance of the mean of units; infinite if there are too few. Units of equal mean (the same
// position twice) count once.
double Bias::Variance(const std::vector<Unit>& units) {
  std::set<double> means;
  for (const Unit& unit : units) {
    if (unit.count > 0) means.insert(unit.Mean());
  }
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
