#include "oracle/layer/measured/norm_fit.h"

#include <cmath>
#include <optional>
#include <utility>

#include "oracle/layer/measured/divisor.h"
#include "oracle/layer/measured/norm_names.h"
#include "oracle/layer/measured/norm_rows.h"

namespace sextant::oracle {
namespace {

class NormFitter {
 public:
  explicit NormFitter(const NormQuestion& question) : q_(question), rows_(question) {}

  bool HasAny(Among among) {
    only_first_ = true;
    return !All(among).empty();
  }
  std::vector<NormFit> All(Among among) {
    for (const Norm& centered : CentersOf(q_.right, among)) {
      for (const Norm& norm : RowsOf(centered, among)) TryWeights(norm);
    }
    if (fits_.empty() && among == Among::kAllRows) {
      for (const Norm& norm : WithOtherCounts()) TryNumbers(norm);
    }
    if (fits_.empty()) TryWeightOffset(among);
    if (fits_.empty() && among == Among::kAllRows) TryColumns();
    return std::move(fits_);
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
  std::vector<Norm> RowsOf(const Norm& norm, Among among) const {
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
    if (q_.N == 1 || among != Among::kAllRows) return all;
    for (const Rows rows : {Rows::kFirst, Rows::kPrevious, Rows::kAround}) add(rows, 1);
    for (size_t group = 2; group < 2 * q_.N; group *= 2) {
      add(Rows::kGroup, std::min(group, q_.N));
      if (group < q_.N) add(Rows::kFirstOfGroup, group);
    }
    return all;
  }
  std::vector<Norm> CentersOf(const Norm& norm, Among among) const {
    if (among == Among::kOwnRows) return {norm};
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
  std::vector<Norm> WithOtherCounts() const {
    std::vector<Norm> all{q_.right};
    const auto add = [&](double count) {
      all.push_back(q_.right);
      all.back().count = count;
    };
    for (const Constant& count : NamedCounts(rows_.width())) add(count.value);
    for (const double more : {-16, -4, -3, -2, 2, 3, 4, 16})
      if (q_.right.count + more > 0) add(q_.right.count + more);
    for (const double times : {0.25, 4.0}) add(q_.right.count * times);
    return all;
  }
  bool IsDone() const { return only_first_ && !fits_.empty(); }
  void TryWeights(const Norm& norm) {
    if (IsDone()) return;
    const auto sums = rows_.SumsOf(norm);
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
  // A number that does not belong to the divisor, another root, or eps beside another count.
  void TryNumbers(const Norm& norm) {
    const auto sums = rows_.SumsOf(norm);
    const auto divisors = rows_.DivisorsOf(norm, sums);
    if (norm.count != q_.right.count) return TryDivisors(norm, sums, divisors, FreeNumber::kEps);
    if (!q_.bias.empty()) TryNumber(norm, FreeNumber::kFactor, rows_.OutputFactor(norm), {});
    if (norm.eps <= 0) return;  // the logarithm of 0
    Norm root = norm;
    root.root = Norm::Root::kPower;
    TryDivisors(root, sums, divisors, FreeNumber::kPower);
  }
  // A number that is added to the weight, whatever else is wrong.
  void TryWeightOffset(Among among) {
    for (const Norm& centered : CentersOf(q_.right, among)) {
      const Range added = rows_.AddedToWeight(centered);
      if (added.IsEmpty() || !added.IsBounded() || added.Contains(0)) continue;
      added_ = ConstantsIn(added, {{-1, "-1"}, {0.5, "0.5"}, {-0.5, "-0.5"}, {2, "2"}}).front();
      for (Norm norm : RowsOf(centered, among)) {
        norm.added = added_.value;
        TryDivisors(norm, rows_.SumsOf(norm));
      }
    }
  }
  // Sums over the first columns only, or over some of the next row, too, divided by their number or
  // by M.
  void TryColumns() {
    rows_.ForgetColumns();
    std::vector<MeasuredDivisor> divisors;  // do not depend on the columns without a mean
    std::optional<std::vector<MeasuredDivisor>> with_mean_of_all;  // nor with that of all columns
    constexpr size_t kMostBeyond = 64;  // the widest block that kernels pad a row to
    const size_t last = q_.N > 1 ? q_.M + std::min(kMostBeyond, q_.M) : q_.M - 1;
    for (size_t columns = 1; columns <= last; ++columns) {
      rows_.AddColumn();
      if (columns == q_.M) continue;
      Norm norm = q_.right;
      norm.columns = columns;
      norm.passes_end = columns > q_.M;
      for (const auto& [count, mean_of_all] :
           {std::pair(q_.M, false), {columns, false}, {q_.M, true}, {columns, true}}) {
        if (mean_of_all && !norm.subtracts_mean) continue;
        norm.mean_of_all = mean_of_all;
        norm.count = static_cast<double>(count);
        norm.mean_count = mean_of_all ? q_.right.mean_count : norm.count;
        if (mean_of_all && with_mean_of_all && with_mean_of_all->empty()) continue;
        const auto sums = rows_.SumsOf(norm);
        if (mean_of_all) {
          if (!with_mean_of_all) with_mean_of_all = rows_.DivisorsOf(norm, sums);
          TryDivisors(norm, sums, *with_mean_of_all, FreeNumber::kNothing);
          continue;
        }
        if (divisors.empty() || norm.subtracts_mean) divisors = rows_.DivisorsOf(norm, sums);
        if (divisors.empty() && !norm.subtracts_mean) return;
        TryDivisors(norm, sums, divisors, FreeNumber::kNothing);
      }
    }
  }
  void TryDivisors(const Norm& norm, const std::vector<Sums>& sums) {
    if (IsDone()) return;
    const auto divisors = rows_.DivisorsOf(norm, sums);
    if (divisors.empty()) return;
    for (const Norm& rooted : RootsOf(norm)) {
      for (const FreeNumber free : {FreeNumber::kNothing, FreeNumber::kEps, FreeNumber::kCount})
        TryDivisors(rooted, sums, divisors, free);
    }
    if (norm.rows != Norm::Rows::kOwn || norm.sums_centered != q_.right.sums_centered) return;
    Norm undivided = norm;
    undivided.root = Norm::Root::kNoDivisor;
    TryDivisors(undivided, sums, divisors, FreeNumber::kNothing);
    undivided.root = Norm::Root::kEpsAlone;
    for (const FreeNumber free : {FreeNumber::kNothing, FreeNumber::kEps})
      TryDivisors(undivided, sums, divisors, free);
  }
  static std::vector<Norm> RootsOf(const Norm& norm) {
    const auto cubic = [](Norm& n) {
      n.root = Norm::Root::kPower;
      n.power = 1.0 / 3;
    };
    return Variants(norm, {[](Norm& n) { n.root = Norm::Root::kEpsOutside; },
                           [](Norm& n) { n.root = Norm::Root::kEpsAsFloor; },
                           [](Norm& n) { n.root = Norm::Root::kMissing; }, cubic});
  }
  void TryDivisors(const Norm& norm, const std::vector<Sums>& sums,
                   const std::vector<MeasuredDivisor>& divisors, FreeNumber free) {
    if (divisors.empty() || IsDone()) return;
    Range shared = free == FreeNumber::kEps ? Range{0, kInfinity} : Range{};
    for (size_t i = 0; i < divisors.size() && !shared.IsEmpty(); ++i)
      shared.Intersect(AllowedBy(norm, sums[i].sum, divisors[i].range, free));
    if (free == FreeNumber::kCount && shared.low <= 0) return;  // a row without a finite divisor
    if (free != FreeNumber::kNothing) return TryNumber(norm, free, shared, divisors);
    if (!shared.IsEmpty()) Add({norm, {}, {}, {}}, free, "", divisors);
  }
  void TryNumber(const Norm& norm, FreeNumber free, const Range& range,
                 const std::vector<MeasuredDivisor>& divisors) {
    NormFit fit{norm, {}, {}, {}};
    double& number = NumberOf(fit.norm, free);
    if (range.IsEmpty() || !range.IsBounded() || range.Contains(number)) return;
    const auto found = ConstantsIn(range, NamedNumbers(free, q_.right.eps, rows_.width()));
    number = found.front().value;
    fit.deviations.Count(found.front());
    Add(std::move(fit), free,
        found.size() > 2 ? found.front().text + ", or any number up to " + TwoDigits(range.high)
                         : TextOf(found),
        divisors);
  }
  void Add(NormFit fit, FreeNumber free, const std::string& number,
           const std::vector<MeasuredDivisor>& divisors) {
    if (only_first_) return fits_.push_back(std::move(fit));
    if (fit.norm.added != q_.right.added) fit.deviations.Count(added_);
    Describe(q_.right, rows_.width(), {free, number, added_.text}, fit);
    const bool all_columns = fit.norm.columns == q_.right.columns;
    const double trials = all_columns ? 1 : 2 * static_cast<double>(q_.M);
    fit.is_evident = fit.deviations.count == 0 || IsEvident(rows_.DistancesOf(fit.norm, divisors),
                                                            fit.deviations, std::log2(trials));
    fits_.push_back(std::move(fit));
  }

  const NormQuestion& q_;
  NormRows rows_;
  Constant added_;  // to the weight, where it is not the right one
  std::vector<NormFit> fits_;
  bool only_first_ = false;  // of the fits, without a description
};

}  // namespace

std::vector<NormFit> FitRows(const NormQuestion& question, Among among) {
  // Most answers contradict every norm in two rows.
  constexpr size_t kFewRows = 2;
  NormQuestion few = question;
  few.rows = std::min(few.rows, kFewRows);
  if (!NormFitter(few).HasAny(among)) return {};
  return NormFitter(question).All(among);
}

}  // namespace sextant::oracle
