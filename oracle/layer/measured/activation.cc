#include "oracle/layer/measured/activation.h"

#include "oracle/layer/measured/altered_function.h"
#include "oracle/layer/measured/function.h"
#include "oracle/layer/measured/function_numbers.h"
#include "oracle/layer/measured/model.h"
#include "oracle/layer/measured/unknown_function.h"
#include "reference/layer/activation.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

constexpr size_t kActivationElements = 512;  // that are looked at

struct MeasuredActivation : Activation {
  Function function;
  template <class Real>
  void operator()(const Tensor<double>& x, Tensor<Real>& y) const {
    const ScopedStep at(Step::kActivation);
    for (size_t i = 0; i < x.data.size(); ++i)
      y.data[i] = ValueOf(function, x.data[i], Real(x.data[i]));
  }
};

Function RightFunction(const Observation& seen) {
  const auto& right = dynamic_cast<const TypedOperation<Activation>&>(seen.c.operation()).op();
  return FunctionOf(right.kind, right.beta);
}

std::vector<Pair> PairsOf(const Observation& seen, const Samples& samples) {
  std::vector<Pair> pairs;
  for (const Sample& sample : samples.Chosen(kActivationElements))
    pairs.push_back(PairOf(seen.inputs[0].values.data[sample.at], 1, sample, seen.recipe));
  return pairs;
}

std::vector<FunctionFit> ActivationFitsOf(const Observation& seen, ErrorBar bar) {
  const Samples samples(seen, 0, bar);
  if (!samples.IsAnswered()) return {};
  const std::vector<Pair> pairs = PairsOf(seen, samples);
  std::vector<double> distances;
  for (const Pair& pair : pairs) distances.push_back(pair.distance);
  const Function function = RightFunction(seen);
  auto fits = FitFunctions(pairs, function);
  if (fits.empty()) fits = FitMoreFunctions(pairs, function);
  if (fits.empty()) fits = FitAlterations(pairs, function);
  if (fits.empty()) {
    for (const auto& [fitted, added, found] : FitNumbers(pairs, function)) {
      fits.push_back({fitted, found});
      fits.back().function.b = added;
    }
  }
  if (fits.empty()) fits = FitTables(pairs, function);
  EraseAccidents(fits, distances);
  return fits;
}

std::vector<Explanation> MeasureFunction(const Observation& seen) {
  std::vector<Explanation> explanations;
  for (const auto& [function, found] :
       SimplestFits([&](ErrorBar bar) { return ActivationFitsOf(seen, bar); })) {
    MeasuredActivation measured;
    measured.function = function;
    explanations.push_back({found.name, found.sentence, MeasuredModel(seen, measured)});
  }
  const Samples samples(seen, 0, ErrorBar::kPermitted);
  if (!explanations.empty() || !samples.IsAnswered()) return explanations;
  const auto unknown = UnknownFunctionText(PairsOf(seen, samples), RightFunction(seen));
  if (unknown)
    return {{"unknown_function", *unknown, {nullptr, SharedInputs::Of(seen.inputs), seen.recipe}}};
  return {};
}

// The largest errors of the sigmoid in the failing elements, beyond the rounding of y: itself, and
// relative to the sigmoid. Infinite if an element is not finite.
struct SigmoidErrors {
  double absolute = 0, relative = 0;
};
SigmoidErrors ErrorsOfSigmoid(const Observation& seen, bool is_swish) {
  const Samples samples(seen, 0, ErrorBar::kPermitted);
  const std::vector<double>& x = seen.inputs[0].values.data;
  SigmoidErrors largest;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(seen.golden[0].high.data[i]) && !samples.Has(i))
      return {kInfinity, kInfinity};
    if (!samples.Has(i)) continue;
    const Sample sample = samples.At(i);
    if (!sample.Fails()) continue;
    const double beyond = std::abs(sample.y - sample.right) - UlpOf(seen.c.dtype(), sample.right);
    largest.absolute = std::max(largest.absolute, is_swish ? beyond / std::abs(x[i]) : beyond);
    largest.relative = std::max(largest.relative, beyond / std::abs(sample.right));
  }
  return largest;
}

// An error of few ulps of 1, in the format in which the dtype is computed, that is too large for
// small values alone: approximations by quotients of polynomials are accurate in this way. There is
// no model: it says what all elements show.
std::vector<Explanation> MeasureAbsoluteError(const Observation& seen) {
  const auto& right = dynamic_cast<const TypedOperation<Activation>&>(seen.c.operation()).op();
  const bool is_swish = right.kind == ActivationKind::kSwish;
  if (!is_swish && right.kind != ActivationKind::kSigmoid) return {};
  if (!Samples(seen, 0, ErrorBar::kPermitted).IsAnswered()) return {};
  // A sum with 1/2 has few roundings. Small values lose at least three bits.
  constexpr double kMostUlps = 8, kLost = 8;
  const DType format = seen.c.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto [error, relative] = ErrorsOfSigmoid(seen, is_swish);
  const double ulps = error / (2 * UnitRoundoffOf(format));
  if (!(ulps > 0 && ulps <= kMostUlps && relative > kLost * error)) return {};
  return {{"sigmoid_absolute",
           "the sigmoid is right to " + TwoDigits(error) + ", " + TwoDigits(ulps) +
               " ulps of 1 in " + std::string(NameOf(format)) +
               ", but small values of it are not right to their own digits: so is a sum with 1/2 "
               "or a difference from 1",
           {nullptr, SharedInputs::Of(seen.inputs), seen.recipe}}};
}

}  // namespace

std::vector<Measurement> ActivationMeasurements() {
  return {MeasureFunction, MeasureAbsoluteError};
}

}  // namespace sextant::oracle
