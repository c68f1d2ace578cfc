#include "oracle/attention/measured/softmax.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>

#include "oracle/attention/arg_max_score.h"
#include "oracle/diagnosis/fitted_number.h"
#include "oracle/position/measured/attributes.h"
#include "oracle/property/changed_inputs.h"
#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/softmax.h"
#include "reference/layer/activation.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

// The softmax with one part replaced; `number` belongs to it.
struct ByPart : Softmax {
  enum class Part {
    kNone,
    kAdded,    // the number is added to the sum of e^(x - largest)
    kSumOf,    // the sum has only the first columns
    kTiles,    // each tile of columns has its own sum
    kLanes,    // each lane has its own sum: columns with equal j mod number
    kLimited,  // exponents x - largest are at least -number
    kLogOf,    // the natural logarithm of the result
    kZeros,    // the number of terms e^0 is added to the sum of e^x
    kRows,     // each block of rows has the sum of all its rows; 0: the first row's
  } part{};
  double number = 0;
  std::shared_ptr<const NamedTensor> all_rows{};  // x of the whole case, for kRows

  bool IsSummed(size_t j) const { return part != Part::kSumOf || j < static_cast<size_t>(number); }
  // Columns of one group have the same sum.
  size_t GroupOf(size_t j) const {
    const auto n = static_cast<size_t>(number);
    return part == Part::kTiles ? j / n : part == Part::kLanes ? j % n : 0;
  }
  // The sum of e^(x - largest) of each row, over the rows that have the sum of row n.
  template <class Real>
  Real SumOfRows(size_t n) const {
    const Tensor<double>& x = all_rows->values;
    const auto block = static_cast<size_t>(number);
    const size_t first = block == 0 ? 0 : n / block * block;
    const size_t last = std::min(x.shape[0], first + std::max<size_t>(block, 1));
    std::vector<Real> terms;
    for (size_t row = first; row < last; ++row) {
      const auto values = std::span(x.data).subspan(row * x.shape[1], x.shape[1]);
      const Real largest(std::ranges::max(values), all_rows->dtype);
      for (const double value : values)
        terms.push_back(Exp(Real(value, all_rows->dtype) - largest));
    }
    return SumOf(terms);
  }
  // The sum of each group of columns of row n; term i is of column at[i].
  template <class Real>
  std::map<size_t, Real> SumsOf(size_t n, const std::vector<Real>& terms,
                                const std::vector<size_t>& at, const Real& largest) const {
    if (part == Part::kRows) return {{0, SumOfRows<Real>(n)}};
    std::map<size_t, std::vector<Real>> summed;
    for (size_t i = 0; i < at.size(); ++i) {
      std::vector<Real>& group = summed[GroupOf(at[i])];
      if (IsSummed(at[i])) group.push_back(terms[i]);
    }
    std::map<size_t, Real> sums;
    for (auto& [group, some] : summed) {
      if (part == Part::kAdded) some.push_back(Real(number));
      if (part == Part::kZeros) some.push_back(Exp(Real(std::log(number)) - largest));
      sums.emplace(group, SumOf(some));
    }
    return sums;
  }
  template <class Real>
  void Row(size_t n, std::span<const Real> x, std::span<Real> y) const {
    std::vector<size_t> at;
    std::vector<Real> row, terms;
    for (size_t j = 0; j < x.size(); ++j) {
      y[j] = Real(0.0);
      if (IsEmptyLogSumExp(x[j])) continue;
      at.push_back(j);
      row.push_back(x[j]);
    }
    if (at.empty()) {
      std::ranges::fill(y, Real(kNaN));
      return;
    }
    const Real largest = row[ArgMaxScore<Real>(row)];
    for (const Real& element : row) {
      const Real exponent = element - largest;
      terms.push_back(part == Part::kLimited ? Exp(ClampOrNaN(exponent, Real(-number), Real(0.0)))
                                             : Exp(exponent));
    }
    const std::map<size_t, Real> sums = SumsOf(n, terms, at, largest);
    for (size_t i = 0; i < at.size(); ++i) {
      const Real& sum = sums.at(GroupOf(at[i]));
      y[at[i]] = part == Part::kLogOf ? row[i] - largest - Log(sum) : terms[i] / sum;
    }
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
    const ScopedStep in(Step::kSoftmax);
    const size_t M = x.shape[1];
    for (size_t n = 0; n < x.shape[0]; ++n)
      Row<Real>(SliceBegin("N") + n, std::span(x.data).subspan(n * M, M),
                std::span(y.data).subspan(n * M, M));
  }
};
using Part = ByPart::Part;

std::vector<NamedValue> Values(const std::vector<double>& numbers) {
  std::vector<NamedValue> values;
  for (const double number : numbers) values.push_back({number, PrintValue(number)});
  return values;
}

// Rows that have the sums of other rows. Each row of the answer reads the whole block.
Deviation SumOfOtherRows(const Tensors& inputs) {
  constexpr size_t kMostRead = size_t{1} << 13;
  const size_t N = inputs[0].values.shape[0], M = inputs[0].values.shape[1];
  std::vector<double> blocks = {0};
  if (N * M <= kMostRead) blocks.push_back(static_cast<double>(N));
  for (size_t block = 2; block < N && block <= 64 && block * M <= kMostRead; ++block)
    blocks.push_back(static_cast<double>(block));
  return {.name = "sum_of_other_rows",
          .factor = "part",
          .values = N > 1 ? Values(blocks) : std::vector<NamedValue>(),
          .changed = [](const Hypothesis& base, double block) -> std::optional<Hypothesis> {
            ByPart changed;
            changed.part = Part::kRows;
            changed.number = block;
            changed.all_rows = std::make_shared<const NamedTensor>(base.inputs[0]);
            return Hypothesis{std::make_shared<Wrapped<ByPart, false>>(changed), base.inputs,
                              base.recipe};
          },
          .sentence =
              [N](const std::string& block) {
                if (block == "0")
                  return std::string("all rows are divided by the sum of the first row");
                if (block == std::to_string(N))
                  return std::string("all rows are divided by the sum over all rows");
                return "blocks of " + block + " rows are divided by the sum over the block";
              }};
}

Deviation PartOf(Part part, const std::string& name, const std::string& phrase,
                 const std::vector<double>& numbers) {
  return {.name = name,
          .factor = "part",
          .values = Values(numbers),
          .changed = [part](const Hypothesis& base, double number) -> std::optional<Hypothesis> {
            ByPart changed;
            changed.part = part;
            changed.number = number;
            return Hypothesis{std::make_shared<Wrapped<ByPart, false>>(changed), base.inputs,
                              base.recipe};
          },
          .sentence =
              [phrase](const std::string& number) {
                std::string text = phrase;
                if (const size_t at = text.find('#'); at != std::string::npos)
                  text.replace(at, 1, number);
                return text;
              }};
}

// The columns from a number on are masked: a remainder of tiles, or all beyond a limit.
Deviation ColumnsCut(size_t M) {
  std::vector<NamedValue> values;
  for (size_t lost = 1; lost < M && lost <= 64; ++lost)
    values.push_back({static_cast<double>(M - lost), std::to_string(M - lost)});
  return {.name = "columns_missing",
          .factor = "columns",
          .values = std::move(values),
          .changed = [M](const Hypothesis& base, double first) -> std::optional<Hypothesis> {
            Hypothesis model = base;
            auto& x = model.inputs[0].values.data;
            for (size_t i = 0; i < x.size(); ++i)
              if (static_cast<double>(i % M) >= first) x[i] = -kInfinity;
            return model;
          },
          .sentence =
              [M](const std::string& first) {
                return "columns " + first + " to " + std::to_string(M - 1) + " are not read";
              }};
}

Deviation Exponents(const Tensors& inputs) {
  Deviation factor = InputFactor(inputs, "x", "exponents are multiplied by");
  factor.values = {{std::numbers::ln2, "0.6931472 = ln(2): 2^x for e^x"},
                   {std::numbers::log2e, "1.442695 = log2(e)"},
                   {std::numbers::ln10, "2.302585 = ln(10): 10^x for e^x"},
                   {-1},
                   {2},
                   {0.5}};
  factor.changed = [multiplied = factor.changed](const Hypothesis& base, double number) {
    auto model = multiplied(base, number);
    const auto* by_part = dynamic_cast<const TypedOperation<ByPart>*>(base.operation.get());
    if (!model || !by_part || !by_part->op().all_rows) return model;
    ByPart changed = by_part->op();
    changed.all_rows = std::make_shared<const NamedTensor>(model->inputs[0]);
    model->operation = std::make_shared<Wrapped<ByPart, false>>(changed);
    return model;
  };
  for (const double D : {16, 32, 64, 80, 96, 128, 256})
    factor.values.push_back(
        {1 / std::sqrt(D), ShortText(1 / std::sqrt(D)) + " = 1/sqrt(" + PrintValue(D) + ")"});
  return factor;
}

// Powers of two below M, and neighbours of M.
std::vector<double> Widths(size_t M) {
  std::vector<double> widths;
  for (size_t near = 1; near <= 64 && near < M; ++near)
    widths.push_back(static_cast<double>(M - near));
  for (size_t power = 1; power < M; power *= 2) widths.push_back(static_cast<double>(power));
  return widths;
}

// The columns that are missing to a multiple of a power of two, and small numbers.
std::vector<double> Paddings(size_t M) {
  std::vector<double> paddings = {1, 2};
  for (size_t tile = 4; tile <= 1024; tile *= 2)
    if (M % tile != 0) paddings.push_back(static_cast<double>(tile - M % tile));
  for (double few = 3; few <= 8; ++few) paddings.push_back(few);
  return paddings;
}

}  // namespace

std::vector<Explanation> MeasureSoftmax(const Observation& seen) {
  const size_t M = ExtentOf(seen.c, "M");
  const std::vector<double> tiles = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3, 5, 6, 7};
  return MeasureAttributesAnd(
      seen,
      {Exponents(seen.inputs), ColumnsCut(M),
       PartOf(Part::kAdded, "sum_increased", "# is added to the sum of e^(x - largest)",
              {1, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-16, 0x1p-23, 0x1p-52}),
       SumOfOtherRows(seen.inputs),
       PartOf(Part::kZeros, "sum_has_zeros", "e^0 is added # times to the sum of e^x", Paddings(M)),
       PartOf(Part::kSumOf, "sum_cut", "the sum has only columns 0 to # - 1", Widths(M)),
       PartOf(Part::kTiles, "sum_by_tiles", "each tile of # columns has its own sum", tiles),
       PartOf(Part::kLanes, "sum_by_lanes", "each of # lanes has its own sum", tiles),
       PartOf(Part::kLimited, "exponents_limited", "exponents x - largest are at least -#",
              {1, 2, 5, 10, 15, 16, 20, 25, 30, 32, 40, 50, 64, 80, 87, 88}),
       PartOf(Part::kLogOf, "logarithm", "y is the logarithm of the softmax", {0})});
}

}  // namespace sextant::oracle
