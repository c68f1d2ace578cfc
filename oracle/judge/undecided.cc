#include "oracle/judge/undecided.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "reference/base/parallel.h"
#include "reference/number/rounded.h"

namespace sextant::oracle {
namespace {

// An element's grade, and its error / permitted error, which lies between `least` and `most`.
struct Judged {
  Grade grade;
  double least, most;
  bool open = false;  // the grade is not decided
};

double Ratio(double error, double permitted) {
  return error == 0 ? 0 : permitted > 0 ? error / permitted : kInfinity;
}

// Judges element i, which is only enclosed.
Judged JudgeEnclosed(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i,
                     double got) {
  const double high = golden.high.data[i], low = golden.low.data[i], r = -golden.radius.data[i];
  const double error = ErrorOf(golden, i, got);
  // Two roundings in the difference, and those of the bounds themselves.
  const double slack = r * 0x1p-40 + error * 0x1p-50;
  const double reduced = error - r - slack;  // NaN if the answer is NaN, which always fails
  const double least = reduced < 0 ? 0 : reduced, most = error + r + slack;
  const double bound = permitted.error.data[i], likely = permitted.likely.data[i];
  // Of the bounds: see Enclose. Sampled bounds (likely.h) are a multiple of errors.
  const double reach = 2 * r + bound * 0x1p-40, of_likely = 64 * r + likely * 0x1p-40;
  const double around = r * (1 + 0x1p-40);
  const DoubleDouble below = DoubleDouble(high) + DoubleDouble(low) + -around,
                     above = DoubleDouble(high) + DoubleDouble(low) + around;
  const bool is_rounded = RoundTo(golden.dtype, below) == RoundTo(golden.dtype, above) &&
                          UlpOf(golden.dtype, below.high) == UlpOf(golden.dtype, above.high);
  const Grade worst = GradeOf(golden, i, got, most, bound - reach, likely - of_likely);
  const Grade best = GradeOf(golden, i, got, least, bound + reach, likely + of_likely);
  return {worst, Ratio(least, bound + reach), Ratio(most, bound - reach),
          !is_rounded || worst != best};
}

// Judges element i. Elements without a finite permitted error have a ratio of 0.
Judged JudgeElement(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i,
                    double got) {
  const double radius = golden.radius.data[i];
  if (radius < 0) return JudgeEnclosed(golden, permitted, i, got);
  const double bound = permitted.error.data[i] + radius, error = ErrorOf(golden, i, got);
  if (std::isnan(golden.high.data[i]) || std::isnan(radius) || std::isinf(bound))
    return {Grade::kExact, 0, 0};
  const Grade grade = GradeOf(golden, i, got, error, bound, permitted.likely.data[i] + radius);
  return {grade, Ratio(error, bound), Ratio(error, bound)};
}

// Marks what must be proven in one output.
class Marker {
 public:
  Marker(const GoldenTensor& golden, const PermittedTensor& permitted, const Tensor<double>& got,
         int threads)
      : golden_(golden), permitted_(permitted), got_(got), threads_(threads) {}

  // False if an element fails or is unlikely: then no marks are set.
  bool Mark(std::vector<char>& marks) {
    std::vector<double> worst(ranges_, -1);  // the largest lower bound of a ratio, per range
    std::atomic<bool> bad = false;
    ForEachRange([&](size_t range, size_t first, size_t last) {
      for (size_t i = first; i < last && !bad; ++i) {
        const Judged judged = JudgeElement(golden_, permitted_, i, got_.data[i]);
        marks[i] = judged.open;
        if (judged.open) continue;
        if (judged.grade >= Grade::kUnlikely) bad = true;
        worst[range] = std::max(worst[range], judged.least);
      }
    });
    if (bad) return false;
    const double largest = *std::ranges::max_element(worst);
    ForEachRange([&](size_t, size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        if (golden_.radius.data[i] < 0 && !marks[i])
          marks[i] = JudgeEnclosed(golden_, permitted_, i, got_.data[i]).most >= largest;
      }
    });
    return true;
  }

 private:
  template <class Work>
  void ForEachRange(Work work) const {
    const size_t count = got_.data.size();
    InParallel(ranges_, threads_, [&](size_t range) {
      work(range, count * range / ranges_, count * (range + 1) / ranges_);
    });
  }

  static constexpr size_t ranges_ = 16;
  const GoldenTensor& golden_;
  const PermittedTensor& permitted_;
  const Tensor<double>& got_;
  const int threads_;
};

bool IsOnlyEnclosed(const GoldenTensor& golden) {
  return std::ranges::any_of(golden.radius.data, [](double radius) { return radius < 0; });
}

}  // namespace

ElementMarks UndecidedIn(const ProvenAndPermitted& reference, const Tensors& outputs, int threads) {
  if (std::ranges::none_of(reference.golden, IsOnlyEnclosed)) return {};
  ElementMarks marks;
  bool bad = false;
  for (size_t o = 0; o < reference.golden.size(); ++o) {
    const GoldenTensor& golden = reference.golden[o];
    marks.emplace_back(golden.high.data.size());
    const auto at = std::ranges::find(outputs, golden.name, &NamedTensor::name);
    if (at == outputs.end()) continue;  // an optional output that was left out
    bad = bad || !Marker(golden, reference.permitted[o], at->values, threads).Mark(marks.back());
  }
  const auto has_mark = [](const std::vector<char>& of) { return std::ranges::count(of, 1) > 0; };
  if (bad) {
    for (std::vector<char>& of : marks) std::ranges::fill(of, 1);
  }
  return std::ranges::any_of(marks, has_mark) ? marks : ElementMarks();
}

}  // namespace sextant::oracle
