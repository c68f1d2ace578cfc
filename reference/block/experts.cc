#include "reference/block/experts.h"

#include <algorithm>
#include <vector>

#include "reference/base/error.h"
#include "reference/case/intermediate.h"
#include "reference/case/operation.h"
#include "reference/layer/feed_forward.h"
#include "reference/number/matrix_product.h"
#include "reference/number/real.h"

namespace sextant {

size_t ExpertAt(const Tensor<double>& indices, size_t slot, size_t E) {
  const double e = indices.data[slot];
  if (e >= 0 && e < static_cast<double>(E)) return static_cast<size_t>(e);
  const size_t K = indices.shape[1];
  throw Error("experts: indices[", slot / K, ",", slot % K, "] is ", e,
              ", expected 0 to E-1: E is ", E);
}

namespace {

// The slots of each expert: the flat indices of [N,K] at which it stands.
std::vector<std::vector<size_t>> SlotsOf(const Tensor<double>& indices, size_t E) {
  std::vector<std::vector<size_t>> slots(E);
  for (size_t i = 0; i < indices.data.size(); ++i) slots[ExpertAt(indices, i, E)].push_back(i);
  return slots;
}

// The rows of some slots, of slot i / of_row.
template <class Real>
Tensor<Real> RowsOf(const Tensor<Real>& x, size_t width, const std::vector<size_t>& slots,
                    size_t slots_of_row) {
  Tensor<Real> rows({slots.size(), width});
  for (size_t i = 0; i < slots.size(); ++i)
    std::copy_n(x.data.begin() + static_cast<ptrdiff_t>(slots[i] / slots_of_row * width), width,
                rows.data.begin() + static_cast<ptrdiff_t>(i * width));
  return rows;
}

template <class Real>
void SetRows(const Tensor<Real>& rows, size_t width, const std::vector<size_t>& slots,
             Tensor<Real>& to) {
  for (size_t i = 0; i < slots.size(); ++i)
    std::copy_n(rows.data.begin() + static_cast<ptrdiff_t>(i * width), width,
                to.data.begin() + static_cast<ptrdiff_t>(slots[i] * width));
}

}  // namespace

template <class Real>
void Experts::operator()(const Tensor<Real>& x, const Tensor<double>& indices,
                         const Tensor<Real>& weights, const Weights<Real>& gate,
                         const Weights<Real>& up, const Weights<Real>& down, Tensor<Real>& y,
                         Tensor<Real>& hidden) const {
  const size_t N = x.shape[0], M = x.shape[1], K = indices.shape[1], F = gate.shape[1];
  const auto slots = SlotsOf(indices, gate.shape[0]);
  for (size_t e = 0; e < slots.size(); ++e) {
    if (slots[e].empty()) continue;
    Tensor<Real> rows = RowsOf(x, M, slots[e], K);
    if (weigh == Weighs::kInput) {
      {
        const ScopedStep at(Step::kWeigh);
        for (size_t i = 0; i < rows.data.size(); ++i)
          rows.data[i] = rows.data[i] * weights.data[slots[e][i / M]];
      }
      rows = Stored(std::move(rows));
    }
    Tensor<Real> gates({slots[e].size(), F}), ups(gates.shape), of_expert(gates.shape);
    MultiplyByWeights(rows, gate.Part(e), gates);
    MultiplyByWeights(rows, up.Part(e), ups);
    ApplyGate(Gated{.kind = kind}, Stored(std::move(gates)), Stored(std::move(ups)), of_expert);
    SetRows(of_expert, F, slots[e], hidden);
  }
  const Tensor<Real> last_input = Intermediate(hidden);
  Tensor<Real> terms({N * K, M});
  for (size_t e = 0; e < slots.size(); ++e) {
    if (slots[e].empty()) continue;
    Tensor<Real> of_expert({slots[e].size(), M});
    MultiplyByWeights(RowsOf(last_input, F, slots[e], 1), down.Part(e), of_expert);
    SetRows(Stored(std::move(of_expert)), M, slots[e], terms);
  }
  if (weigh == Weighs::kOutput) {
    const ScopedStep at(Step::kWeigh);
    for (size_t i = 0; i < terms.data.size(); ++i)
      terms.data[i] = terms.data[i] * weights.data[i / M];
  }
  const ScopedStep at(Step::kKeep);
  for (size_t n = 0; n < N; ++n) {
    for (size_t m = 0; m < M; ++m) {
      std::vector<Real> of_token;
      for (size_t k = 0; k < K; ++k) of_token.push_back(terms(n * K + k, m));
      y(n, m) = SumOf(of_token);
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<Experts>() {
  return Wrap<Experts>();
}

}  // namespace sextant
