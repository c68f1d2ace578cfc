// A part of an answer, with the stages of a plan there: what edits predict is compared with it.
#pragma once

#include <vector>

#include "oracle/defect/planned_operation.h"
#include "oracle/diagnosis/edit/plan_edits.h"
#include "oracle/diagnosis/witnesses.h"

namespace sextant::oracle {

// An edit with its number.
struct ChosenEdit {
  const PlanEdit* edit;
  NamedValue value;
};

class PlanSample {
 public:
  PlanSample(const Observation& seen, const PlanMaker& maker, const Witness& witness);

  size_t size() const { return answer_.size(); }
  // What the plan predicts, with one edit more; and without.
  std::vector<double> Predict(const PlanEdit& edit, double number) const;
  std::vector<double> Predict(const std::vector<ChosenEdit>& choices) const;
  const std::vector<double>& Predicted() const { return predicted_; }
  // The plan with the edit, from now on.
  void Assume(const ChosenEdit& choice);
  const Tensor<double>& ValuesOf(Stage stage) const { return values_[stage]; }

  // Of an element, in units of its permitted error; infinite if only one of both is finite.
  double Apart(size_t i, double predicted) const;
  double LargestDistance(const std::vector<double>& predicted) const;
  // The sum of log2(1 + distance), at most kMostBits of each element.
  static constexpr double kMostBits = 16;
  double Bits(const std::vector<double>& predicted) const;
  // The same if each row of the prediction had the factor that brings it nearest: what is left to
  // explain is a factor then.
  double BitsButFactors(const std::vector<double>& predicted, size_t width) const;
  // Of what is wrong, the part, 0 to 1, that has the direction of what the prediction changes. Two
  // edits change about the sum of what each does.
  double PartOf(const std::vector<double>& predicted) const;
  // (answer - predicted) / unit; 0 where one of them is not finite.
  std::vector<double> Residuals(const std::vector<double>& predicted) const;
  const std::vector<double>& answer() const { return answer_; }
  const std::vector<double>& units() const { return units_; }

 private:
  std::vector<double> answer_, units_, predicted_;
  std::vector<Tensor<double>> inputs_;
  Plan plan_;
  Plan::Values values_;
};

}  // namespace sextant::oracle
