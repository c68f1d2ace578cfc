#include "reference/number/matrix_product.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "reference/number/dot/counted_dot.h"
#include "reference/number/dot/dot_rows.h"
#include "reference/number/dot/float_sums.h"
#include "reference/number/dot/rounded_dot.h"
#include "reference/number/real.h"
#include "reference/number/recipe/in_parallel_here.h"

namespace sextant {
namespace {

template <class Real>
std::span<const Real> RowOf(const Tensor<Real>& x, size_t n) {
  return std::span(x.data).subspan(n * x.shape[1], x.shape[1]);
}

template <class Real>
std::vector<DotOperand<Real>> OperandsOf(const Tensor<Real>& x) {
  std::vector<DotOperand<Real>> operands;
  for (size_t n = 0; n < x.shape[0]; ++n) operands.emplace_back(RowOf(x, n));
  return operands;
}

// Each dot product by Dot.
template <class Real>
void MultiplyOneByOne(const Tensor<Real>& x, const Weights<Real>& weight, Tensor<Real>& y) {
  const std::vector<DotOperand<Real>> rows = OperandsOf(x);
  InParallelHere(weight.shape[0], [&](size_t f) {
    const std::vector<Real> numbers = weight.RowOf(f);
    const DotOperand<Real> column(numbers);
    for (size_t n = 0; n < rows.size(); ++n) y(n, f) = Dot(rows[n], column);
  });
}

// Rows first .. first + rows - 1 of a weight, column by column; rows beyond the last are 0.
template <size_t rows, class T, class Real>
std::vector<T> BlockOf(const Weights<Real>& weight, size_t first) {
  const size_t width = weight.shape[1], count = std::min(rows, weight.shape[0] - first);
  std::vector<T> block(rows * width);
  constexpr size_t kColumns = 64;  // at a time: they stay in the L1 cache
  for (size_t begin = 0; begin < width; begin += kColumns) {
    const size_t end = std::min(begin + kColumns, width);
    for (size_t j = 0; j < count; ++j) {
      const std::span<const double> row = weight.Row(first + j);
      for (size_t i = begin; i < end; ++i) block[i * rows + j] = static_cast<T>(row[i]);
    }
  }
  return block;
}

// True if step dot has a fast path for plain numbers (plain_dot.h).
bool HasPlainNumbers() {
  const ScopedStep at(Step::kDot);
  const StepRule& rule = CurrentRule();
  return !rule.exact && !rule.flushes && rule.factors == Factors::kWhole &&
         GridOf(rule.format).precision <= kMostPlainBits;
}

bool ArePlain(std::span<const double> numbers, DType dtype) {
  const ScopedStep at(Step::kDot);
  const DType format = CurrentRule().format;
  const bool contained = Contains(format, dtype);
  return std::ranges::all_of(numbers, [&](double x) {
    return std::isfinite(x) && (contained || IsRepresentable(format, x));
  });
}

// Rows first .. as a block; empty unless all numbers are plain.
std::optional<PlainBlock> PlainBlockOf(const Weights<Counted>& weight, size_t first, size_t count) {
  PlainBlock block;
  const ScopedStep at(Step::kDot);
  const Grid grid = GridOf(CurrentRule().format);
  for (size_t j = 0; j < count; ++j) {
    const auto row = weight.Row(first + j);
    if (!ArePlain(row, weight.dtype)) return std::nullopt;
    block.range.Include(row, grid);
  }
  block.numbers = BlockOf<kPlainRows, float>(weight, first);
  return block;
}

// The products with rows first .. of the weight, one block.
void MultiplyBlock(const std::vector<CountedRow>& rows, const Weights<Counted>& weight,
                   size_t first, Tensor<Counted>& y) {
  const size_t count = std::min(kPlainRows, weight.shape[0] - first);
  const std::optional<PlainBlock> block = PlainBlockOf(weight, first, count);
  std::vector<std::optional<DotOperand<Counted>>> operands(count);
  for (size_t n = 0; n < rows.size(); ++n) {
    const auto products = block ? rows[n].Times(*block) : CountedRow::Products(kPlainRows);
    for (size_t j = 0; j < count; ++j) {
      if (!products[j] && !operands[j]) operands[j].emplace(weight.RowOf(first + j));
      y(n, first + j) = products[j] ? *products[j] : Dot(rows[n].operand(), *operands[j]);
    }
  }
}

// The order in which Dot adds.
SumOrder OrderOfDot() {
  const ScopedStep at(Step::kDot);
  return CurrentRule().form == Form::kSequential ? SumOrder{} : this_context.sum_order;
}

// The way in which Rounded numbers are multiplied (rounded_dot.h).
enum class RoundedPath { kOneByOne, kFloat, kLong };
RoundedPath PathOf(const Weights<Rounded>& weight) {
  const ScopedStep at(Step::kDot);
  const StepRule& rule = CurrentRule();
  const bool in_float =
      rule.format == DType::kF32 && !rule.exact && !rule.flushes && rule.factors == Factors::kWhole;
  const bool any = rule.form == Form::kDefault || rule.form == Form::kAny;
  const bool in_order = any || rule.form == Form::kSequential;
  const bool has_terms = weight.shape[1] > 0;
  if (!in_float || !in_order || !has_terms || !Contains(rule.format, weight.dtype))
    return RoundedPath::kOneByOne;
  if (!this_context.rounding_seed) return RoundedPath::kFloat;
  const bool is_long =
      weight.shape[1] >= kLongSum && OrderOfDot().kind == SumOrder::Kind::kForwards;
  return is_long ? RoundedPath::kLong : RoundedPath::kOneByOne;
}

// The rows of x as Dot reads them.
template <class T>
std::vector<T> ConvertedNumbers(const Tensor<Rounded>& x) {
  const ScopedStep at(Step::kDot);
  std::vector<T> numbers;
  numbers.reserve(x.data.size());
  for (const Rounded& number : x.data) numbers.push_back(static_cast<T>(Converted(number).value()));
  return numbers;
}

void MultiplyFloats(const Tensor<Rounded>& x, const Weights<Rounded>& weight, Tensor<Rounded>& y) {
  const size_t width = x.shape[1], F = weight.shape[0];
  const FloatSums in_order(OrderOfDot(), width);
  std::vector<float> numbers = ConvertedNumbers<float>(x);
  for (size_t n = 0; n < x.shape[0]; ++n) {
    const std::span row = std::span(numbers).subspan(n * width, width);
    std::ranges::copy(in_order.RowInOrder(row), row.begin());
  }
  InParallelHere((F + kRoundedRows - 1) / kRoundedRows, [&](size_t b) {
    const size_t first = b * kRoundedRows, count = std::min(kRoundedRows, F - first);
    const std::vector<float> block =
        in_order.BlockInOrder(BlockOf<kRoundedRows, float>(weight, first));
    float sums[kRoundedRows];
    for (size_t n = 0; n < x.shape[0]; ++n) {
      in_order.Add(std::span(numbers).subspan(n * width, width), block.data(), sums);
      for (size_t j = 0; j < count; ++j) y(n, first + j) = Rounded(sums[j]);
    }
  });
}

// True if the products of two numbers of that dtype are values of f32, and all numbers have it.
bool HaveProductsInF32(std::span<const double> numbers, DType dtype) {
  return 2 * GridOf(dtype).precision <= GridOf(DType::kF32).precision &&
         std::ranges::all_of(numbers, [dtype](double x) { return IsRepresentable(dtype, x); });
}

void MultiplyLong(const Tensor<Rounded>& x, const Weights<Rounded>& weight, Tensor<Rounded>& y) {
  const size_t F = weight.shape[0];
  const std::vector<double> numbers = ConvertedNumbers<double>(x);
  if (numbers.empty()) return;
  const bool exact_products = HaveProductsInF32(numbers, weight.dtype);
  InParallelHere((F + kRoundedRows - 1) / kRoundedRows, [&](size_t b) {
    const size_t first = b * kRoundedRows, count = std::min(kRoundedRows, F - first);
    const std::vector<double> block = BlockOf<kRoundedRows, double>(weight, first);
    std::vector<LongSums> sums(x.shape[0]);
    AddLongProducts(numbers, block.data(), exact_products, sums);
    for (size_t n = 0; n < sums.size(); ++n) {
      const auto& [sum, variances] = sums[n];
      for (size_t j = 0; j < count; ++j)
        y(n, first + j) =
            Rounded(WithRandomError(sum[j], variances[j], *this_context.rounding_seed));
    }
  });
}

}  // namespace

template <class Real>
void MultiplyByWeights(const Tensor<Real>& x, const Weights<Real>& weight, Tensor<Real>& y) {
  MultiplyOneByOne(x, weight, y);
}

template <>
void MultiplyByWeights(const Tensor<Counted>& x, const Weights<Counted>& weight,
                       Tensor<Counted>& y) {
  if (!HasPlainNumbers()) return MultiplyOneByOne(x, weight, y);
  std::vector<CountedRow> rows;
  for (size_t n = 0; n < x.shape[0]; ++n) rows.emplace_back(RowOf(x, n));
  InParallelHere((weight.shape[0] + kPlainRows - 1) / kPlainRows,
                 [&](size_t b) { MultiplyBlock(rows, weight, b * kPlainRows, y); });
}

template <>
void MultiplyByWeights(const Tensor<Rounded>& x, const Weights<Rounded>& weight,
                       Tensor<Rounded>& y) {
  switch (PathOf(weight)) {
    case RoundedPath::kOneByOne:
      return MultiplyOneByOne(x, weight, y);
    case RoundedPath::kFloat:
      return MultiplyFloats(x, weight, y);
    case RoundedPath::kLong:
      return MultiplyLong(x, weight, y);
  }
}

template <class Real>
void MultiplyByRows(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) {
  const DotRows<Real> rows(weight.data, weight.shape[0]);
  for (size_t n = 0; n < x.shape[0]; ++n) {
    std::ranges::copy(rows.Times(DotOperand<Real>(RowOf(x, n)), 0, rows.size()),
                      y.data.begin() + static_cast<std::ptrdiff_t>(n * rows.size()));
  }
}

template void MultiplyByWeights(const Tensor<Interval>&, const Weights<Interval>&,
                                Tensor<Interval>&);
template void MultiplyByWeights(const Tensor<BoostReal>&, const Weights<BoostReal>&,
                                Tensor<BoostReal>&);
template void MultiplyByRows(const Tensor<Interval>&, const Tensor<Interval>&, Tensor<Interval>&);
template void MultiplyByRows(const Tensor<Counted>&, const Tensor<Counted>&, Tensor<Counted>&);
template void MultiplyByRows(const Tensor<Rounded>&, const Tensor<Rounded>&, Tensor<Rounded>&);
template void MultiplyByRows(const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                             Tensor<BoostReal>&);

}  // namespace sextant
