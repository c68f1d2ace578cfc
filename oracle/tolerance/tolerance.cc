#include "oracle/tolerance/tolerance.h"

#include <algorithm>
#include <atomic>

#include "oracle/catalog/catalog.h"
#include "oracle/diagnosis/work.h"
#include "oracle/judge/is_within.h"
#include "reference/base/error.h"
#include "reference/base/parallel.h"

namespace sextant::oracle {
namespace {

// The next number of two decimal digits that is not smaller.
double RoundedUp(double x) {
  constexpr double kLeast = 1e-300;  // below, the unit would be no number any more
  if (x <= 0 || std::isinf(x)) return std::max(x, 0.0);
  if (x < kLeast) return kLeast;
  const double unit = std::pow(10, std::floor(std::log10(x)) - 1);
  const double rounded = std::ceil(x / unit * (1 - 0x1p-50)) * unit;
  return rounded < x ? rounded + unit : rounded;
}

// An element that is compared.
struct Compared {
  size_t output, index;
  double expected, permitted, likely;  // by how much a right answer may be off `expected`
  double high, low, from_exact;        // the exact value, and what is permitted from there
};

std::vector<Compared> ComparedIn(const Case& c, const ProvenAndPermitted& reference,
                                 ToleranceGrade& grade) {
  std::vector<Compared> all;
  for (size_t o = 0; o < reference.golden.size(); ++o) {
    if (c.info().signature.outputs[o].optional) continue;
    const GoldenTensor& golden = reference.golden[o];
    const PermittedTensor& permitted = reference.permitted[o];
    for (size_t i = 0; i < golden.high.data.size(); ++i) {
      if (std::isnan(golden.radius.data[i])) continue;  // beyond the budget
      // The radius of what is only enclosed may be part of an error, too.
      const double radius = std::abs(golden.radius.data[i]), high = golden.high.data[i];
      const double expected = golden.value.data[i], most = permitted.error.data[i] + radius;
      const double rounding = std::abs((high - expected) + golden.low.data[i]);
      if (!std::isfinite(expected))
        ++grade.unspecified;
      else if (!std::isfinite(most) || permitted.vacuous[i] != 0)
        ++grade.unjudgeable;
      else
        all.push_back({o, i, expected, most + rounding,
                       permitted.likely.data[i] + radius + rounding, high, golden.low.data[i],
                       most});
    }
  }
  return all;
}

// Whether a condition holds for each element and its answer.
bool ForAll(const std::vector<Compared>& elements, const Tensors& answer, auto condition) {
  return std::ranges::all_of(elements, [&](const Compared& e) {
    return condition(e, answer[e.output].values.data[e.index]);
  });
}

// Of a case with more work the bugs that show only in the whole answer are not tried: each takes
// a part of a second.
constexpr size_t kMostWholeWork = size_t{1} << 22;

// Empty if the answer has no larger errors than roundings explain.
std::optional<ToleranceGrade::Bug> BugOf(const std::string& name, const std::string& why,
                                         const Tensors& answer,
                                         const std::vector<Compared>& elements,
                                         const Tolerance& tolerance, const Tolerance& smallest) {
  const auto is_near = [](const Compared& e, double got) {  // false for NaN
    return IsWithin(got, e.high, e.low, 2 * e.from_exact, 0);
  };
  if (ForAll(elements, answer, is_near)) return std::nullopt;
  const auto passes = [&](const Tolerance& t) {
    return ForAll(elements, answer, [&](const Compared& e, double got) {
      return std::abs(got - e.expected) <= t.At(e.expected);
    });
  };
  return ToleranceGrade::Bug{name, why, passes(tolerance), passes(smallest)};
}

// The answer of a kernel that does nothing.
Tensors Zeros(const Case& c) {
  Tensors zeros;
  for (const TensorSpec& output : c.info().signature.outputs)
    zeros.push_back({output.name, c.DTypeOf(output), Tensor<double>(c.ShapeOf(output))});
  return zeros;
}

// Adds the defects whose answers have larger errors than roundings explain.
void TryBugs(const Evaluation& evaluation, const Tensors& inputs, const Tolerance& tolerance,
             const std::vector<Compared>& elements, int threads, ToleranceGrade& grade) {
  const Case& c = evaluation.c;
  const std::vector<Defect>& defects = CatalogEntryOf(c.name()).defects;
  const bool whole_is_tried = WorkOf(c) <= kMostWholeWork;
  std::vector<std::optional<ToleranceGrade::Bug>> bugs(defects.size() + 1);
  std::atomic<size_t> not_tried = 0;
  const Budget budget = CurrentBudget();
  InParallel(defects.size(), threads, [&](size_t d) {
    const Defect& defect = defects[d];
    const auto hypothesis = defect.hypothesis(c, inputs, evaluation.recipe);
    if (!hypothesis) return;
    const bool is_whole = defect.is_across_slices || hypothesis->is_across_slices;
    if (grade.sample && is_whole && !whole_is_tried) {
      ++not_tried;
      return;
    }
    const ScopedBudget within(is_whole ? Budget() : budget);  // of this thread
    bugs[d] =
        BugOf(defect.name, defect.why,
              EvaluateByRecipe({c, hypothesis->inputs, hypothesis->recipe, *hypothesis->operation}),
              elements, tolerance, grade.smallest);
  });
  bugs.back() = BugOf("zeros", "nothing is computed: the output is zeros", Zeros(c), elements,
                      tolerance, grade.smallest);
  grade.not_tried = not_tried;
  for (auto& bug : bugs)
    if (bug) grade.bugs.push_back(std::move(*bug));
}

}  // namespace

Tolerance SmallestTolerance(std::vector<MagnitudeAndError> points) {
  double most = 0, largest = 0;
  for (const auto& [magnitude, error] : points) {
    most = std::max(most, error);
    largest = std::max(largest, magnitude);
  }
  if (most == 0 || largest == 0) return {most, 0};
  // In units of the largest ones, so that no product is too small or too large for a double.
  double mean = 0;
  for (auto& [magnitude, error] : points) {
    magnitude /= largest;
    error /= most;
    mean += magnitude / static_cast<double>(points.size());
  }
  // A tolerance is a line above all points, which neither falls nor begins below 0. The least one
  // at the mean lies on the upper convex hull of the points and of (0, 0).
  points.emplace_back(0, 0);
  std::ranges::sort(points);
  std::vector<MagnitudeAndError> hull;
  for (const MagnitudeAndError& p : points) {
    const auto is_below = [&] {  // the last corner, the line from the one before it to p
      const auto& [x1, y1] = hull[hull.size() - 2];
      const auto& [x2, y2] = hull.back();
      return (y2 - y1) * (p.first - x1) <= (p.second - y1) * (x2 - x1);
    };
    if (!hull.empty() && hull.back().first == p.first) hull.pop_back();  // p is not lower
    while (hull.size() >= 2 && is_below()) hull.pop_back();
    hull.push_back(p);
  }
  size_t right = 1;
  while (right + 1 < hull.size() && hull[right].first < mean) ++right;
  const auto& [x1, y1] = hull[right - 1];
  const auto& [x2, y2] = hull[right];
  const double slope = (y2 - y1) / (x2 - x1);
  if (slope <= 0) return {most, 0};
  return {std::max(0.0, y1 - slope * x1) * most, slope * (most / largest)};
}

std::string WhyNoTolerance(const Case& c) {
  return std::string(c.name()) +
         " chooses codes or indices, which are right or wrong: no tolerance applies to them";
}

ToleranceGrade GradeTolerance(const Case& c, const Tensors& inputs, const Recipe& recipe,
                              const Tolerance& tolerance, const ProveOptions& options) {
  if (c.info().HasChoices()) throw Error(WhyNoTolerance(c));
  const Evaluation evaluation{c, inputs, recipe};
  const ProvenAndPermitted reference = Enclose(evaluation, options);
  ToleranceGrade grade;
  grade.sample = SampleIn(c);
  const std::vector<Compared> elements = ComparedIn(c, reference, grade);
  grade.elements = elements.size();
  std::vector<MagnitudeAndError> points;
  double worst = -1;
  for (const Compared& e : elements) {
    points.emplace_back(std::abs(e.expected), e.permitted);
    const double allowed = tolerance.At(e.expected);
    grade.may_reject += e.permitted > allowed;
    grade.likely_reject += e.likely > allowed;
    grade.has_likely = grade.has_likely || e.likely < e.permitted;
    grade.needed_atol =
        std::max(grade.needed_atol, e.permitted - tolerance.rtol * std::abs(e.expected));
    const double factor = e.permitted == 0 ? 0 : e.permitted / allowed;
    if (factor <= worst) continue;
    worst = factor;
    const TensorSpec& spec = c.info().signature.outputs[e.output];
    grade.worst = {IndexText(spec.name, c.ShapeOf(spec), e.index), e.expected, e.permitted};
  }
  grade.needed_atol = RoundedUp(grade.needed_atol);
  const Tolerance exact = SmallestTolerance(std::move(points));
  grade.smallest = {RoundedUp(exact.atol), RoundedUp(exact.rtol)};
  TryBugs(evaluation, inputs, tolerance, elements, options.threads, grade);
  return grade;
}

}  // namespace sextant::oracle
