#include "oracle/tolerance/tolerance.h"

#include <algorithm>
#include <atomic>

#include "oracle/catalog/catalog.h"
#include "reference/base/error.h"
#include "reference/base/parallel.h"

namespace sextant::oracle {
namespace {

// The next number of two decimal digits that is not smaller.
double RoundedUp(double x) {
  if (x <= 0 || std::isinf(x)) return std::max(x, 0.0);
  const double unit = std::pow(10, std::floor(std::log10(x)) - 1);
  const double rounded = std::ceil(x / unit * (1 - 0x1p-50)) * unit;
  return rounded < x ? rounded + unit : rounded;
}

// An element that is compared.
struct Compared {
  size_t output, index;
  double expected, permitted, likely;
};

std::vector<Compared> ComparedIn(const Case& c, const ProvenAndPermitted& reference,
                                 size_t& left_out) {
  std::vector<Compared> all;
  for (size_t o = 0; o < reference.golden.size(); ++o) {
    if (c.info().signature.outputs[o].optional) continue;
    const GoldenTensor& golden = reference.golden[o];
    const PermittedTensor& permitted = reference.permitted[o];
    for (size_t i = 0; i < golden.high.data.size(); ++i) {
      // The radius of what is only enclosed may be part of an error, too.
      const double radius = std::abs(golden.radius.data[i]), expected = golden.high.data[i];
      const double most = permitted.error.data[i] + radius;
      const double likely = permitted.likely.data[i] + radius;
      if (std::isfinite(expected) && std::isfinite(most) && permitted.vacuous[i] == 0)
        all.push_back({o, i, expected, most, likely});
      else
        ++left_out;
    }
  }
  return all;
}

// Whether all errors are at most a bound; NaN is not.
bool AreWithin(const std::vector<Compared>& elements, const Tensors& answer, auto bound) {
  return std::ranges::all_of(elements, [&](const Compared& e) {
    return std::abs(answer[e.output].values.data[e.index] - e.expected) <= bound(e);
  });
}

// Adds the defects whose answers the permitted errors reject.
void TryBugs(const Evaluation& evaluation, const Tensors& inputs, const Tolerance& tolerance,
             const std::vector<Compared>& elements, int threads, ToleranceGrade& grade) {
  const Case& c = evaluation.c;
  const std::vector<Defect>& defects = CatalogEntryOf(c.name()).defects;
  std::vector<std::optional<ToleranceGrade::Bug>> bugs(defects.size());
  std::atomic<size_t> not_tried = 0;
  const Budget budget = CurrentBudget();
  InParallel(defects.size(), threads, [&](size_t d) {
    const Defect& defect = defects[d];
    const auto hypothesis = defect.hypothesis(c, inputs, evaluation.recipe);
    if (!hypothesis) return;
    if (grade.sample && (defect.is_across_slices || hypothesis->is_across_slices)) {
      ++not_tried;
      return;
    }
    const ScopedBudget within(budget);  // of this thread
    const Tensors answer =
        EvaluateByRecipe({c, hypothesis->inputs, hypothesis->recipe, *hypothesis->operation});
    if (AreWithin(elements, answer, [](const Compared& e) { return e.permitted; })) return;
    const auto passes = [&](const Tolerance& t) {
      return AreWithin(elements, answer, [&](const Compared& e) { return t.At(e.expected); });
    };
    bugs[d] = {defect.name, defect.why, passes(tolerance), passes(grade.smallest)};
  });
  grade.not_tried = not_tried;
  for (auto& bug : bugs)
    if (bug) grade.bugs.push_back(std::move(*bug));
}

}  // namespace

Tolerance SmallestTolerance(std::vector<MagnitudeAndError> points) {
  if (points.empty()) return {};
  double mean = 0, most = 0;
  for (const auto& [magnitude, error] : points) {
    mean += magnitude / static_cast<double>(points.size());
    most = std::max(most, error);
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
  if (hull.size() == 1) return {most, 0};
  const auto& [x1, y1] = hull[right - 1];
  const auto& [x2, y2] = hull[right];
  const double slope = (y2 - y1) / (x2 - x1);
  if (slope <= 0) return {most, 0};
  return {std::max(0.0, y1 - slope * x1), slope};
}

ToleranceGrade GradeTolerance(const Case& c, const Tensors& inputs, const Recipe& recipe,
                              const Tolerance& tolerance, const ProveOptions& options) {
  if (c.info().HasChoices())
    throw Error(c.name(), " chooses codes or indices, which are right or wrong: no tolerance ",
                "applies to them");
  const Evaluation evaluation{c, inputs, recipe};
  const ProvenAndPermitted reference = Enclose(evaluation, options);
  ToleranceGrade grade;
  grade.sample = SampleIn(c);
  const std::vector<Compared> elements = ComparedIn(c, reference, grade.left_out);
  grade.elements = elements.size();
  std::vector<MagnitudeAndError> points;
  double worst = -INFINITY;
  for (const Compared& e : elements) {
    points.emplace_back(std::abs(e.expected), e.permitted);
    const double allowed = tolerance.At(e.expected), beyond = e.permitted - allowed;
    grade.may_reject += e.permitted > allowed;
    grade.likely_reject += e.likely > allowed;
    grade.needed_atol = std::max(grade.needed_atol, tolerance.atol + beyond);
    if (beyond <= worst) continue;
    worst = beyond;
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
