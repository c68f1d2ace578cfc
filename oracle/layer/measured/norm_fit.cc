#include <cmath>
#include <utility>

#include "oracle/layer/measured/column_order.h"
#include "oracle/layer/measured/divisor.h"
#include "oracle/layer/measured/norm.h"
#include "oracle/layer/measured/norm_names.h"
#include "oracle/layer/measured/norm_rows.h"

namespace sextant::oracle {
namespace {

// The norm of each row with its own sums, or also those with the sums of other rows.
enum class Among { kOwnRows, kAllRows };

class Fitter {
 public:
  explicit Fitter(const NormQuestion& question) : q_(question), rows_(question) {}

  std::vector<NormFit> All(Among among) {
    for (const Norm& centered : CentersOf(q_.right, among)) {
      for (const Norm& norm : RowsOf(centered, among)) TryWeights(norm);
    }
    if (fits_.empty() && among == Among::kAllRows) {
      for (const Norm& norm : WithOtherCounts()) TryNumbers(norm);
    }
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
    if (q_.N == 1 || among == Among::kOwnRows) return all;
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
    for (const Constant& count : NamedCounts(rows_.width())) {
      all.push_back(q_.right);
      all.back().count = count.value;
    }
    return all;
  }
  void TryWeights(const Norm& norm) {
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
  // A number that does not belong to the divisor, alone or beside another count; another root; eps
  // beside another count.
  void TryNumbers(const Norm& norm) {
    TryNumber(norm, FreeNumber::kAdded, rows_.AddedToWeight(norm), {});
    const auto sums = rows_.SumsOf(norm);
    const auto divisors = rows_.DivisorsOf(norm, sums);
    if (norm.count != q_.right.count) return TryDivisors(norm, sums, divisors, FreeNumber::kEps);
    if (!q_.bias.empty()) TryNumber(norm, FreeNumber::kFactor, rows_.OutputFactor(norm), {});
    if (norm.eps <= 0) return;  // the logarithm of 0
    Norm root = norm;
    root.root = Norm::Root::kPower;
    TryDivisors(root, sums, divisors, FreeNumber::kPower);
  }
  // Sums over the first columns only, divided by their number or by M.
  void TryColumns() {
    rows_.ForgetColumns();
    std::vector<MeasuredDivisor> divisors;  // do not depend on the columns without a mean
    for (size_t columns = 1; columns < q_.M; ++columns) {
      rows_.AddColumn();
      Norm norm = q_.right;
      norm.columns = columns;
      for (const auto& [count, mean_of_all] :
           {std::pair(q_.M, false), {columns, false}, {q_.M, true}, {columns, true}}) {
        if (mean_of_all && !norm.subtracts_mean) continue;
        norm.mean_of_all = mean_of_all;
        norm.count = static_cast<double>(count);
        norm.mean_count = mean_of_all ? q_.right.mean_count : norm.count;
        const auto sums = rows_.SumsOf(norm);
        if (divisors.empty() || norm.subtracts_mean) divisors = rows_.DivisorsOf(norm, sums);
        if (divisors.empty() && !norm.subtracts_mean) return;
        TryDivisors(norm, sums, divisors, FreeNumber::kNothing);
      }
    }
  }
  void TryDivisors(const Norm& norm, const std::vector<Sums>& sums) {
    const auto divisors = rows_.DivisorsOf(norm, sums);
    if (divisors.empty()) return;
    Norm undivided = norm;
    undivided.root = Norm::Root::kNoDivisor;
    if (norm.rows == Norm::Rows::kOwn && norm.sums_centered == q_.right.sums_centered)
      TryDivisors(undivided, sums, divisors, FreeNumber::kNothing);
    for (const Norm& rooted : Variants(norm, {[](Norm& n) { n.root = Norm::Root::kEpsOutside; },
                                              [](Norm& n) { n.root = Norm::Root::kEpsAsFloor; },
                                              [](Norm& n) { n.root = Norm::Root::kMissing; }})) {
      for (const FreeNumber free : {FreeNumber::kNothing, FreeNumber::kEps, FreeNumber::kCount})
        TryDivisors(rooted, sums, divisors, free);
    }
  }
  void TryDivisors(const Norm& norm, const std::vector<Sums>& sums,
                   const std::vector<MeasuredDivisor>& divisors, FreeNumber free) {
    if (divisors.empty()) return;
    Span shared = free == FreeNumber::kEps ? Span{0, kInfinity} : Span{};
    for (size_t i = 0; i < divisors.size() && !shared.IsEmpty(); ++i)
      shared.Intersect(AllowedBy(norm, sums[i].sum, divisors[i].range, free));
    if (free == FreeNumber::kCount && shared.low <= 0) return;  // a row without a finite divisor
    if (free != FreeNumber::kNothing) return TryNumber(norm, free, shared, divisors);
    if (!shared.IsEmpty()) Add({.norm = norm}, free, "", divisors);
  }
  void TryNumber(const Norm& norm, FreeNumber free, const Span& range,
                 const std::vector<MeasuredDivisor>& divisors) {
    NormFit fit{.norm = norm};
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
    Describe(q_.right, rows_.width(), {free, number}, fit);
    const bool all_columns = fit.norm.columns == rows_.width();
    const double trials = all_columns ? 1 : 2 * static_cast<double>(q_.M);
    fit.is_evident = fit.deviations.count == 0 || IsEvident(rows_.DistancesOf(fit.norm, divisors),
                                                            fit.deviations, std::log2(trials));
    fits_.push_back(std::move(fit));
  }

  const NormQuestion& q_;
  NormRows rows_;
  std::vector<NormFit> fits_;
};

// Fits that are simpler than those of `best`, with another deviation before theirs.
class Alternatives {
 public:
  explicit Alternatives(std::vector<NormFit> best) : best_(std::move(best)) {}
  void Add(const NormQuestion& question, const std::string& name, const std::string& sentence) {
    for (NormFit& fit : Fitter(question).All(Among::kOwnRows)) {
      Deviations all;
      all.Add(name, sentence);
      all.Add(fit.deviations);
      fit.deviations = std::move(all);
      fit.weight = question.weight;
      fit.bias = question.bias;
      best_.push_back(std::move(fit));
    }
  }
  std::vector<NormFit>& all() { return best_; }

 private:
  std::vector<NormFit> best_;
};

// Each part of a row has its own mean and divisor.
void AddParts(const NormQuestion& question, Alternatives& fits) {
  for (size_t parts = 2; parts <= question.M / 2; ++parts) {
    if (question.M % parts != 0) continue;
    NormQuestion of_parts = question;
    const size_t width = question.M / parts;
    of_parts.right.parts = parts;
    of_parts.right.columns = width;
    of_parts.right.count = of_parts.right.mean_count = static_cast<double>(width);
    const bool has_mean = question.right.subtracts_mean;
    const std::string groups = "each group of " + std::to_string(width) + " of " +
                               std::to_string(question.M) + " columns has its own ";
    fits.Add(of_parts, "groups_of_columns", groups + (has_mean ? "mean and divisor" : "divisor"));
    of_parts.right.mean_of_all = true;
    if (has_mean)
      fits.Add(of_parts, "groups_of_columns", groups + "divisor, and the mean of all columns");
  }
}

void AddOrders(const NormQuestion& question, Alternatives& fits) {
  for (const ColumnOrder& order : ColumnOrdersOf(question.M)) {
    for (const bool of_weight : {true, false}) {
      const std::vector<double>& right = of_weight ? question.weight : question.bias;
      const std::vector<double> numbers = InOrder(right, order);
      if (numbers == right) continue;
      const NormQuestion ordered{.N = question.N,
                                 .M = question.M,
                                 .x = question.x,
                                 .weight = of_weight ? numbers : question.weight,
                                 .bias = of_weight ? question.bias : numbers,
                                 .right = question.right,
                                 .samples = question.samples,
                                 .has_other_weights = true};
      const std::string what = of_weight ? "weight" : "bias";
      fits.Add(ordered, what + "_" + order.name,
               "the numbers of the " + what + " are in another order: " + order.text);
    }
  }
}

}  // namespace

std::vector<NormFit> FitNorms(const NormQuestion& question) {
  std::vector<NormFit> fits = Fitter(question).All(Among::kAllRows);
  for (NormFit& fit : fits) fit.weight = question.weight, fit.bias = question.bias;
  KeepSimplest(fits);
  Alternatives all(std::move(fits));
  if (all.all().empty() || all.all().front().deviations.count > 1) {
    AddParts(question, all);
    AddOrders(question, all);
  }
  KeepSimplest(all.all());
  std::erase_if(all.all(), [](const NormFit& fit) { return !fit.is_evident; });
  return all.all();
}

}  // namespace sextant::oracle
