#include "oracle/catalog/wrong_rows.h"

#include <algorithm>

#include "oracle/catalog/candidates.h"
#include "oracle/catalog/catalog.h"
#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/prediction.h"
#include "reference/base/parallel.h"

namespace sextant::oracle {
namespace {

// So many defects are tried, those that predict most; and in so many rows.
constexpr size_t kMostDefects = 6, kMostRows = 1024;

struct Row {
  AnsweredSlice part;
  Values right;  // by the recipe
};

// The rows in which elements fail; none if there are too many.
std::vector<Row> FailingRows(const Observation& seen) {
  const Shape& shape = seen.golden[0].value.shape;
  std::vector<Row> rows;
  for (const Slice& slice : CutCase(seen.c, std::max<size_t>(1, shape.back()))) {
    AnsweredSlice part = AnsweredSliceOf(seen, slice);
    if (part.failing_elements == 0) continue;
    if (part.elements > shape.back() || rows.size() == kMostRows) return {};
    Values right = RightValues(seen, part, By::kRecipe);
    rows.push_back({std::move(part), std::move(right)});
  }
  return rows;
}

// Rows that a defect predicts, and their elements.
struct Predicted {
  size_t failing = 0,
         decisive = 0;           // elements; decisive: the right formula predicts another number
  std::vector<size_t> elements;  // flat indices, ascending
};

Predicted PredictedRows(const Observation& seen, const std::vector<Row>& rows,
                        const Hypothesis& hypothesis, const ProveOptions& options) {
  std::vector<Comparison> sums(rows.size());
  InParallel(rows.size(), options.threads,
             [&](size_t i) { sums[i] = Compare(seen, rows[i].part, rows[i].right, hypothesis); });
  Predicted all;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!sums[i].explains()) continue;
    all.failing += sums[i].failing;
    all.decisive += sums[i].effects;
    const auto indices = IndicesIn(seen.golden[0].value.shape, seen.c.info().signature.outputs[0],
                                   rows[i].part.slice);
    all.elements.insert(all.elements.end(), indices.begin(), indices.end());
  }
  std::ranges::sort(all.elements);  // slices have another order
  return all;
}

// "; explains 64 of 128 failing elements, in whole rows: S 3, 9 and H 1; the other rows are right"
std::string ExtentOfRows(const Observation& seen, const Predicted& rows, size_t failing) {
  const auto tensor = AnsweredTensorOf(seen, 0);
  std::string where;
  for (const AxisView& axis : tensor->axes) {
    const std::vector<size_t> indices = axis.IndicesOf(rows.elements);
    if (indices.size() == axis.extent) continue;
    where += (where.empty() ? "" : " and ") + axis.name + " " + IndicesText(indices, axis.extent);
  }
  return "; explains " + std::to_string(rows.failing) + " of " + std::to_string(failing) +
         " failing elements, in whole rows" + (where.empty() ? "" : ": " + where) +
         (rows.failing == failing ? "; the other rows are right"
                                  : "; the others are not explained");
}

}  // namespace

std::vector<Cause> CausesOfRows(const Observation& seen, Evidence& evidence,
                                const ProveOptions& options) {
  if (!IsFirstAlone(seen) || evidence.elements() > Evidence::kAlways) return {};
  const std::vector<Row> rows = FailingRows(seen);
  if (rows.empty()) return {};
  const std::vector<Defect>& defects = CatalogEntryOf(seen.c.name()).defects;
  std::vector<Cause> causes;
  size_t most =
      (3 * evidence.failing() + 3) / 4;  // of another rule, by chance more than half may hold
  const auto candidates = CandidatesButPrecisions(defects, seen.c, seen.inputs, seen.recipe);
  for (const size_t i : evidence.NearestOf(candidates, kMostDefects)) {
    const auto hypothesis = candidates[i].make();
    const Predicted predicted = PredictedRows(seen, rows, *hypothesis, options);
    if (predicted.failing < most || !IsEvidence(predicted.decisive, defects.size())) continue;
    if (predicted.failing > most) causes.clear();
    most = predicted.failing;
    causes.push_back(
        {defects[i].name, defects[i].why + ExtentOfRows(seen, predicted, evidence.failing())});
  }
  return causes;
}

}  // namespace sextant::oracle
