#include "oracle/layer/measured/embedding.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/diagnosis/vocabulary/exchanged_axes.h"
#include "oracle/diagnosis/vocabulary/index_maps.h"
#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/row_added.h"
#include "oracle/layer/tensor_places.h"
#include "reference/case/operation.h"
#include "reference/layer/embedding.h"

namespace sextant::oracle {
namespace {

constexpr size_t kTokens = 64;                    // that are looked at
constexpr size_t kManyNumbers = size_t{1} << 16;  // of a table whose columns are not reordered

// The row that a token reads, and the scales that it may have.
struct Reading {
  double token, place, row;
  Range scale;
};

const std::vector<NamedIndexMap> kTokenMaps = {
    {&kSubtracted, "token_reversed"}, {&kDivided, "token_divided"},
    {&kClamped, "token_clamped"},     {&kClampedBelow, "token_clamped_below"},
    {&kConstant, "row_for_all"},      {&kWrapped, "token_wrapped"}};

class Reader {
 public:
  Reader(const Observation& seen, const Tensor<double>& table, ErrorBar bar)
      : token_(seen.inputs[kToken].values.data),
        table_(table),
        right_(dynamic_cast<const TypedOperation<Embedding>&>(seen.c.operation()).op().scale),
        samples_(seen, 0, bar) {}

  // Of the tokens whose answers are farthest from the right ones; empty if one reads no row.
  std::vector<Reading> All() const {
    if (!samples_.IsAnswered() || CountOf(table_.shape) == 0) return {};
    std::vector<Reading> readings;
    for (const size_t s : samples_.ChosenRows(kTokens, table_.shape[1])) {
      if (!IsCompared(s)) continue;
      const auto reading = At(s);
      if (!reading) return {};
      readings.push_back(*reading);
    }
    return readings;
  }
  std::vector<double> Distances() const {
    std::vector<double> distances;
    for (const Sample& sample : samples_.Chosen(kTokens * 16))
      distances.push_back(std::abs(sample.y - sample.right) / sample.error);
    return distances;
  }

 private:
  // False for a place that was left out.
  bool IsCompared(size_t s) const {
    const size_t M = table_.shape[1];
    for (size_t j = 0; j < M; ++j)
      if (samples_.Has(s * M + j)) return true;
    return false;
  }
  std::optional<Reading> At(size_t s) const {
    const double token = token_[s];
    std::optional<Reading> found;
    const auto rows = static_cast<double>(table_.shape[0]);
    for (double i = 0; i < rows; ++i) {  // first its own row, then those after it
      const double row = std::fmod(token + i, rows);
      const Range scale = ScaleOf(s, static_cast<size_t>(row));
      if (scale.IsEmpty()) continue;
      if (!found || scale.Contains(right_)) found = {token, static_cast<double>(s), row, scale};
      if (scale.Contains(right_) || i == 0) break;
    }
    return found;
  }
  Range ScaleOf(size_t s, size_t row) const {
    const size_t M = table_.shape[1];
    Range scale;
    for (size_t j = 0; j < M && !scale.IsEmpty(); ++j) {
      if (!samples_.Has(s * M + j)) continue;
      const Sample sample = samples_.At(s * M + j);
      const double x = table_(row, j);
      if (x == 0 && sample.y != 0) return {1, 0};
      if (x == 0) continue;
      scale.Intersect(Quotient(sample.y, sample.error, x));
    }
    return scale.IsBounded() ? scale : Range{1, 0};
  }

  const std::vector<double>& token_;
  const Tensor<double>& table_;
  double right_;
  Samples samples_;
};

struct EmbeddingFit {
  std::vector<double> rows;  // of all tokens
  double scale;
  Deviations deviations;
};

class EmbeddingFitter {
 public:
  EmbeddingFitter(const Observation& seen, std::vector<Reading> readings)
      : readings_(std::move(readings)),
        token_(seen.inputs[kToken].values.data),
        rows_(static_cast<double>(seen.inputs[kTable].values.shape[0])),
        width_(static_cast<double>(seen.inputs[kTable].values.shape[1])),
        right_(dynamic_cast<const TypedOperation<Embedding>&>(seen.c.operation()).op().scale) {}

  std::vector<EmbeddingFit> All() {
    Range scale;
    for (const Reading& reading : readings_) scale.Intersect(reading.scale);
    if (scale.IsEmpty()) return {};
    EmbeddingFit start{{}, right_, {}};
    if (!scale.Contains(right_)) {
      const auto found = ConstantsIn(scale, NamedScales());
      start.scale = found.front().value;
      start.deviations.Count(found.front());
      start.deviations.Add("scale", "the table is multiplied by " + TextOf(found) + ", expected " +
                                        PrintValue(right_));
    }
    std::vector<ActingIndex> wrong;
    for (const Reading& reading : readings_)
      if (reading.row != reading.token) wrong.push_back({reading.token, reading.row});
    start.rows = token_;
    if (wrong.empty()) return {start};
    AddMaps(start, wrong);
    AddPlaces(start);
    KeepSimplest(fits_);
    return fits_;
  }

 private:
  std::vector<Constant> NamedScales() const {
    const double root = std::sqrt(width_);
    const std::string width = PrintValue(width_), right = PrintValue(right_);
    return {{1, "1"},
            {root, "sqrt(" + width + ")"},
            {1 / root, "1 / sqrt(" + width + ")"},
            {width_, width},
            {right_ * right_, right + "^2"},
            {1 / right_, "1 / " + right},
            {-right_, "-" + right},
            {RoundTo(DType::kBF16, right_), right + " rounded to bf16"},
            {RoundTo(DType::kF16, right_), right + " rounded to f16"},
            {RoundTo(DType::kBF16, root), "sqrt(" + width + ") rounded to bf16"}};
  }
  void AddMaps(const EmbeddingFit& start, std::vector<ActingIndex> wrong) {
    for (const auto& [map, name] : kTokenMaps) {
      for (const double c : map->fitted(wrong))
        if (Add(name, map->Sentence("tokens", c), start,
                [&, c](double t, double) { return map->of(t, c); }))
          break;
    }
    // Rows that are not at an end say the shift.
    std::ranges::partition(wrong,
                           [&](const auto& one) { return one.as > 0 && one.as < rows_ - 1; });
    const double c = kShifted.fitted(wrong)[0];
    const double around = c - rows_ * std::nearbyint(c / rows_);
    Add("token_shifted", kShifted.Sentence("tokens", around) + ", modulo the number of rows", start,
        [&](double t, double) { return kWrapped.of(t + around, rows_); });
    Add("token_shifted_to_the_last",
        kShifted.Sentence("tokens", c) + ", and act as the last row at most", start,
        [&](double t, double) { return std::clamp(t + c, 0.0, rows_ - 1); });
  }
  void AddPlaces(const EmbeddingFit& start) {
    const auto at = [&](double place) {
      return token_[static_cast<size_t>(kWrapped.of(place, static_cast<double>(token_.size())))];
    };
    const double c = readings_[0].row - readings_[0].place;
    Add("token_by_place", "the place of a token plus " + PrintValue(c) + " is used as the token",
        start, [&](double, double place) { return kWrapped.of(place + c, rows_); });
    Add("token_of_previous_place", "every place reads the row of the token before it", start,
        [&](double, double place) { return at(place - 1); });
    Add("token_of_next_place", "every place reads the row of the token after it", start,
        [&](double, double place) { return at(place + 1); });
    Add("token_of_reversed_place", "the tokens are read in reverse order", start,
        [&](double, double place) { return at(-1 - place); });
  }
  // Adds a rule by which every token at its place reads a row. Each other token that reads the
  // wrong row that the rule predicts, one of all rows, is evidence for it.
  bool Add(const std::string& name, const std::string& sentence, EmbeddingFit fit,
           const std::function<double(double token, double place)>& row) {
    const bool is_read = std::ranges::all_of(
        readings_, [&](const Reading& r) { return row(r.token, r.place) == r.row; });
    if (!is_read) return false;
    for (size_t s = 0; s < token_.size(); ++s) fit.rows[s] = row(token_[s], static_cast<double>(s));
    const auto is_row = [&](double i) { return i >= 0 && i < rows_; };
    if (!std::ranges::all_of(fit.rows, is_row)) return false;
    std::set<double> wrong;
    for (const Reading& reading : readings_)
      if (reading.row != reading.token) wrong.insert(reading.token);
    Deviations rule;
    rule.adjusted = 1;
    rule.Add(name, sentence + " (" + std::to_string(wrong.size()) + " different tokens of " +
                       std::to_string(readings_.size()) + " read another row than their own)");
    if (!IsEvident(std::vector<double>(wrong.size(), rows_), rule)) return false;
    fit.deviations.Add(rule);
    fits_.push_back(fit);
    return true;
  }

  std::vector<Reading> readings_;
  const std::vector<double>& token_;
  double rows_;
  double width_, right_;
  std::vector<EmbeddingFit> fits_;
};

// The table as it is, or its memory read as [M,V].
struct EmbeddingTable {
  Tensor<double> values;
  Deviations deviations;
};
EmbeddingTable Transposed(const Tensor<double>& right) {
  EmbeddingTable table{right, {}};
  table.values.data = ReadWithExchangedAxes(right, 0, 1);
  table.deviations.Add("table_transposed", "the table is read as [M,V]");
  return table;
}

EmbeddingTable InColumnOrder(const Tensor<double>& right, const AxisOrder& order) {
  EmbeddingTable table{right, {}};
  table.values.data = InOrder(right.data, order.from, right.shape[1]);
  table.deviations.Add("columns_" + order.name,
                       "the columns of the table are in another order: " + order.text);
  return table;
}

std::vector<Explanation> ReadFrom(const EmbeddingTable& table, const Observation& seen) {
  const Reader reader(seen, table.values, ErrorBar::kPermitted);
  const auto readings = reader.All();
  if (readings.empty()) return {};
  std::vector<Explanation> explanations;
  for (const auto& [rows, scale, read] : EmbeddingFitter(seen, readings).All()) {
    Deviations found = table.deviations;
    found.Add(read);
    if (found.count == 0) return {};
    if (!IsEvident(reader.Distances(), found)) continue;
    Tensors inputs = seen.inputs;
    inputs[kToken].values.data = rows;
    inputs[kTable].values = table.values;
    Hypothesis model{seen.c.With("scale=" + PrintValue(scale)).operation().Clone(),
                     std::move(inputs), seen.recipe};
    explanations.push_back({found.name, found.sentence, std::move(model)});
  }
  return explanations;
}

std::vector<Explanation> MeasureEmbedding(const Observation& seen) {
  const Tensor<double>& right = seen.inputs[kTable].values;
  std::vector<Explanation> explanations = ReadFrom({right, {}}, seen);
  if (explanations.empty()) explanations = ReadFrom(Transposed(right), seen);
  if (right.data.size() > kManyNumbers) return explanations;
  for (const AxisOrder& order : OrdersOf(right.shape[1]))
    if (explanations.empty()) explanations = ReadFrom(InColumnOrder(right, order), seen);
  return explanations;
}

}  // namespace

std::vector<Measurement> EmbeddingMeasurements() { return {MeasureEmbedding, MeasureRowAdded}; }

}  // namespace sextant::oracle
