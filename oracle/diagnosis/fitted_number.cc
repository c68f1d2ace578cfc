#include "oracle/diagnosis/fitted_number.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/work.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

constexpr int kNewtonSteps = 12;
constexpr double kStep = 0x1p-7;      // relative; a secant is as good as a derivative
constexpr double kConverged = 0.125;  // of the error bar; roundings of the answer move it too

class NumberFit {
 public:
  NumberFit(const Observation& seen, const Hypothesis& base, const Deviation& deviation,
            Evaluations& evaluations)
      : seen_(seen),
        base_(base),
        deviation_(deviation),
        exact_(ParseRecipe("exact", seen.c.dtype())),
        evaluations_(evaluations) {}

  // A number near the answer: the best of the likely ones and of powers of two times the right one,
  // and then of sixteen numbers between its half and its double; else a step from the right number.
  // Empty if the number has no effect in this slice, NaN if none of these brings the model nearer
  // to the answer.
  std::optional<double> Start(const Witness& witness) {
    constexpr int kOctaves = 10, kParts = 8;
    std::vector<double> starts, finer;
    for (const NamedValue& value : deviation_.values) starts.push_back(value.value);
    for (int octave = -kOctaves; octave <= kOctaves; ++octave)
      starts.push_back(std::ldexp(deviation_.right, octave));
    const Nearest start = NearestOf(starts, witness);
    if (start.distance == start.largest) return std::nullopt;
    for (int part = -kParts; part <= kParts; ++part)
      finer.push_back(start.number * std::exp2(static_cast<double>(part) / kParts));
    const Nearest near = NearestOf(finer, witness);
    if (near.distance <= witness.distance / 2) return near.number;
    const double x = deviation_.right;
    const auto step = StepFrom(x, {&witness, 1});
    if (!step || !(std::abs(step->change) <= std::abs(x) / 2)) return kNaN;  // the grid has these
    const Nearest stepped = NearestOf({x + step->change}, witness);
    return stepped.distance <= witness.distance / 2 ? stepped.number : kNaN;
  }

  // The least squares of the residuals, by Newton steps from x on. Empty if they do not converge,
  // if the number does not change the answer, or if it leaves more than half of the distance.
  std::optional<MeasuredNumber> Measure(double x, std::span<const Witness> witnesses) {
    const double limit = DistanceOf(seen_, base_, witnesses, kInfinity) / 2;
    for (int step = 0; step < kNewtonSteps && !std::isnan(x); ++step) {
      if (evaluations_.AreSpent()) break;
      const auto made = StepFrom(x, witnesses);
      if (!made) return std::nullopt;
      x += made->change;
      if (std::abs(made->change) > made->bar * kConverged) continue;
      return made->distance <= limit ? std::optional(MeasuredNumber{x, made->bar}) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  struct Nearest {
    double number = kNaN, distance = kInfinity, largest = 0;  // the largest distance of all
  };
  Nearest NearestOf(const std::vector<double>& numbers, const Witness& witness) {
    Nearest nearest;
    for (const double number : numbers) {
      if (evaluations_.AreSpent()) break;
      const auto model = deviation_.changed(base_, number);
      if (!model) continue;
      evaluations_.count += CostOfInputs(base_, *model) + CostOf(seen_, witness);
      const double distance = DistanceOf(seen_, *model, witness);
      if (distance < nearest.distance) nearest.number = number, nearest.distance = distance;
      nearest.largest = std::max(nearest.largest, distance);
    }
    return nearest;
  }

  // The Newton step from x on to the least squares of the residuals; `distance` is that at x. Empty
  // if the number does not change the answer.
  struct Step {
    double change, bar = kInfinity, distance = 0;
  };
  std::optional<Step> StepFrom(double x, std::span<const Witness> witnesses) {
    const auto at = Residuals(x, witnesses);
    const auto beside = Residuals(x * (1 + kStep), witnesses);
    if (at.empty() || beside.size() != at.size()) return std::nullopt;
    Step step{};
    double products = 0, squares = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      const double slope = (beside[i] - at[i]) / (x * kStep);
      step.distance += std::abs(at[i]);
      if (!std::isfinite(slope)) continue;
      products += slope * at[i];
      squares += slope * slope;
      // |residual| <= 1 at the right number, to first order.
      step.bar = std::min(step.bar, (1 + std::abs(at[i])) / std::abs(slope));
    }
    if (!(squares > 0)) return std::nullopt;
    step.change = -products / squares;
    return step;
  }

  std::vector<double> Residuals(double value, std::span<const Witness> witnesses) {
    auto model = deviation_.changed(base_, value);
    std::vector<double> all;
    if (!model) return all;
    model->recipe = exact_;
    evaluations_.count += CostOfInputs(base_, *model);
    for (const Witness& witness : witnesses) {
      evaluations_.count += CostOf(seen_, witness);
      const auto residuals = ResidualsOf(seen_, *model, witness);
      all.insert(all.end(), residuals.begin(), residuals.end());
    }
    return all;
  }

  const Observation& seen_;
  const Hypothesis& base_;
  const Deviation& deviation_;
  const Recipe exact_;
  Evaluations& evaluations_;
};

}  // namespace

size_t MostEvaluations(const Observation& seen) {
  constexpr size_t kMostWhole = 2500, kMostProducts = size_t{1} << 25;
  if (!Halve(seen.c, {}))
    return std::min(kMostWhole, kMostProducts / std::max<size_t>(ProductsOf(seen.c), 1));
  // Eight questions about second deviations have the evaluations of one search. In a large case the
  // question is one, but each evaluation is of long sums, and the judgement is fast.
  constexpr size_t kPart = 8;
  return IsLarge(seen.c) || seen.how.is_second ? kMostEvaluations / kPart : kMostEvaluations;
}

size_t CostOfInputs(const Hypothesis& base, const Hypothesis& model) {
  return model.inputs.ElementsBeyond(base.inputs) / kElementsOfEvaluation;
}

size_t CostOf(const Observation& seen, const Witness& witness) {
  if (!Halve(seen.c, {})) return 1;  // MostEvaluations is of the whole case
  return 1 + WorkOf(seen.c, witness.slice) / kElementsOfEvaluation;
}

std::optional<MeasuredNumber> MeasureNumber(const Observation& seen, const Hypothesis& base,
                                            const Deviation& deviation,
                                            std::span<const Witness> witnesses,
                                            Evaluations& evaluations) {
  // The number may have no effect in the first slice: at position 0 no frequency has.
  NumberFit fit(seen, base, deviation, evaluations);
  for (size_t i = 0; i < witnesses.size(); ++i) {
    const auto start = fit.Start(witnesses[i]);
    if (!start) continue;
    const auto first = fit.Measure(*start, witnesses.subspan(i, 1));
    return first && witnesses.size() > 1 ? fit.Measure(first->value, witnesses) : first;
  }
  return std::nullopt;
}

NamedValue NamedNumber(const MeasuredNumber& measured) {
  return {ShortNumber(measured).value_or(measured.value), ShortestText(measured)};
}

}  // namespace sextant::oracle
