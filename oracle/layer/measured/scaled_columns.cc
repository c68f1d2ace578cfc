#include "oracle/layer/measured/scaled_columns.h"

#include <cmath>
#include <optional>
#include <utility>

namespace sextant::oracle {
namespace {

constexpr size_t kMostColumns = 512;   // of which all ranges are tried
constexpr size_t kLargestPeriod = 64;  // of blocks
constexpr size_t kFewestScaled = 6;    // elements: two numbers are fitted to them

// The sums of one element: of all products, and of those of the columns.
struct Parts {
  double rest, error, sum, block;
};

double BlockSum(const Products& one, const ScaledColumns& columns) {
  const size_t M = one.first.size() - 1;
  double sum = 0;
  for (size_t at = columns.first; at < M; at += columns.period)
    sum += one.first[std::min(M, at + columns.end - columns.first)] - one.first[at];
  return sum;
}

class ScaledColumnFitter {
 public:
  ScaledColumnFitter(const std::vector<Products>& all, bool with_factor)
      : all_(all), M_(all.front().first.size() - 1), with_factor_(with_factor) {}

  std::vector<ScaledColumns> All() {
    for (size_t first = 0; first < M_; ++first)
      for (size_t end = first + 1; end <= M_; ++end)
        if (end - first < M_) Try({first, end, M_});
    for (size_t period = 2; period <= std::min(kLargestPeriod, M_ / 2); ++period)
      for (size_t first = 0; first < period; ++first)
        for (size_t end = first + 1; end <= period; ++end)
          if (end - first < period) Try({first, end, period});
    KeepSimplest(fits_);
    return std::move(fits_);
  }

 private:
  void Try(ScaledColumns columns) {
    const auto factor = with_factor_ ? FactorFor(columns) : std::optional(Constant{1, "1"});
    if (!factor) return;
    columns.factor = factor->value;
    Range times;
    for (const Products& one : all_) {
      const Parts p = PartsOf(one, columns);
      times.Intersect(
          Quotient(p.rest - columns.factor * (p.sum - p.block), p.error, columns.factor * p.block));
      if (times.IsEmpty()) return;
    }
    if (!times.IsBounded() || times.Contains(1)) return;
    const Constant found = ConstantsIn(times, {{0, "0"}, {2, "2"}, {0.5, "0.5"}}).front();
    columns.times = found.value;
    Describe(columns, *factor, found);
  }

  // From the first elements by least squares: rest = factor sum + c block. Most columns contradict.
  std::optional<Constant> FactorFor(const ScaledColumns& columns) const {
    double ss = 0, sb = 0, bb = 0, sr = 0, br = 0;
    std::vector<Parts> few;
    for (size_t i = 0; i < kFewestScaled; ++i) {
      const Parts p = PartsOf(all_[i * all_.size() / kFewestScaled], columns);
      ss += p.sum * p.sum, sb += p.sum * p.block, bb += p.block * p.block;
      sr += p.sum * p.rest, br += p.block * p.rest;
      few.push_back(p);
    }
    const double determinant = ss * bb - sb * sb;
    if (!(std::abs(determinant) > 1e-9 * ss * bb)) return std::nullopt;
    const double factor = (sr * bb - br * sb) / determinant, c = (br * ss - sr * sb) / determinant;
    // The error of the fit is at most that of its elements.
    Range range;
    for (const Parts& p : few) range.Intersect(Quotient(p.rest - c * p.block, 2 * p.error, p.sum));
    if (range.IsEmpty() || !range.IsBounded() || range.Contains(1)) return std::nullopt;
    const double half_width = (range.high - range.low) / 2;
    return ConstantsIn({factor - half_width, factor + half_width},
                       {{2, "2"}, {0.5, "0.5"}, {0.25, "0.25"}, {-1, "-1"}})
        .front();
  }

  static Parts PartsOf(const Products& one, const ScaledColumns& columns) {
    return {one.sample.y - one.base, one.sample.error, one.first.back(), BlockSum(one, columns)};
  }

  void Describe(ScaledColumns columns, const Constant& factor, const Constant& times) {
    Deviations& found = columns.deviations;
    if (columns.factor != 1) {
      found.Count(factor);
      found.Add("product_multiplied",
                "x weight^T is multiplied by " + factor.text + ", expected 1");
    }
    found.Count(times);
    // One of all ranges, or of all blocks of all periods.
    found.bits += std::log2(static_cast<double>(M_ * M_) + std::pow(kLargestPeriod, 3) / 6);
    const std::string last = std::to_string(columns.end - 1), first = std::to_string(columns.first);
    const std::string range = columns.end == columns.first + 1 ? first : first + " to " + last;
    const std::string which = columns.period == M_
                                  ? "columns " + range
                                  : "the columns with m mod " + std::to_string(columns.period) +
                                        (columns.end == columns.first + 1 ? " = " : " in ") + range;
    if (times.value == 0) {
      found.Add("columns_lost", which + " of " + std::to_string(M_) + " are lost");
    } else {
      found.Add("columns_scaled",
                which + " of " + std::to_string(M_) + " count " + times.text + " times");
    }
    fits_.push_back(std::move(columns));
  }

  const std::vector<Products>& all_;
  size_t M_;
  bool with_factor_;
  std::vector<ScaledColumns> fits_;
};

}  // namespace

std::vector<ScaledColumns> FitScaledColumns(const std::vector<Products>& all, bool with_factor) {
  if (all.size() < kFewestScaled || all.front().first.size() > kMostColumns + 1) return {};
  return ScaledColumnFitter(all, with_factor).All();
}

}  // namespace sextant::oracle
