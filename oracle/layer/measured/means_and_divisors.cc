#include "oracle/layer/measured/means_and_divisors.h"

#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

using RowNumberKind = RowNumber::Kind;

// The last vector begins `width` columns before the end, where M is no multiple of the width.
template <size_t width>
size_t TimesIfLastVectorOverlaps(size_t j, size_t M) {
  const bool is_again = M % width != 0 && M > width && j >= M - width && j < M / width * width;
  return is_again ? 2 : 1;
}

constexpr Subset kSubsets[] = {
    {"all columns", [](size_t, size_t) { return size_t{1}; }},
    {"the first half of the columns", [](size_t j, size_t M) { return size_t{j < M / 2}; }},
    {"the last half of the columns", [](size_t j, size_t M) { return size_t{j >= M / 2}; }},
    {"the even columns", [](size_t j, size_t) { return size_t{j % 2 == 0}; }},
    {"the odd columns", [](size_t j, size_t) { return size_t{j % 2 == 1}; }},
    {"the first quarter of the columns", [](size_t j, size_t M) { return size_t{4 * j < M}; }},
    {"the last quarter of the columns",
     [](size_t j, size_t M) { return size_t{4 * (j + 1) > 3 * M}; }},
    {"the first three quarters of the columns",
     [](size_t j, size_t M) { return size_t{4 * (j + 1) <= 3 * M}; }},
    {"all columns but 0, 4, 8 ...", [](size_t j, size_t) { return size_t{j % 4 != 0}; }},
    {"all columns but 1, 5, 9 ...", [](size_t j, size_t) { return size_t{j % 4 != 1}; }},
    {"all columns but 2, 6, 10 ...", [](size_t j, size_t) { return size_t{j % 4 != 2}; }},
    {"all columns but 3, 7, 11 ...", [](size_t j, size_t) { return size_t{j % 4 != 3}; }},
    {"all columns but the first", [](size_t j, size_t) { return size_t{j > 0}; }},
    {"the first column", [](size_t j, size_t) { return size_t{j == 0}; }},
    {"the last column", [](size_t j, size_t M) { return size_t{j + 1 == M}; }},
    {"all columns, those twice that a last vector of 4 reads again", TimesIfLastVectorOverlaps<4>},
    {"all columns, those twice that a last vector of 8 reads again", TimesIfLastVectorOverlaps<8>},
    {"all columns, those twice that a last vector of 16 reads again",
     TimesIfLastVectorOverlaps<16>},
    {"all columns, those twice that a last vector of 32 reads again",
     TimesIfLastVectorOverlaps<32>},
    {"all columns, those twice that a last vector of 64 reads again",
     TimesIfLastVectorOverlaps<64>},
    {"all columns but 3, 7, 11 ..., for which 2, 6, 10 ... count twice", [](size_t j, size_t) {
       return j % 4 == 3 ? size_t{0} : j % 4 == 2 ? size_t{2} : 1;
     }}};
constexpr double kFactors[] = {1, 2, 0.5, -1};

}  // namespace

std::string RowNumber::Text() const {
  if (kind == RowNumberKind::kZero) return "0";
  const std::string columns = of->text;
  const std::string center = own_mean ? "their mean" : std::string("the mean of all columns");
  std::string text = kind == RowNumberKind::kMean     ? "the mean of " + columns
                     : kind == RowNumberKind::kMedian ? "the median of " + columns
                     : kind == RowNumberKind::kMiddle ? "the middle between the ends of " + columns
                     : kind == RowNumberKind::kMagnitude ? "the mean magnitude |x| of " + columns
                     : kind == RowNumberKind::kLargest   ? "the largest magnitude |x| of " + columns
                     : kind == RowNumberKind::kRoot
                         ? "the root of the mean square of " + columns
                         : "the root of the variance of " + columns + " around " + center;
  if (by_all) text += " (their sum divided by the number of all columns)";
  if (factor == 1) return text;
  return (factor == 2 ? "twice " : factor == 0.5 ? "half of " : "minus ") + text;
}

RowNumber MeanOfAll() { return {RowNumberKind::kMean, kSubsets}; }
RowNumber RootOfAll(bool is_centered, double eps) {
  return {is_centered ? RowNumberKind::kRootOfCentered : RowNumberKind::kRoot, kSubsets, 1, eps};
}

std::vector<RowNumber> PossibleMeans() {
  std::vector<RowNumber> all = {{}};
  for (const double factor : kFactors) {
    for (const RowNumberKind kind : {RowNumberKind::kMean, RowNumberKind::kMedian,
                                     RowNumberKind::kMiddle, RowNumberKind::kLargest}) {
      for (const Subset& of : kSubsets) {
        for (const bool by_all : {false, true}) {
          const bool is_all = &of == kSubsets;
          if (by_all && (kind != RowNumberKind::kMean || is_all)) continue;
          all.push_back({kind, &of, factor, 0, by_all});
        }
      }
    }
  }
  return all;
}

std::vector<RowNumber> PossibleDivisors(double eps) {
  std::vector<RowNumber> all;
  for (const double factor : kFactors) {
    for (const Subset& of : kSubsets) {
      const bool is_all = &of == kSubsets;
      for (const bool by_all : {false, true}) {
        if (by_all && is_all) continue;
        all.push_back({RowNumberKind::kRoot, &of, factor, eps, by_all});
        for (const bool own_mean : {false, true})
          if (!own_mean || !is_all)
            all.push_back({RowNumberKind::kRootOfCentered, &of, factor, eps, by_all, own_mean});
        all.push_back({RowNumberKind::kMagnitude, &of, factor, 0, by_all});
      }
      all.push_back({RowNumberKind::kLargest, &of, factor});
    }
  }
  return all;
}

}  // namespace sextant::oracle
