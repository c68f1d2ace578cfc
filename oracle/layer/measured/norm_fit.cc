#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "oracle/layer/measured/divisor.h"
#include "oracle/layer/measured/norm.h"
#include "oracle/layer/measured/norm_names.h"
#include "oracle/layer/measured/row_sums.h"

namespace sextant::oracle {
namespace {

constexpr size_t kRows = 24;  // that are looked at

// The divisor of a row, from all its elements, and its relative error from a single one. All
// elements may share an error, so the range may be narrower than the divisor is known.
struct Divisor {
  Span range;
  double error = kInfinity;
};

class Fitter {
 public:
  explicit Fitter(const NormQuestion& question)
      : q_(question),
        rows_(question.samples.ChosenRows(kRows, question.M)),
        sums_(question.x, question.N, question.M) {
    for (const size_t n : rows_) error_factors_.push_back(ErrorFactor(n));
  }

  std::vector<NormFit> All() {
    for (size_t j = 0; j < q_.M; ++j) sums_.AddColumn();
    for (const Sums& sums : SumsOf(q_.right))
      right_divisors_.push_back(DivisorOf(q_.right, sums.sum / q_.right.count));
    for (const Norm& rows : RowsOf(q_.right)) {
      for (const Norm& centered : CentersOf(rows)) TryWeights(centered);
    }
    if (fits_.empty()) TryWeightOffset();
    if (fits_.empty()) TryColumns();
    KeepSimplest(fits_);
    std::erase_if(fits_, [](const NormFit& fit) { return !fit.is_evident; });
    return fits_;
  }

 private:
  static std::vector<Norm> Variants(const Norm& norm, const std::vector<void (*)(Norm&)>& changes) {
    std::vector<Norm> all{norm};
    for (const auto& change : changes) {
      all.push_back(norm);
      change(all.back());
      if (all.back() == norm) all.pop_back();
    }
    return all;
  }
  std::vector<Norm> RowsOf(const Norm& norm) const {
    using Rows = Norm::Rows;
    std::vector<Norm> all{norm};
    const auto add = [&](Rows rows, size_t group) {
      for (const auto shared : {Norm::Shared::kBoth, Norm::Shared::kDivisor, Norm::Shared::kMean}) {
        if (shared != Norm::Shared::kBoth && !norm.subtracts_mean) continue;
        all.push_back(norm);
        all.back().rows = rows;
        all.back().group = group;
        all.back().shared = shared;
      }
    };
    if (q_.N == 1) return all;
    for (const Rows rows : {Rows::kFirst, Rows::kPrevious, Rows::kAround}) add(rows, 1);
    for (size_t group = 2; group < 2 * q_.N; group *= 2) {
      add(Rows::kGroup, std::min(group, q_.N));
      if (group < q_.N) add(Rows::kFirstOfGroup, group);
    }
    return all;
  }
  std::vector<Norm> CentersOf(const Norm& norm) const {
    std::vector<Norm> all;
    for (const bool subtracts : {norm.subtracts_mean, !norm.subtracts_mean}) {
      for (const bool sums_centered : {subtracts, !subtracts}) {
        all.push_back(norm);
        all.back().subtracts_mean = subtracts;
        all.back().sums_centered = sums_centered;
        if (!subtracts) continue;
        for (const double count : CountsOf(q_.M)) {
          all.push_back(all[all.size() - 1]);
          all.back().mean_count = count;
        }
      }
    }
    return all;
  }
  void TryWeights(const Norm& norm) {
    const auto sums = SumsOf(norm);
    for (const Norm& offset : Variants(norm, {[](Norm& n) { n.unit_offset = !n.unit_offset; }})) {
      for (const Norm& weighed :
           Variants(offset, {[](Norm& n) { n.weight = Norm::Weight::kIgnored; },
                             [](Norm& n) { n.weight = Norm::Weight::kTwice; },
                             [](Norm& n) { n.weight = Norm::Weight::kDivides; }})) {
        if (q_.bias.empty()) {
          TryDivisors(weighed, sums);
          continue;
        }
        for (const Norm& biased :
             Variants(weighed, {[](Norm& n) { n.bias = Norm::Bias::kNone; },
                                [](Norm& n) { n.bias = Norm::Bias::kTwice; },
                                [](Norm& n) { n.bias = Norm::Bias::kSubtracted; },
                                [](Norm& n) { n.bias = Norm::Bias::kBeforeWeight; }}))
          TryDivisors(biased, sums);
      }
    }
  }
  // A constant is added to the weight; everything else is right.
  void TryWeightOffset() {
    const auto sums = SumsOf(q_.right);
    Span added;
    for (size_t i = 0; i < rows_.size() && !added.IsEmpty(); ++i) {
      for (size_t j = 0; j < q_.M; ++j) {
        const size_t at = rows_[i] * q_.M + j;
        const double z = (q_.x[at] - sums[i].mean) / right_divisors_[i];
        if (z == 0 || !q_.samples.Has(at)) continue;
        const Sample sample = q_.samples.At(at);
        const double w = FactorOf(q_.right, q_.weight[j]);
        const double rest = sample.y - BiasOf(q_.right, w, q_.bias, j) - z * w;
        const double error = error_factors_[i] * sample.error / std::abs(z);
        added.Intersect({rest / z - error, rest / z + error});
      }
    }
    if (added.IsEmpty() || !added.IsBounded() || added.Contains(0)) return;
    const auto found = ConstantsIn(added, {});
    NormFit fit;
    fit.norm = q_.right;
    fit.norm.added = found.front().value;
    fit.deviations.Count(found.front());
    fit.deviations.Add("weight_offset", TextOf(found) + " is added to the weight" +
                                            (q_.right.unit_offset ? " besides the 1" : ""));
    fit.is_evident = IsEvident(DistancesOf(fit.norm, {}), fit.deviations);
    fits_.push_back(fit);
  }
  // Sums over the first columns only, divided by their number or by M.
  void TryColumns() {
    sums_.Restart();
    std::vector<Divisor> divisors;  // do not depend on the columns if no mean is subtracted
    for (size_t columns = 1; columns < q_.M; ++columns) {
      sums_.AddColumn();
      Norm norm = q_.right;
      norm.columns = columns;
      for (const auto& [count, mean_of_all] :
           {std::pair(q_.M, false), {columns, false}, {q_.M, true}, {columns, true}}) {
        if (mean_of_all && !norm.subtracts_mean) continue;
        norm.mean_of_all = mean_of_all;
        norm.count = static_cast<double>(count);
        norm.mean_count = mean_of_all ? q_.right.mean_count : norm.count;
        const auto sums = SumsOf(norm);
        if (divisors.empty() || norm.subtracts_mean) divisors = DivisorsOf(norm, sums);
        if (divisors.empty() && !norm.subtracts_mean) return;
        TryDivisors(norm, sums, divisors, FreeNumber::kNothing);
      }
    }
  }
  void TryDivisors(const Norm& norm, const std::vector<Sums>& sums) {
    const auto divisors = DivisorsOf(norm, sums);
    if (divisors.empty()) return;
    for (const Norm& rooted : Variants(norm, {[](Norm& n) { n.root = Norm::Root::kEpsOutside; },
                                              [](Norm& n) { n.root = Norm::Root::kEpsAsFloor; },
                                              [](Norm& n) { n.root = Norm::Root::kMissing; }})) {
      for (const FreeNumber free : {FreeNumber::kNothing, FreeNumber::kEps, FreeNumber::kCount})
        TryDivisors(rooted, sums, divisors, free);
    }
  }
  void TryDivisors(Norm norm, const std::vector<Sums>& sums, const std::vector<Divisor>& divisors,
                   FreeNumber free) {
    if (divisors.empty()) return;
    Span shared = free == FreeNumber::kEps ? Span{0, kInfinity} : Span{};
    for (size_t i = 0; i < rows_.size() && !shared.IsEmpty(); ++i)
      shared.Intersect(AllowedBy(norm, sums[i].sum, divisors[i].range, free));
    if (shared.IsEmpty()) return;
    NormFit fit;
    fit.norm = norm;
    std::string constant;
    if (free != FreeNumber::kNothing) {
      double& measured = free == FreeNumber::kEps ? fit.norm.eps : fit.norm.count;
      if (shared.Contains(measured) || !shared.IsBounded()) return;
      if (free == FreeNumber::kCount && shared.low <= 0) return;  // a row without a finite divisor
      const auto found = ConstantsIn(
          shared, free == FreeNumber::kEps ? NamedEps(q_.right.eps, q_.M) : NamedCounts(q_.M));
      measured = found.front().value;
      constant = found.size() > 2
                     ? found.front().text + ", or any number up to " + TwoDigits(shared.high)
                     : TextOf(found);
      fit.deviations.Count(found.front());
    }
    Describe(q_.right, q_.M, constant, fit);
    const double trials = norm.columns == q_.M ? 1 : 2 * static_cast<double>(q_.M);
    fit.is_evident = fit.deviations.count == 0 ||
                     IsEvident(DistancesOf(fit.norm, divisors), fit.deviations, std::log2(trials));
    fits_.push_back(fit);
  }
  std::vector<Sums> SumsOf(const Norm& norm) const {
    std::vector<Sums> all;
    for (const size_t n : rows_) all.push_back(sums_.Of(norm, n));
    return all;
  }

  // The divisors of the chosen rows, one range for each; empty if an element contradicts.
  std::vector<Divisor> DivisorsOf(const Norm& norm, const std::vector<Sums>& sums) const {
    std::vector<Divisor> all;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto divisor = OneDivisor(norm, rows_[i], sums[i].mean, error_factors_[i]);
      if (!divisor) return {};
      all.push_back(*divisor);
    }
    return all;
  }
  std::optional<Divisor> OneDivisor(const Norm& norm, size_t n, double mean, double wider) const {
    Span factor{0, kInfinity};  // 1 / D
    double least_error = kInfinity;
    for (size_t j = 0; j < q_.M && !factor.IsEmpty(); ++j) {
      const size_t at = n * q_.M + j;
      if (!q_.samples.Has(at)) continue;
      const Sample sample = q_.samples.At(at);
      const double w = FactorOf(norm, q_.weight[j]), scale = (q_.x[at] - mean) * w;
      const double rest = sample.y - BiasOf(norm, w, q_.bias, j), error = wider * sample.error;
      if (scale == 0 && std::abs(rest) > error) return std::nullopt;
      if (scale == 0) continue;
      const double a = (rest - error) / scale, b = (rest + error) / scale;
      factor.Intersect({std::min(a, b), std::max(a, b)});
      least_error = std::min(least_error, error / std::abs(scale));
    }
    if (factor.IsEmpty()) return std::nullopt;
    // Six roundings of this calculation, and of the one that compares.
    constexpr double kRoundings = 6 * 0x1p-53;
    return Divisor{{(1 - kRoundings) / factor.high, (1 + kRoundings) / factor.low},
                   least_error / factor.Middle()};
  }
  // A row that is larger than the right one has larger roundings.
  double ErrorFactor(size_t n) const {
    double y = 0, right = 0;
    for (size_t at = n * q_.M; at < (n + 1) * q_.M; ++at) {
      if (!q_.samples.Has(at)) continue;
      y = std::max(y, std::abs(q_.samples.At(at).y));
      right = std::max(right, std::abs(q_.samples.At(at).right));
    }
    return right > 0 ? std::max(1.0, y / right) : 1;
  }

  // All elements of a row share the roundings of its mean and divisor, so the row is one
  // independent number if only these are wrong. If weights or biases are wrong, each element is
  // one.
  std::vector<double> DistancesOf(const Norm& norm, const std::vector<Divisor>& divisors) const {
    const Norm& right = q_.right;
    const bool same_elements = norm.unit_offset == right.unit_offset && norm.added == right.added &&
                               norm.weight == right.weight && norm.bias == right.bias;
    std::vector<double> distances;
    std::set<double> seen;  // rows with the same divisor have the same roundings
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!seen.insert(right_divisors_[i]).second) continue;
      const std::vector<double> elements = ElementDistances(rows_[i]);
      if (!same_elements) {
        distances.insert(distances.end(), elements.begin(), elements.end());
      } else if (norm.subtracts_mean || right.subtracts_mean) {
        distances.push_back(std::ranges::max(elements));
      } else {
        const double ratio = right_divisors_[i] / divisors[i].range.Middle();
        distances.push_back(std::abs(1 - ratio) / divisors[i].error);
      }
    }
    return distances;
  }
  std::vector<double> ElementDistances(size_t n) const {
    std::vector<double> distances;
    for (size_t at = n * q_.M; at < (n + 1) * q_.M; ++at) {
      const Sample sample = q_.samples.At(at);
      distances.push_back(q_.samples.Has(at) ? std::abs(sample.y - sample.right) / sample.error
                                             : 0);
    }
    return distances;
  }

  const NormQuestion& q_;
  std::vector<size_t> rows_;                            // the chosen ones
  std::vector<double> error_factors_, right_divisors_;  // of the chosen rows
  RowSums sums_;
  std::vector<NormFit> fits_;
};

}  // namespace

std::vector<NormFit> FitNorms(const NormQuestion& question) { return Fitter(question).All(); }

}  // namespace sextant::oracle
