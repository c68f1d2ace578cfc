#include "oracle/diagnosis/edit/plan_sample.h"

#include <algorithm>
#include <cmath>

#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

// The elements of several tensors, one after the other.
std::vector<double> Joined(const std::vector<Tensor<double>>& tensors) {
  std::vector<double> all;
  for (const Tensor<double>& tensor : tensors)
    all.insert(all.end(), tensor.data.begin(), tensor.data.end());
  return all;
}

std::vector<Tensor<double>> ValuesIn(const Tensors& tensors) {
  std::vector<Tensor<double>> values;
  for (const NamedTensor& tensor : tensors) values.push_back(tensor.values);
  return values;
}

}  // namespace

PlanSample::PlanSample(const Observation& seen, const PlanMaker& maker, const Witness& witness)
    : answer_(Joined(witness.answer)),
      units_(Joined(witness.units)),
      inputs_(ValuesIn(ExtractInputs(seen.c, seen.inputs, witness.slice))),
      plan_(PlanOfCase(maker, seen.c, ExtractInputs(seen.c, seen.inputs, witness.slice))),
      values_(plan_.EvaluateAll(inputs_)) {
  predicted_ = Joined(plan_.EvaluateAfter(values_));
}

std::vector<double> PlanSample::Predict(const PlanEdit& edit, double number) const {
  return Predict({{&edit, {number}}});
}

std::vector<double> PlanSample::Predict(const std::vector<ChosenEdit>& choices) const {
  Plan plan = plan_;
  for (const auto& [edit, value] : choices) edit->edit(plan, value.value);
  return Joined(plan.EvaluateAfter(values_));
}

void PlanSample::Assume(const ChosenEdit& choice) {
  choice.edit->edit(plan_, choice.value.value);
  plan_.ForgetEdits();
  values_ = plan_.EvaluateAll(inputs_);
  predicted_ = Joined(plan_.EvaluateAfter(values_));
}

double PlanSample::Apart(size_t i, double predicted) const {
  if (std::isnan(units_[i]) || SameNumber(answer_[i], predicted)) return 0;
  const double apart = std::abs(answer_[i] - predicted) / units_[i];
  return std::isnan(apart) ? kInfinity : apart;
}

double PlanSample::LargestDistance(const std::vector<double>& predicted) const {
  double largest = 0;
  for (size_t i = 0; i < size(); ++i) largest = std::max(largest, Apart(i, predicted[i]));
  return largest;
}

double PlanSample::Bits(const std::vector<double>& predicted) const {
  double bits = 0;
  for (size_t i = 0; i < size(); ++i)
    bits += std::min(kMostBits, std::log2(1 + Apart(i, predicted[i])));
  return bits;
}

double PlanSample::BitsButFactors(const std::vector<double>& predicted, size_t width) const {
  double bits = 0;
  std::vector<double> ratios;
  for (size_t first = 0; first < size(); first += width) {
    const size_t last = std::min(first + width, size());
    ratios.clear();
    for (size_t i = first; i < last; ++i)
      if (const double ratio = answer_[i] / predicted[i]; std::isfinite(ratio) && ratio != 0)
        ratios.push_back(ratio);
    const auto middle = ratios.begin() + static_cast<ptrdiff_t>(ratios.size() / 2);
    std::ranges::nth_element(ratios, middle);
    const double factor = ratios.empty() ? 1 : *middle;
    for (size_t i = first; i < last; ++i)
      bits += std::min(kMostBits, std::log2(1 + Apart(i, factor * predicted[i])));
    bits += std::log2(1 + static_cast<double>(width));  // the factor is a number that was chosen
  }
  return bits;
}

double PlanSample::PartOf(const std::vector<double>& predicted) const {
  double products = 0, squares = 0, wrong = 0;
  for (size_t i = 0; i < size(); ++i) {
    const double change = (predicted[i] - predicted_[i]) / units_[i];
    const double error = (answer_[i] - predicted_[i]) / units_[i];
    if (!std::isfinite(change) || !std::isfinite(error)) continue;
    products += change * error;
    squares += change * change;
    wrong += error * error;
  }
  const double part = squares > 0 && wrong > 0 ? products / squares * (products / wrong) : 0;
  return std::isfinite(part) ? part : 0;
}

std::vector<double> PlanSample::Residuals(const std::vector<double>& predicted) const {
  std::vector<double> residuals(size(), 0);
  for (size_t i = 0; i < size(); ++i)
    if (const double x = (answer_[i] - predicted[i]) / units_[i]; std::isfinite(x))
      residuals[i] = x;
  return residuals;
}

}  // namespace sextant::oracle
