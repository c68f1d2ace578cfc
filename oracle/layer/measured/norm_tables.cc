#include "oracle/layer/measured/norm_tables.h"

#include <cmath>
#include <utility>

#include "oracle/layer/measured/column_table.h"
#include "oracle/layer/measured/divisor.h"
#include "oracle/layer/measured/norm_names.h"
#include "oracle/layer/measured/norm_rows.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewestRows = 4;     // that tell two numbers of a column, and test them
constexpr size_t kLargestGroup = 64;  // of rows that share what divides them

using RowKind = Norm::Rows;
using Root = Norm::Root;

class Norms {
 public:
  explicit Norms(const NormQuestion& question) : q_(question), all_{question.right} {}

  // The right norm and those with one deviation of the rows.
  std::vector<Norm> All() {
    AddCenters();
    AddRoots();
    AddCounts();
    AddRows();
    return std::move(all_);
  }

 private:
  template <class Change>
  void Add(const Change& change) {
    all_.push_back(q_.right);
    change(all_.back());
    if (all_.back() == q_.right) all_.pop_back();
  }
  void AddCenters() {
    for (const bool subtracts : {false, true}) {
      for (const bool centered : {false, true})
        Add([=](Norm& n) { n.subtracts_mean = subtracts, n.sums_centered = centered; });
    }
    for (const double count : CountsOf(q_.M)) {
      Add([=](Norm& n) { n.mean_count = n.subtracts_mean ? count : n.mean_count; });
    }
  }
  void AddRoots() {
    for (const Root root : {Root::kEpsOutside, Root::kEpsAsFloor, Root::kMissing, Root::kNoDivisor,
                            Root::kEpsTimesLargest})
      Add([=](Norm& n) { n.root = root; });
    for (const double power : {1.0 / 3, 0.25})
      Add([=](Norm& n) { n.root = Root::kPower, n.power = power; });
    for (const auto summed : {Norm::Summed::kMagnitudes, Norm::Summed::kLargest})
      Add([=](Norm& n) { n.summed = summed; });
    for (const Constant& eps : NamedNumbers(FreeNumber::kEps, q_.right.eps, q_.M))
      Add([&](Norm& n) { n.eps = eps.value; });
  }
  void AddCounts() {
    for (const Constant& count : NamedCounts(q_.M)) Add([&](Norm& n) { n.count = count.value; });
  }
  void AddRows() {
    const auto add = [&](RowKind rows, size_t group) {
      for (const auto shared : {Norm::Shared::kBoth, Norm::Shared::kDivisor, Norm::Shared::kMean}) {
        if (shared == Norm::Shared::kBoth || q_.right.subtracts_mean)
          Add([&](Norm& n) { n.rows = rows, n.group = group, n.shared = shared; });
      }
    };
    if (q_.N == 1) return;
    for (const RowKind rows : {RowKind::kFirst, RowKind::kPrevious, RowKind::kAround}) add(rows, 1);
    for (size_t group = 2; group < 2 * q_.N && group <= kLargestGroup; group *= 2) {
      add(RowKind::kGroup, std::min(group, q_.N));
      add(RowKind::kFirstOfGroup, group);
    }
  }

  const NormQuestion& q_;
  std::vector<Norm> all_;
};

class NormTableFitter {
 public:
  explicit NormTableFitter(const NormQuestion& question) : q_(question), rows_(question) {
    if (q_.right.unit_offset) offset_ = 1;
  }

  std::vector<NormFit> All() {
    if (rows_.rows().size() < kFewestRows) return {};
    for (const Norm& norm : Norms(q_).All()) {
      for (const int step : {0, 1, -1}) Try(norm, step);
    }
    return std::move(fits_);
  }

 private:
  // One element of a column: y = z w + b.
  struct Point {
    double z, y, error;
  };

  // The points of a column; `step` columns farther in each row, which read the same weight.
  std::vector<Point> PointsOf(const std::vector<Sums>& sums, const std::vector<double>& divisors,
                              size_t column, int step) const {
    std::vector<Point> points;
    const auto M = static_cast<int64_t>(q_.M);
    for (size_t i = 0; i < rows_.rows().size(); ++i) {
      const size_t n = rows_.rows()[i];
      const int64_t by = step * static_cast<int64_t>(n % q_.M);
      const size_t at = n * q_.M + static_cast<size_t>((static_cast<int64_t>(column) - by + M) % M);
      if (!q_.samples.Has(at)) continue;
      const Sample sample = q_.samples.At(at);
      points.push_back({(q_.x[at] - sums[i].mean) / divisors[i], sample.y,
                        sample.error * rows_.error_factors()[i]});
    }
    return points;
  }

  // The weight and the bias of a column; none if there are no such numbers.
  struct Line {
    MeasuredNumber weight, bias;
  };
  std::optional<Line> LineOf(const std::vector<Point>& points) const {
    if (!q_.bias.empty()) return LineWithBias(points);
    Range weight;
    for (const Point& p : points) weight.Intersect(Quotient(p.y, p.error, p.z));
    if (weight.IsEmpty()) return std::nullopt;
    if (!weight.IsBounded()) return Line{};
    return Line{{weight.Middle(), (weight.high - weight.low) / 2 + UlpOf(DType::kF64, 1)}, {0, 0}};
  }
  // Through the points whose z are farthest from each other; the others test it. The errors of both
  // ends change the line between them by at most the larger one.
  static std::optional<Line> LineWithBias(const std::vector<Point>& points) {
    if (points.size() < 3) return Line{};
    const auto [low, high] = std::ranges::minmax_element(points, {}, &Point::z);
    const double width = high->z - low->z;
    if (!(width > 0)) return Line{};
    const double weight = (high->y - low->y) / width, bias = low->y - low->z * weight;
    const double error = std::max(low->error, high->error);
    for (const Point& p : points)
      if (!(std::abs(p.y - (p.z * weight + bias)) <= p.error + error)) return std::nullopt;
    const double of_weight = 2 * error / width;
    return Line{{weight, of_weight},
                {bias, error + of_weight * std::max(0.0, std::max(low->z, -high->z))}};
  }

  struct Tables {
    std::vector<MeasuredNumber> weight, bias;
  };
  // Empty if a column has no weight and bias.
  std::optional<Tables> TablesOf(const Norm& norm, int step) const {
    const std::vector<Sums> sums = rows_.SumsOf(norm);
    std::vector<double> divisors;
    for (const Sums& one : sums) divisors.push_back(DivisorOf(norm, one));
    Tables tables;
    for (size_t j = 0; j < q_.M; ++j) {
      const auto line = LineOf(PointsOf(sums, divisors, j, step));
      if (!line) return std::nullopt;
      tables.weight.push_back(line->weight);
      tables.weight.back().value -= offset_;
      tables.bias.push_back(line->bias);
    }
    return tables;
  }

  void Try(const Norm& norm, int step) {
    if (step != 0 && !q_.bias.empty()) return;  // a bias does not move with the weight
    const auto tables = TablesOf(norm, step);
    if (!tables) return;
    const auto weight = NameTable(tables->weight, q_.weight, {}, "weight");
    if (!weight || (q_.bias.empty() && HasNewZero(weight->numbers))) return;
    NormFit fit{norm, {}, weight->numbers, q_.bias};
    Describe(q_.right, q_.M, {FreeNumber::kEps, TextOfEps(norm)}, fit);
    fit.deviations.Add(weight->deviations);
    if (!q_.bias.empty()) {
      const auto bias = NameTable(tables->bias, q_.bias, q_.weight, "bias");
      if (!bias) return;
      fit.bias = bias->numbers;
      fit.deviations.Add(bias->deviations);
    }
    fit.norm.weight_step = step;
    if (step != 0) fit.deviations.Add(kWeightOfRow, WeightOfRowText(step));
    const bool others = step != 0 || fit.weight != q_.weight || fit.bias != q_.bias;
    // One of some hundred norms.
    constexpr double kBitsOfNorms = 8;
    fit.is_evident = fit.deviations.count == 0 ||
                     IsEvident(rows_.DistancesOf(norm, {}, others), fit.deviations, kBitsOfNorms);
    fits_.push_back(std::move(fit));
  }
  // Where y is 0, it was not written, whatever the weight.
  bool HasNewZero(const std::vector<double>& weight) const {
    for (size_t j = 0; j < q_.M; ++j)
      if (weight[j] == 0 && q_.weight[j] != 0) return true;
    return false;
  }
  std::string TextOfEps(const Norm& norm) const {
    for (const Constant& eps : NamedNumbers(FreeNumber::kEps, q_.right.eps, q_.M))
      if (eps.value == norm.eps) return eps.text;
    return "";
  }

  const NormQuestion& q_;
  NormRows rows_;
  double offset_ = 0;
  std::vector<NormFit> fits_;
};

}  // namespace

std::vector<NormFit> FitNormTables(const NormQuestion& question) {
  NormQuestion few = question;                     // most answers contradict every norm in few rows
  few.rows = std::min(few.rows, 2 * kFewestRows);  // half of them may be among the others
  if (NormTableFitter(few).All().empty()) return {};
  return NormTableFitter(question).All();
}

}  // namespace sextant::oracle
