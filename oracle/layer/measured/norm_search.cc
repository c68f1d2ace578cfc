#include <set>
#include <utility>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/layer/measured/norm.h"
#include "oracle/layer/measured/norm_fit.h"
#include "oracle/layer/measured/norm_names.h"
#include "oracle/layer/measured/norm_tables.h"

namespace sextant::oracle {
namespace {

// Fits that are simpler than those of `best`, with another deviation before theirs.
class Alternatives {
 public:
  explicit Alternatives(std::vector<NormFit> best) : best_(std::move(best)) {}
  void Add(const NormQuestion& question, const std::string& name, const std::string& sentence,
           Among among = Among::kOwnRows) {
    for (NormFit& fit : FitRows(question, among)) {
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
void AddNormParts(const NormQuestion& question, Alternatives& fits) {
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
    if (has_mean) fits.Add(of_parts, "groups_of_columns", groups + "mean and divisor");
    of_parts.right.mean_of_all = true;
    fits.Add(of_parts, "groups_of_columns",
             groups + "divisor" + (has_mean ? ", and the mean of all columns" : ""),
             Among::kAllCenters);
  }
}

// The sums are over the first columns, besides another deviation: over half of them, or without
// those after the last whole vector.
void AddColumns(const NormQuestion& question, Alternatives& fits) {
  const size_t M = question.M;
  std::set<size_t> counts = {M / 2, M - 1};
  for (size_t width = 4; width < M; width *= 2) counts.insert(M / width * width);
  counts.erase(0);
  counts.erase(M);
  for (const size_t columns : counts) {
    for (const size_t divisor : {M, columns}) {
      for (const bool mean_of_all : {true, false}) {
        if (!mean_of_all && !question.right.subtracts_mean) continue;
        NormQuestion first = question;
        first.right.columns = columns;
        first.right.count = static_cast<double>(divisor);
        first.right.mean_of_all = mean_of_all;
        if (!mean_of_all) first.right.mean_count = first.right.count;
        fits.Add(first, "columns_lost",
                 "only the first " + std::to_string(columns) + " of " + std::to_string(M) +
                     " columns are summed, and the sum is divided by " + std::to_string(divisor));
      }
    }
  }
}

void AddOrders(const NormQuestion& question, Alternatives& fits) {
  for (const AxisOrder& order : OrdersOf(question.M)) {
    for (const bool of_weight : {true, false}) {
      const std::vector<double>& right = of_weight ? question.weight : question.bias;
      const std::vector<double> numbers = InOrder(right, order.from, question.M);
      if (numbers == right) continue;
      const NormQuestion ordered{.N = question.N,
                                 .M = question.M,
                                 .x = question.x,
                                 .weight = of_weight ? numbers : question.weight,
                                 .bias = of_weight ? question.bias : numbers,
                                 .right = question.right,
                                 .samples = question.samples,
                                 .has_other_weights = true,
                                 .totals = question.totals};
      const std::string what = of_weight ? "weight" : "bias";
      fits.Add(ordered, what + "_" + order.name,
               "the numbers of the " + what + " are in another order: " + order.text);
    }
  }
}

// Each row reads the weight from another column on.
void AddSteps(const NormQuestion& question, Alternatives& fits) {
  for (const int step : {1, -1}) {
    NormQuestion stepped = question;
    stepped.right.weight_step = step;
    stepped.has_other_weights = true;
    fits.Add(stepped, kWeightOfRow, WeightOfRowText(step));
  }
}

}  // namespace

std::vector<NormFit> FitNorms(const NormQuestion& question) {
  std::vector<NormFit> fits = FitRows(question, Among::kAllRows);
  for (NormFit& fit : fits) fit.weight = question.weight, fit.bias = question.bias;
  KeepSimplest(fits);
  Alternatives all(std::move(fits));
  if (all.all().empty() || all.all().front().deviations.count > 1) {
    AddNormParts(question, all);
    AddColumns(question, all);
    AddOrders(question, all);
    if (question.N > 1) AddSteps(question, all);
  }
  if (all.all().empty()) all.all() = FitNormTables(question);
  KeepSimplest(all.all());
  std::erase_if(all.all(), [](const NormFit& fit) { return !fit.is_evident; });
  return all.all();
}

}  // namespace sextant::oracle
