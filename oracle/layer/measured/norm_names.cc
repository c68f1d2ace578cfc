#include "oracle/layer/measured/norm_names.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/measured_number.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

// The least multiples of vector widths that are at least M, if they are not M itself.
std::vector<Constant> PaddedCounts(size_t M) {
  std::vector<Constant> all;
  for (const size_t width : {4, 8, 16, 32, 64, 128}) {
    const auto padded = static_cast<double>((M + width - 1) / width * width);
    if (padded != static_cast<double>(M) && (all.empty() || all.back().value != padded))
      all.push_back({padded, PrintValue(padded) + ", the width of whole vectors"});
  }
  return all;
}

class Words {
 public:
  explicit Words(Deviations& found) : found_(found) {}
  void Add(bool deviates, const std::string& name, const std::string& sentence) {
    if (deviates) found_.Add(name, sentence);
  }

 private:
  Deviations& found_;
};

void DescribeCenter(const Norm& right, const Norm& norm, Words& words) {
  words.Add(norm.subtracts_mean && !right.subtracts_mean, "mean_subtracted",
            "the mean is subtracted from x, as in layer norm");
  words.Add(!norm.subtracts_mean && right.subtracts_mean, "mean_not_subtracted",
            "the mean is not subtracted from x");
  words.Add(norm.sums_centered && !norm.subtracts_mean, "variance_for_mean_square",
            "x is divided by the root of its variance instead of its mean square");
  words.Add(!norm.sums_centered && norm.subtracts_mean, "mean_square_for_variance",
            "x - mean is divided by the root of the mean square of x instead of its variance");
}

void DescribeRows(const Norm& norm, Words& words) {
  const bool has_divisor = norm.shared != Norm::Shared::kMean;
  const bool has_mean = norm.subtracts_mean && norm.shared != Norm::Shared::kDivisor;
  const std::string what = has_mean && has_divisor ? "the mean and the divisor"
                           : has_mean              ? "the mean"
                                                   : "the divisor";
  const std::string start = has_mean && has_divisor ? "statistics" : has_mean ? "mean" : "divisor";
  const std::string group = PrintValue(static_cast<int64_t>(norm.group));
  words.Add(norm.rows == Norm::Rows::kFirst, start + "_of_first_row",
            "every row has " + what + " of the first one");
  words.Add(norm.rows == Norm::Rows::kPrevious || norm.rows == Norm::Rows::kAround,
            start + "_of_previous_row",
            "every row has " + what + " of the previous one" +
                (norm.rows == Norm::Rows::kAround ? ", the first row that of the last one" : ""));
  words.Add(norm.rows == Norm::Rows::kGroup, start + "_of_row_groups",
            "groups of " + group + " rows share " + what);
  words.Add(norm.rows == Norm::Rows::kFirstOfGroup, start + "_of_row_groups",
            "groups of " + group + " rows share " + what + " of their first row");
}

void DescribeWeight(const Norm& right, const Norm& norm, Words& words) {
  const bool offset = norm.unit_offset;
  words.Add(norm.weight == Norm::Weight::kIgnored, "weight_ignored",
            "1 is used instead of the weight");
  words.Add(norm.weight == Norm::Weight::kTwice, "weight_applied_twice",
            "the weight is multiplied twice");
  words.Add(norm.weight == Norm::Weight::kDivides, "divided_by_weight",
            "y is divided by the weight instead of multiplied by it");
  if (norm.weight != Norm::Weight::kIgnored)
    words.Add(offset != right.unit_offset, offset ? "unit_offset" : "unit_offset_missing",
              offset ? "1 is added to the weight" : "1 is not added to the weight");
}

void DescribeBias(const Norm& right, const Norm& norm, Words& words) {
  if (right.bias == Norm::Bias::kNone) return;
  words.Add(norm.bias == Norm::Bias::kNone, "bias_missing", "the bias is not added");
  words.Add(norm.bias == Norm::Bias::kTwice, "bias_added_twice", "the bias is added twice");
  words.Add(norm.bias == Norm::Bias::kSubtracted, "bias_subtracted", "the bias is subtracted");
  words.Add(norm.bias == Norm::Bias::kBeforeWeight, "bias_before_weight",
            "the bias is multiplied by the weight");
}

std::string NameOfCount(double count, size_t M) {
  const auto width = static_cast<double>(M);
  if (count == 1) return "sum_for_mean";
  if (count == width - 1) return "mean_over_one_less";
  return count > width && count == std::floor(count) ? "mean_over_padding" : "count";
}

std::string NameOfEps(double eps, double right) {
  if (eps == 0) return "eps_missing";
  for (const DType format : {DType::kF32, DType::kF16, DType::kBF16}) {
    if (eps == RoundTo(format, right)) return "eps_rounded_to_" + std::string(NameOf(format));
  }
  return "eps";
}

}  // namespace

namespace {

std::vector<Constant> NamedEps(double eps, size_t M) {
  const auto width = static_cast<double>(M);
  std::vector<Constant> named = {{0, "0"}};
  for (const DType format : {DType::kF32, DType::kF16, DType::kBF16}) {
    const double rounded = RoundTo(format, eps);
    if (rounded != eps)
      named.push_back({rounded, PrintValue(eps) + " rounded to " + std::string(NameOf(format)) +
                                    ", " + PrintValue(rounded)});
  }
  for (const double power : {1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2})
    named.push_back({power, PrintValue(power)});
  named.push_back({eps / width, PrintValue(eps) + " / " + PrintValue(width)});
  named.push_back({eps * width, PrintValue(eps) + " * " + PrintValue(width)});
  named.push_back({std::sqrt(eps), "sqrt(" + PrintValue(eps) + ")"});
  named.push_back({eps * eps, PrintValue(eps) + "^2"});
  named.push_back({2 * eps, "2 * " + PrintValue(eps)});
  named.push_back({0x1p-7, "2^-7, the machine epsilon of bf16"});
  named.push_back({0x1p-10, "2^-10, the machine epsilon of f16"});
  named.push_back({0x1p-23, "2^-23, the machine epsilon of f32"});
  named.push_back({0x1p-52, "2^-52, the machine epsilon of f64"});
  return named;
}

// The text of a number, with its name if it has one.
std::string TextOfCount(double count, size_t M) {
  const std::vector<Constant> named = NamedCounts(M);
  const auto at = std::ranges::find(named, count, &Constant::value);
  return at == named.end() ? PrintValue(count) : at->text;
}

// Where eps is small, an unusual count is a factor of y.
std::string FactorText(const Norm& norm, const Norm& right) {
  const bool is_integer = norm.count == std::floor(norm.count);
  if (is_integer || norm.root != right.root) return "";
  return ", which multiplies y by " + ShortText(std::sqrt(norm.count / right.count));
}

}  // namespace

std::vector<Constant> NamedNumbers(FreeNumber free, double eps, size_t M) {
  if (free == FreeNumber::kEps) return NamedEps(eps, M);
  if (free == FreeNumber::kCount) return NamedCounts(M);
  if (free == FreeNumber::kPower) return {{1.0 / 3, "1/3"}, {0.25, "1/4"}, {2, "2"}};
  return {};
}

std::vector<Constant> NamedCounts(size_t M) {
  const auto width = static_cast<double>(M);
  std::vector<Constant> named = {
      {1, "1"}, {width - 1, PrintValue(width - 1)}, {width + 1, PrintValue(width + 1)}};
  named.push_back({width / 2, PrintValue(width) + " / 2"});
  named.push_back({width * 2, "2 * " + PrintValue(width)});
  named.push_back({width * width, PrintValue(width) + "^2"});
  for (const Constant& padded : PaddedCounts(M)) named.push_back(padded);
  return named;
}

std::vector<double> CountsOf(size_t M) {
  std::vector<double> all = {2 * static_cast<double>(M)};
  if (M > 1) all.push_back(static_cast<double>(M) - 1);
  for (const Constant& padded : PaddedCounts(M)) all.push_back(padded.value);
  return all;
}

namespace {

void DescribeDivisor(const Norm& right, const Norm& norm, const NumberText& measured,
                     Words& words) {
  words.Add(norm.root == Norm::Root::kEpsOutside, "eps_outside_the_root",
            "eps is added to the root instead of under it");
  words.Add(norm.root == Norm::Root::kEpsAsFloor, "eps_as_floor",
            "eps is a lower bound of the mean square instead of added to it");
  words.Add(norm.root == Norm::Root::kMissing, "root_missing", "the root is missing");
  words.Add(norm.eps != right.eps, NameOfEps(norm.eps, right.eps),
            "eps is " + measured.text + ", expected " + PrintValue(right.eps));
  words.Add(norm.root == Norm::Root::kEpsAlone, "square_missing",
            "every row is divided by the root of eps alone, as if its mean square were 0");
  words.Add(norm.root == Norm::Root::kNoDivisor, "not_divided", "x is not divided by anything");
  words.Add(norm.root == Norm::Root::kEpsTimesLargest, "eps_times_largest",
            "eps is multiplied by the largest square of its row");
  words.Add(
      norm.summed == Norm::Summed::kLargest, "largest_for_root",
      "the divisor of a row is its largest magnitude, max |x|, instead of the root of the mean "
      "square");
  words.Add(
      norm.summed == Norm::Summed::kMagnitudes, "mean_magnitude_for_root",
      "the divisor of a row is its mean magnitude, the mean of absolute values, instead of the "
      "root of the mean square");
  words.Add(norm.root == Norm::Root::kPower, "root_of_another_power",
            "the mean square is raised to " +
                (measured.free == FreeNumber::kPower ? measured.text
                 : norm.power == 0.25                ? "1/4"
                                                     : "1/3") +
                ", expected 1/2");
}

}  // namespace

void Describe(const Norm& right, size_t M, const NumberText& measured, NormFit& fit) {
  const Norm norm = fit.norm;
  Words words(fit.deviations);
  DescribeCenter(right, norm, words);
  DescribeRows(norm, words);
  const std::string width = PrintValue(static_cast<int64_t>(M));
  words.Add(norm.passes_end, "columns_of_next_row",
            "the first " + PrintValue(static_cast<int64_t>(norm.columns - right.columns)) +
                " columns of the next row (of the last one: of the first) are summed, too, and the "
                "sum is "
                "divided by " +
                PrintValue(norm.count));
  words.Add(norm.columns < right.columns, "columns_lost",
            "only the first " + PrintValue(static_cast<int64_t>(norm.columns)) + " of " + width +
                " columns are summed, and the sum is divided by " + PrintValue(norm.count));
  words.Add(
      norm.mean_count != right.mean_count && norm.subtracts_mean && norm.columns == right.columns,
      NameOfCount(norm.mean_count, M) + "_of_x",
      "the mean of x is its sum divided by " + PrintValue(norm.mean_count) + ", expected " + width);
  words.Add(norm.count != right.count && norm.columns == right.columns, NameOfCount(norm.count, M),
            "the sum of squares is divided by " +
                (measured.free == FreeNumber::kCount ? measured.text : TextOfCount(norm.count, M)) +
                ", expected " + width + FactorText(norm, right));
  DescribeDivisor(right, norm, measured, words);
  words.Add(
      norm.added != right.added, "weight_offset",
      measured.added + " is added to the weight" + (right.unit_offset ? " besides the 1" : ""));
  words.Add(norm.factor != right.factor, "output_multiplied",
            "y is multiplied by " + measured.text);
  DescribeWeight(right, norm, words);
  DescribeBias(right, norm, words);
}

std::string WeightOfRowText(int step) {
  return "row n reads the weight from column " + std::string(step > 0 ? "n" : "-n") +
         " on, around the end";
}

}  // namespace sextant::oracle
