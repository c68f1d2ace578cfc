#include "oracle/judge/undecided.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "oracle/judge/ordinary_elements.h"
#include "reference/base/parallel.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {
namespace {

// The rank of an element lies between `least` and `most`.
struct Judged {
  Rank least, most;
  bool open = false;  // the grade is not decided
};

double Ratio(double error, double limit) {
  return error == 0 ? 0 : limit > 0 && !std::isnan(error) ? error / limit : kInfinity;
}

Rank RankOf(Grade grade, double error, double permitted, double likely) {
  return {std::max(grade, Grade::kWithin),
          Ratio(error, grade == Grade::kUnlikely ? likely : permitted)};
}

// Judges element i, which is only enclosed.
Judged JudgeEnclosed(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i,
                     double got) {
  const double high = golden.high.data[i], low = golden.low.data[i], r = -golden.radius.data[i];
  const double error = ErrorOf(golden, i, got);
  // Two roundings in the difference, those of the bounds themselves, and half a unit of a golden's
  // low (golden.h).
  const double slack = r * 0x1p-40 + error * 0x1p-50 + std::abs(high) * 0x1p-72;
  const double reduced = error - r - slack;  // NaN if the answer is NaN, which always fails
  const double least = reduced < 0 ? 0 : reduced, most = error + r + slack;
  const double bound = permitted.error.data[i], likely = permitted.likely.data[i];
  // Of the bounds: see Enclose. Sampled bounds (likely.h) are a multiple of errors.
  const double reach = 2 * r + bound * 0x1p-40, of_likely = 64 * r + likely * 0x1p-40;
  // Outside of every permitted error: neither an ulp nor a rounded value matters.
  if (least > bound + reach) {
    return {RankOf(Grade::kFails, least, bound + reach, likely + of_likely),
            RankOf(Grade::kFails, most, bound - reach, likely - of_likely)};
  }
  // The exact value lies between these, in spite of their roundings.
  const double around = (r + std::abs(low)) * (1 + 0x1p-40) + std::abs(high) * 0x1p-51;
  const double below = high - around, above = high + around;
  const bool is_rounded = RoundTo(golden.dtype, below) == RoundTo(golden.dtype, above) &&
                          UlpOf(golden.dtype, below) == UlpOf(golden.dtype, above);
  const Grade worst = GradeOf(golden, i, got, most <= bound - reach, most, likely - of_likely);
  const Grade best = GradeOf(golden, i, got, least <= bound + reach, least, likely + of_likely);
  return {RankOf(best, least, bound + reach, likely + of_likely),
          RankOf(worst, most, bound - reach, likely - of_likely), !is_rounded || worst != best};
}

// Judges element i, which is proven. Elements that have no value, or no finite permitted error, are
// ranked last.
Judged JudgeProven(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i,
                   double got) {
  const double radius = golden.radius.data[i], bound = permitted.error.data[i] + radius;
  if (std::isnan(golden.high.data[i]) || std::isnan(radius) || std::isinf(bound)) return {};
  const double error = ErrorOf(golden, i, got), likely = permitted.likely.data[i] + radius;
  const bool is_within = IsPermitted(golden, i, got, permitted.error.data[i]);
  const Rank rank = RankOf(GradeOf(golden, i, got, is_within, error, likely), error, bound, likely);
  return {rank, rank};
}

// Marks what must be proven in one output.
class Marker {
 public:
  Marker(const GoldenTensor& golden, const PermittedTensor& permitted, const Tensor<double>& got,
         int threads)
      : golden_(golden), permitted_(permitted), got_(got), threads_(threads) {}

  // Marks open grades.
  void Mark(std::vector<char>& marks, RankRange& ranks) const {
    for (size_t first = 0; first < got_.data.size(); first += kBlock) {
      ranks.Include(MarkOpen(first, std::min(kBlock, got_.data.size() - first), marks));
    }
  }
  // `worst`: see UndecidedIn.
  void Mark(std::vector<char>& marks, Rank& worst) {
    const size_t count = got_.data.size();
    std::vector<RankRange> blocks((count + kBlock - 1) / kBlock);
    InParallel(blocks.size(), threads_, [&](size_t block) {
      const size_t first = block * kBlock;
      blocks[block] = MarkOpen(first, std::min(kBlock, count - first), marks);
    });
    for (const RankRange& block : blocks) worst = std::max(worst, block.least);
    // Then other bounds decide what is unlikely, and which element is the worst (drift.h).
    const bool is_unlikely = worst.first == Grade::kUnlikely;
    InParallel(blocks.size(), threads_, [&](size_t block) {
      if (!is_unlikely && blocks[block].most < worst) return;
      const size_t first = block * kBlock;
      for (size_t i = first; i < std::min(count, first + kBlock); ++i) {
        if (golden_.radius.data[i] < 0 && !marks[i])
          marks[i] = is_unlikely || JudgeElement(i).most >= worst;
      }
    });
  }

 private:
  RankRange MarkOpen(size_t first, size_t count, std::vector<char>& marks) const {
    char left[kBlock];
    RankRange ranks;
    const OrdinaryRatios ratios = DecideOrdinary({golden_, permitted_, got_, first, count}, left);
    if (ratios.least >= 0) ranks.least = {Grade::kWithin, ratios.least};
    if (ratios.most >= 0) {
      ranks.most = {Grade::kWithin, ratios.most};
      ranks.top_at = first + ratios.most_at;
      ranks.top = NumbersOf(ranks.top_at);
    }
    if (ratios.next >= 0) ranks.next = {Grade::kWithin, ratios.next};
    for (size_t k = 0; k < count; ++k) {
      const void* const at = std::memchr(left + k, 1, count - k);
      if (!at) break;
      k = static_cast<size_t>(static_cast<const char*>(at) - left);
      const size_t i = first + k;
      const Judged judged = JudgeElement(i);
      marks[i] = judged.open;
      if (judged.open) continue;
      const bool enclosed = golden_.radius.data[i] < 0;
      ranks.Include({judged.least, enclosed ? judged.most : Rank(), NumbersOf(i), i, Rank()});
    }
    return ranks;
  }
  ElementNumbers NumbersOf(size_t i) const {
    return {got_.data[i],           golden_.high.data[i],     golden_.low.data[i],
            golden_.radius.data[i], permitted_.error.data[i], permitted_.likely.data[i]};
  }
  Judged JudgeElement(size_t i) const {
    const auto judge = golden_.radius.data[i] < 0 ? JudgeEnclosed : JudgeProven;
    return judge(golden_, permitted_, i, got_.data[i]);
  }
  static constexpr size_t kBlock = 512;
  const GoldenTensor& golden_;
  const PermittedTensor& permitted_;
  const Tensor<double>& got_;
  const int threads_;
};

bool IsOnlyEnclosed(const GoldenTensor& golden) {
  return std::ranges::any_of(golden.radius.data, [](double radius) { return radius < 0; });
}

}  // namespace

void RankRange::Include(const RankRange& of) {
  least = std::max(least, of.least);
  next = std::max(next, of.next);
  if (of.top != top) next = std::max(next, std::min(most, of.most));
  if (of.top == top) top_at = std::min(top_at, of.top_at);
  if (of.most > most) {
    most = of.most;
    top = of.top;
    top_at = of.top_at;
  }
}

ElementMarks OpenGradesIn(const ProvenAndPermitted& reference, const Tensors& outputs,
                          RankRange& ranks) {
  ElementMarks marks(1, std::vector<char>(outputs[0].values.data.size()));
  Marker(reference.golden[0], reference.permitted[0], outputs[0].values, 1).Mark(marks[0], ranks);
  return std::memchr(marks[0].data(), 1, marks[0].size()) ? marks : ElementMarks();
}

ElementMarks UndecidedIn(const ProvenAndPermitted& reference, const Tensors& outputs, int threads) {
  if (std::ranges::none_of(reference.golden, IsOnlyEnclosed)) return {};
  std::vector<Rank> worst(reference.golden.size());
  return UndecidedIn(reference, outputs, threads, worst);
}

ElementMarks UndecidedIn(const ProvenAndPermitted& reference, const Tensors& outputs, int threads,
                         std::vector<Rank>& worst) {
  ElementMarks marks;
  for (size_t o = 0; o < reference.golden.size(); ++o) {
    const GoldenTensor& golden = reference.golden[o];
    marks.emplace_back(golden.high.data.size());
    const auto at = std::ranges::find(outputs, golden.name, &NamedTensor::name);
    if (at == outputs.end()) continue;  // an optional output that was left out
    Marker(golden, reference.permitted[o], at->values, threads).Mark(marks.back(), worst[o]);
  }
  const auto has_mark = [](const std::vector<char>& of) { return std::ranges::count(of, 1) > 0; };
  return std::ranges::any_of(marks, has_mark) ? marks : ElementMarks();
}

}  // namespace sextant::oracle
