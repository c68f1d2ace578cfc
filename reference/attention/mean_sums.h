// The sums from which the weighted mean of a column of values and its error bound follow
// (counted_softmax_row.cc), for many columns of plain values at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sextant {

// Of one column v: p are the weights, P the stored weights, y the mean, |v| an upper bound.
struct MeanSums {
  double high = 0, low = 0;    // the centre of sum p v
  double rounding = 0;         // of that sum
  double drift = 0;            // of its terms
  double least = 0, most = 0;  // of the values, errors included
  double scores = 0;           // sum p (e^E - 1) |v - y|
  double values = 0;           // sum p~ |v' - v|
  double weights = 0;          // sum |w' - p~| |v'|
  double products = 0;         // errors of the products, if they round one by one
  double size = 0;             // sum |P v|
  bool saturated = false;
};

// Per weight, what the sums need: the centre p, its drift, p (e^E - 1), the error of its own
// roundings, and magnitude and error of P.
struct MeanWeights {
  std::span<const double> high, low, drift, rise, rounding, most, storing;
  double relative_drift = 0;  // each drift is at most this times p, plus kTinyDrift
};

inline constexpr size_t kMeanColumns = 16;  // rows of values are padded to a multiple of this

// The sums of columns 0 .. width-1 of rows[j][column], the values of weight j. `width` is a
// multiple of kMeanColumns. Operations and their order are those of WeightedMean::SumsOf; with
// double_centers the centres are double, the low halves of the weights are not read, and rounding
// and drift are bounds of what SumsOf adds up.
void SumPlainColumns(const MeanWeights& weights, std::span<const float* const> rows, size_t width,
                     bool double_centers, std::vector<MeanSums>& sums);

}  // namespace sextant
