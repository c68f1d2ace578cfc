#include "oracle/layer/measured/embedding.h"

#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "oracle/layer/measured/column_order.h"
#include "oracle/layer/measured/row_added.h"
#include "oracle/layer/measured/token_rule.h"
#include "oracle/layer/tensor_places.h"
#include "reference/case/operation.h"
#include "reference/layer/embedding.h"

namespace sextant::oracle {
namespace {

constexpr size_t kTokens = 64;                    // that are looked at
constexpr size_t kManyNumbers = size_t{1} << 16;  // of a table whose columns are not reordered

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

std::string Replaced(std::string text, const std::string& by) {
  for (size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at + by.size()))
    text.replace(at, 1, by);
  if (const size_t at = text.find("+ -"); at != std::string::npos) text.replace(at, 3, "- ");
  return text;
}

class EmbeddingFitter {
 public:
  EmbeddingFitter(const Observation& seen, std::vector<Reading> readings)
      : readings_(std::move(readings)),
        token_(seen.inputs[kToken].values.data),
        rows_(static_cast<double>(seen.inputs[kTable].values.shape[0])),
        book_{token_, rows_},
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
    for (const TokenRule& rule : TokenRules()) Try(rule, start);
    TryModulo(start);
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
  void Try(const TokenRule& rule, EmbeddingFit fit) {
    Range constant;
    for (const Reading& reading : readings_) constant.Intersect(rule.allowed(reading, book_));
    if (constant.IsEmpty()) return;
    const double c = constant.low > -kInfinity ? constant.low : 0;
    for (size_t s = 0; s < token_.size(); ++s)
      fit.rows.push_back(rule.row(token_[s], static_cast<double>(s), book_, c));
    const auto is_row = [&](double row) { return row >= 0 && row < rows_; };
    if (!std::ranges::all_of(fit.rows, is_row)) return;
    if (rule.name.empty()) {
      fits_.push_back(fit);
    } else {
      Add(rule.name, Replaced(rule.sentence, PrintValue(c)), fit);
    }
  }
  // The largest m with row = token mod m: it divides every token - row.
  void TryModulo(EmbeddingFit fit) {
    double modulus = 0;
    for (const Reading& r : readings_) {
      for (double rest = std::abs(r.token - r.row); rest != 0;)
        modulus = std::exchange(rest, std::fmod(modulus, rest));
    }
    const bool fits = std::ranges::all_of(
        readings_, [&](const Reading& r) { return std::fmod(r.token, modulus) == r.row; });
    if (modulus < 2 || !fits) return;
    for (const double token : token_) fit.rows.push_back(std::fmod(token, modulus));
    Add("token_wrapped", "tokens are taken modulo " + PrintValue(modulus), fit);
  }
  // A rule with one constant. Each other token that reads the wrong row that the rule predicts, one
  // of all rows, is evidence for it.
  void Add(const std::string& name, const std::string& sentence, EmbeddingFit fit) {
    std::set<double> wrong;
    for (const Reading& reading : readings_)
      if (reading.row != reading.token) wrong.insert(reading.token);
    Deviations rule;
    rule.adjusted = 1;
    rule.Add(name, sentence + " (" + std::to_string(wrong.size()) + " different tokens of " +
                       std::to_string(readings_.size()) + " read another row than their own)");
    if (!IsEvident(std::vector<double>(wrong.size(), rows_), rule)) return;
    fit.deviations.Add(rule);
    fits_.push_back(fit);
  }

  std::vector<Reading> readings_;
  const std::vector<double>& token_;
  double rows_;
  Book book_;
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
  const size_t V = right.shape[0], M = right.shape[1];
  for (size_t v = 0; v < V; ++v)
    for (size_t j = 0; j < M; ++j) table.values(v, j) = right.data[j * V + v];
  table.deviations.Add("table_transposed", "the table is read as [M,V]");
  return table;
}

EmbeddingTable InColumnOrder(const Tensor<double>& right, const ColumnOrder& order) {
  EmbeddingTable table{right, {}};
  for (size_t i = 0; i < right.data.size(); ++i) {
    const size_t j = i % right.shape[1];
    table.values.data[i] = right.data[i - j + order.of(j)];
  }
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
  for (const ColumnOrder& order : ColumnOrdersOf(right.shape[1]))
    if (explanations.empty()) explanations = ReadFrom(InColumnOrder(right, order), seen);
  return explanations;
}

}  // namespace

std::vector<Measurement> EmbeddingMeasurements() { return {MeasureEmbedding, MeasureRowAdded}; }

}  // namespace sextant::oracle
