#include "oracle/layer/measured/activation.h"

#include "oracle/layer/measured/function.h"
#include "oracle/layer/measured/model.h"
#include "reference/layer/activation.h"

namespace sextant::oracle {
namespace {

constexpr size_t kElements = 512;  // that are looked at

struct MeasuredActivation : Activation {
  Function function;
  template <class Real>
  void operator()(const Tensor<double>& x, Tensor<Real>& y) const {
    const ScopedStep at(Step::kActivation);
    for (size_t i = 0; i < x.data.size(); ++i)
      y.data[i] = ValueOf(function, x.data[i], Real(x.data[i]));
  }
};

std::vector<FunctionFit> FitsOf(const Observation& seen, ErrorBar bar) {
  const Samples samples(seen, 0, bar);
  if (!samples.IsAnswered()) return {};
  std::vector<Pair> pairs;
  std::vector<double> distances;
  for (const Sample& sample : samples.Chosen(kElements)) {
    pairs.push_back(PairOf(seen.inputs[0].values.data[sample.at], 1, sample, seen.recipe));
    distances.push_back(pairs.back().distance);
  }
  const auto& right = dynamic_cast<const TypedOperation<Activation>&>(seen.c.operation()).op();
  const Function function = FunctionOf(right.kind, right.beta);
  auto fits = FitFunctions(pairs, function);
  if (fits.empty()) fits = FitMoreFunctions(pairs, function);
  if (fits.empty()) fits = FitTables(pairs, function);
  EraseAccidents(fits, distances);
  return fits;
}

std::vector<Explanation> MeasureFunction(const Observation& seen) {
  std::vector<Explanation> explanations;
  for (const auto& [function, found] :
       SimplestFits([&](ErrorBar bar) { return FitsOf(seen, bar); })) {
    MeasuredActivation measured;
    measured.function = function;
    explanations.push_back({found.name, found.sentence, MeasuredModel(seen, measured)});
  }
  return explanations;
}

}  // namespace

std::vector<Measurement> ActivationMeasurements() { return {MeasureFunction}; }

}  // namespace sextant::oracle
