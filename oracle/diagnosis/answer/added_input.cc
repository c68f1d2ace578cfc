#include "oracle/diagnosis/answer/added_input.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/fitted_number.h"
#include "oracle/diagnosis/measured_number.h"

namespace sextant::oracle {
namespace {

// The sum rounds once more than the right number.
double PermittedErrorAt(const AnsweredTensor& tensor, size_t i) {
  return tensor.bounds[i] + UlpOf(tensor.dtype, tensor.got[i]);
}

// The factors k of got = right + k x that every judged element allows.
Range FactorsOf(const AnsweredTensor& tensor, const std::vector<double>& x) {
  Range factors;
  for (size_t i = 0; i < x.size() && !factors.IsEmpty(); ++i) {
    if (tensor.bounds.LeavesOut(i) || !std::isfinite(tensor.bounds[i])) continue;
    const double more = tensor.got[i] - tensor.right[i];
    if (!std::isfinite(more) || !std::isfinite(x[i])) return {1, 0};
    factors.Intersect(Quotient(more, PermittedErrorAt(tensor, i), x[i]));
  }
  return factors;
}

AddedInput Named(const std::string& input, const std::string& output, const Range& factors) {
  if (factors.Contains(1)) return {input + "_added", input + " is added to " + output};
  if (factors.Contains(-1)) return {input + "_subtracted", input + " is subtracted from " + output};
  return {input + "_added",
          ShortestText(MiddleOf(factors)) + " times " + input + " is added to " + output};
}

}  // namespace

std::optional<AddedInput> FindAddedInput(const AnsweredTensor& tensor, const Tensors& inputs) {
  for (const NamedTensor& input : inputs) {
    const std::vector<double>& x = input.values.data;
    if (input.dtype == DType::kI64 || input.values.shape != tensor.shape || x.empty()) continue;
    const Range factors = FactorsOf(tensor, x);
    if (factors.IsEmpty() || !factors.IsBounded() || factors.Contains(0)) continue;
    if (std::abs(factors.Middle()) <= kSharedRoundings) continue;
    // An element tells a bit if what is added is at least twice what it may be off.
    const auto tells = [&](size_t i) {
      return std::abs(factors.Middle() * x[i]) >= 2 * PermittedErrorAt(tensor, i);
    };
    const auto telling = static_cast<size_t>(std::ranges::count_if(tensor.failing, tells));
    if (IsEvidence(telling, inputs.size())) return Named(input.name, tensor.name, factors);
  }
  return std::nullopt;
}

}  // namespace sextant::oracle
