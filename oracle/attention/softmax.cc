#include "reference/attention/softmax.h"

#include <algorithm>
#include <cmath>

#include "oracle/attention/arg_max_score.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/softmax_plan.h"
#include "reference/attention/softmax_row.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

Comparisons CheckSoftmaxSum(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  Comparisons comparisons;
  for (size_t n = 0; M > 0 && n < N; ++n) {
    Measured sum = 0;
    for (size_t j = 0; j < M; ++j) sum = sum + y(0, n * M + j);
    comparisons.Equal(sum, 1, {y, 0, n * M});
  }
  return comparisons;
}

// Multiples of 1/8 up to 8, and the same plus 16, are exact in every format.
Comparisons CheckSoftmaxShift(const Case& c, Tensors inputs, const Ask& ask) {
  for (double& x : inputs[0].values.data) x = std::clamp(std::nearbyint(8 * x) / 8, -8., 8.);
  Tensors shifted = inputs;
  for (double& x : shifted[0].values.data) x += 16;
  for (const Tensors* drawn : {&inputs, &shifted}) {
    for (const double x : (*drawn)[0].values.data) {
      if (!IsRepresentable(c.dtype(), x)) return {};
    }
  }
  Comparisons comparisons;
  ExpectEqual(ask(c, inputs), ask(c, shifted), comparisons);
  return comparisons;
}

// A larger x gives no smaller y.
Comparisons CheckMonotone(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const size_t M = ExtentOf(c, "M");
  const auto& x = inputs[0].values.data;
  Comparisons comparisons;
  for (size_t i = 0; i + 1 < y.size(); ++i) {
    if (i % M + 1 == M) continue;
    const size_t small = x[i] <= x[i + 1] ? i : i + 1;
    comparisons.AtMost(y(0, small), y(0, 2 * i + 1 - small), {y, 0, i});
  }
  return comparisons;
}

// An element 512 above the others takes all the weight: e^-512 < 2^-700.
Comparisons CheckDominant(const Case& c, Tensors inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  auto& x = inputs[0].values.data;
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % M == i / M % M ? 256 : -256;
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    const bool dominant = i % M == i / M % M;
    if (dominant) comparisons.Equal(y(0, i), 1, {y, 0, i});
    if (!dominant) comparisons.AtMost(y(0, i), 0x1p-700, {y, 0, i});
  }
  return comparisons;
}

Comparisons CheckSoftmaxEqual(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, Filled(inputs, {"x"}, 0.75));
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    comparisons.Equal(y(0, i) * static_cast<double>(ExtentOf(c, "M")), 1, {y, 0, i});
  }
  return comparisons;
}

// A masked last element gives the same as a shorter row.
Comparisons CheckMasked(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  Comparisons comparisons;
  if (M < 2) return comparisons;
  Tensors masked = inputs, shorter = inputs;
  shorter[0].values = Tensor<double>({ExtentOf(c, "N"), M - 1});
  for (size_t i = 0; i < inputs[0].values.data.size(); ++i) {
    if (i % M + 1 == M) {
      masked[0].values.data[i] = -kInfinity;
    } else {
      shorter[0].values.data[i / M * (M - 1) + i % M] = inputs[0].values.data[i];
    }
  }
  const Response y = ask(c, masked);
  const Response without = ask(c.With("M=" + std::to_string(M - 1)), shorter);
  for (size_t i = 0; i < y.size(); ++i) {
    const Measured expected = i % M + 1 == M ? Measured(0) : without(0, i / M * (M - 1) + i % M);
    comparisons.Equal(y(0, i), expected, {y, 0, i});
  }
  return comparisons;
}

// The formula with one mutation.
struct MutatedSoftmax : Softmax {
  enum class Mutation {
    kNone,
    kNotSubtracted,  // e^x without subtracting the largest
    kLargestOfAll,   // the largest element of all rows is subtracted
    kColumns,        // the softmax runs down the columns
    kPadded,         // rows are padded with zeros to whole vectors of 16
    kPlusOne,        // 1 is added to the sum
    kBaseTwo,        // 2^x
    kNotDivided,     // the exponentials are not divided
    kSumInF16,       // their sum is kept in f16
    kTermsInBF16,    // each exponential is kept in bf16
    kLaneSums,       // each of 16 lanes has a sum of its own
    kMaskedAsZero,   // -infinity is replaced by 0
    kFiniteMask,     // -infinity is replaced by -1e4
    kMaskedFirst,    // the running maximum -infinity is subtracted from -infinity
  } mutation{};
  static constexpr size_t kLanes = 16;

  bool Is(Mutation m) const { return mutation == m; }

  template <class Real>
  Real TermOf(const Real& x, const Real& largest) const {
    Real exponent = Is(Mutation::kNotSubtracted) ? x : x - largest;
    if (Is(Mutation::kBaseTwo)) exponent = exponent * Log(Real(2.0));
    const Real term = Exp(exponent);
    return Is(Mutation::kTermsInBF16) ? ConvertedTo(DType::kBF16, term) : term;
  }

  template <class Real>
  Real SumOfTerms(const std::vector<Real>& terms) const {
    if (!Is(Mutation::kSumInF16)) return SumOf(terms);
    const ScopedFormat at(DType::kF16);
    return SumOf(terms);
  }

  // Term j is divided by sum j % (number of sums).
  template <class Real>
  std::vector<Real> SumsOf(std::vector<Real> terms, const Real& largest) const {
    if (Is(Mutation::kPlusOne)) terms.push_back(Exp(-largest));
    while (Is(Mutation::kPadded) && terms.size() % kLanes != 0) terms.push_back(Exp(-largest));
    if (!Is(Mutation::kLaneSums)) return {SumOfTerms(terms)};
    std::vector<Real> sums;
    for (size_t first = 0; first < std::min(kLanes, terms.size()); ++first) {
      std::vector<Real> lane;
      for (size_t k = first; k < terms.size(); k += kLanes) lane.push_back(terms[k]);
      sums.push_back(SumOfTerms(lane));
    }
    return sums;
  }

  // Computes the softmax of one row, whose elements are x(at).
  template <class Real>
  void Apply(const Tensor<Real>& x, const std::vector<size_t>& at, const Real* above,
             Tensor<Real>& y) const {
    if (at.empty()) return;
    const ScopedStep in(Step::kSoftmax);
    std::vector<Real> row, terms;
    for (const size_t i : at) row.push_back(x.data[i]);
    const Real largest = above ? *above : row[ArgMaxScore<Real>(row)];
    for (const Real& element : row) terms.push_back(TermOf(element, largest));
    const std::vector<Real> sums = SumsOf(terms, largest);
    for (size_t j = 0; j < at.size(); ++j) {
      const bool divides = !Is(Mutation::kNotDivided);
      y.data[at[j]] = divides ? terms[j] / sums[j % sums.size()] : terms[j];
    }
  }

  template <class Real>
  void operator()(const Tensor<Real>& given, Tensor<Real>& y) const {
    const size_t N = given.shape[0], M = given.shape[1];
    Tensor<Real> x = given;
    for (Real& element : x.data) {
      if (!IsEmptyLogSumExp(element)) continue;
      if (Is(Mutation::kMaskedAsZero)) element = Real(0.0);
      if (Is(Mutation::kFiniteMask)) element = Real(-1e4);
    }
    const bool of_all = Is(Mutation::kLargestOfAll) && N * M > 0;
    const Real* above = of_all ? &x.data[ArgMaxScore<Real>(x.data)] : nullptr;
    const bool transposed = Is(Mutation::kColumns);
    std::ranges::fill(y.data, Real(0.0));
    for (size_t n = 0; n < (transposed ? M : N); ++n) {
      std::vector<size_t> at;
      for (size_t j = 0; j < (transposed ? N : M); ++j) {
        const size_t i = transposed ? j * M + n : n * M + j;
        if (!IsEmptyLogSumExp(x.data[i])) at.push_back(i);
      }
      for (size_t j = 0; !transposed && at.empty() && j < M; ++j) y(n, j) = Real(kNaN);
      Apply(x, at, above, y);
      if (!Is(Mutation::kMaskedFirst) || M == 0 || !IsEmptyLogSumExp(x(n, 0))) continue;
      for (size_t j = 0; j < M; ++j) y(n, j) = Real(kNaN);
    }
  }
};

std::vector<Defect> SoftmaxFormulaDefects() {
  using Mutation = MutatedSoftmax::Mutation;
  return Joined<Defect>(
      {MutatedFormulas<MutatedSoftmax>({
           {"largest_not_subtracted",
            "the largest element is not subtracted: e^x overflows f32 beyond 88",
            Mutation::kNotSubtracted},
           {"largest_of_all_rows",
            "the largest element of all rows is subtracted: rows of small elements underflow",
            Mutation::kLargestOfAll, true},
           {"down_the_columns", "the softmax runs down the columns instead of along the rows",
            Mutation::kColumns, true},
           {"padded_lanes_count", "lanes beyond the end of the row count as zeros",
            Mutation::kPadded},
           {"one_more_zero", "1 is added to the sum, as for attention with a sink of 0",
            Mutation::kPlusOne},
           {"base_2", "2^x is computed without the factor log2(e)", Mutation::kBaseTwo},
           {"not_divided", "the exponentials are not divided by their sum", Mutation::kNotDivided},
           {"sum_in_f16", "the sum is stored in f16", Mutation::kSumInF16},
           {"exponentials_in_bf16", "each exponential is stored in bf16", Mutation::kTermsInBF16},
           {"lanes_not_added_up", "each of 16 lanes divides by its own sum", Mutation::kLaneSums},
           {"finite_mask",
            "masked elements are -1e4, which other elements can reach (ahrefs/ocannl#548)",
            Mutation::kFiniteMask},
           {"masked_as_zero", "-infinity is read as 0", Mutation::kMaskedAsZero},
           {"masked_first", "a running maximum of -infinity is subtracted from -infinity: NaN",
            Mutation::kMaskedFirst},
       }),
       {
           ChangedRecipe("all_in_bf16", "all is computed in bf16 for every dtype", "softmax=bf16"),
           ChangedRecipe("all_in_f16", "all is computed in f16 for every dtype", "softmax=f16"),
       }});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Softmax>() {
  return {
      .properties = {{"rows_sum_to_one", "each row sums to 1", CheckSoftmaxSum},
                     {"shift_invariant",
                      "a constant added to all elements of a row does not change y",
                      CheckSoftmaxShift},
                     ColumnsAlike(),
                     {"monotone", "a larger x gives no smaller y", CheckMonotone},
                     {"dominant", "an element far above the others has weight 1", CheckDominant},
                     {"equal_elements", "equal elements have weight 1/M each", CheckSoftmaxEqual},
                     {"masked", "masked elements have weight 0 and do not change the others",
                      CheckMasked}},
      .defects = SoftmaxFormulaDefects(),
      .plan = MakerOf<Softmax>()};
}

}  // namespace sextant::oracle
