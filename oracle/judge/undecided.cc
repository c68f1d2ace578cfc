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
  bool undecided = false;  // the grade
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
  if (IsUnspecified(golden, i) || std::isnan(radius) || std::isinf(bound)) return {};
  const double error = ErrorOf(golden, i, got), likely = permitted.likely.data[i] + radius;
  const bool is_within = IsPermitted(golden, permitted, i, got);
  const Rank rank = RankOf(GradeOf(golden, i, got, is_within, error, likely), error, bound, likely);
  return {rank, rank};
}

}  // namespace

// Judges one output, in blocks.
class EnclosedJudge {
 public:
  EnclosedJudge(const GoldenTensor& golden, const PermittedTensor& permitted,
                const Tensor<double>& got)
      : golden_(golden), permitted_(permitted), got_(got) {}

  size_t blocks() const { return (got_.data.size() + kBlock - 1) / kBlock; }
  std::pair<size_t, size_t> ElementsOf(size_t block) const {  // the first, and the end
    return {block * kBlock, std::min(got_.data.size(), (block + 1) * kBlock)};
  }
  // Marks the elements of a block whose grade is undecided.
  RankRange MarkUndecided(size_t block, std::vector<char>& marks) const {
    const auto [first, end] = ElementsOf(block);
    const size_t count = end - first;
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
    if (ratios.failing_most >= 0) {
      const size_t at = first + ratios.failing_most_at;
      ranks.Include({{Grade::kFails, ratios.failing_least},
                     {Grade::kFails, ratios.failing_most},
                     NumbersOf(at),
                     at,
                     Rank()});
    }
    for (size_t k = 0; k < count; ++k) {
      const void* const at = std::memchr(left + k, 1, count - k);
      if (!at) break;
      k = static_cast<size_t>(static_cast<const char*>(at) - left);
      const size_t i = first + k;
      const Judged judged = JudgeElement(i);
      marks[i] = judged.undecided;
      if (judged.undecided) continue;
      const bool enclosed = golden_.radius.data[i] < 0;
      ranks.Include({judged.least, enclosed ? judged.most : Rank(), NumbersOf(i), i, Rank()});
    }
    return ranks;
  }
  Judged JudgeElement(size_t i) const {
    const auto judge = golden_.radius.data[i] < 0 ? JudgeEnclosed : JudgeProven;
    return judge(golden_, permitted_, i, got_.data[i]);
  }
  bool IsEnclosed(size_t i) const { return golden_.radius.data[i] < 0; }

 private:
  ElementNumbers NumbersOf(size_t i) const {
    return {got_.data[i],           golden_.high.data[i],     golden_.low.data[i],
            golden_.radius.data[i], permitted_.error.data[i], permitted_.likely.data[i]};
  }
  static constexpr size_t kBlock = 512;
  const GoldenTensor& golden_;
  const PermittedTensor& permitted_;
  const Tensor<double>& got_;
};

namespace {

bool IsOnlyEnclosed(const GoldenTensor& golden) {
  return std::ranges::any_of(golden.radius.data, [](double radius) { return radius < 0; });
}

bool HasMark(const std::vector<char>& marks, size_t first, size_t end) {
  return first < end && std::memchr(marks.data() + first, 1, end - first) != nullptr;
}

}  // namespace

// Marks what must be proven in one output.
class Undecided::Marker {
 public:
  Marker(const GoldenTensor& golden, const PermittedTensor& permitted, const Tensor<double>& got,
         int threads)
      : judge_(golden, permitted, got),
        threads_(threads),
        marks_(got.data.size()),
        blocks_(judge_.blocks()) {}

  // `elsewhere`: a lower bound of the worst rank of other elements.
  std::vector<char> Next(const Rank& elsewhere, Rank& worst) {
    std::vector<char> marks(marks_.size());
    InParallel(blocks_.size(), threads_, [&](size_t block) {
      const auto [first, end] = judge_.ElementsOf(block);
      const bool is_known = has_ranks_ && !HasMark(marks_, first, end);
      if (!is_known) blocks_[block] = judge_.MarkUndecided(block, marks);
    });
    has_ranks_ = true;
    worst = elsewhere;
    for (const RankRange& block : blocks_) worst = std::max(worst, block.least);
    // Then other bounds decide what is unlikely, and which element is the worst
    // (systematic_error.h).
    const bool is_unlikely = worst.first == Grade::kUnlikely;
    InParallel(blocks_.size(), threads_, [&](size_t block) {
      if (!is_unlikely && blocks_[block].most < worst) return;
      const auto [first, end] = judge_.ElementsOf(block);
      for (size_t i = first; i < end; ++i) {
        if (judge_.IsEnclosed(i) && !marks[i])
          marks[i] = is_unlikely || judge_.JudgeElement(i).most >= worst;
      }
    });
    return marks_ = std::move(marks);
  }

 private:
  const EnclosedJudge judge_;
  const int threads_;
  std::vector<char> marks_;  // of the call before
  std::vector<RankRange> blocks_;
  bool has_ranks_ = false;  // of each block
};

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

std::vector<char> UndecidedGradesIn(const GoldenTensor& golden, const PermittedTensor& permitted,
                                    const Tensor<double>& got, RankRange& ranks) {
  std::vector<char> marks(got.data.size());
  const EnclosedJudge judge(golden, permitted, got);
  for (size_t block = 0; block < judge.blocks(); ++block)
    ranks.Include(judge.MarkUndecided(block, marks));
  return marks;
}

Undecided::Undecided(const ProvenAndPermitted& reference, const Tensors& outputs, int threads,
                     std::vector<Rank> worst)
    : reference_(reference), markers_(reference.golden.size()), elsewhere_(std::move(worst)) {
  const bool is_all = elsewhere_.empty();
  elsewhere_.resize(reference.golden.size());
  worst_ = elsewhere_;
  if (is_all && std::ranges::none_of(reference.golden, IsOnlyEnclosed)) return;
  for (size_t o = 0; o < reference.golden.size(); ++o) {
    const GoldenTensor& golden = reference.golden[o];
    const auto at = std::ranges::find(outputs, golden.name, &NamedTensor::name);
    if (at == outputs.end()) continue;  // an optional output that was left out
    markers_[o] = std::make_unique<Marker>(golden, reference.permitted[o], at->values, threads);
  }
}

Undecided::~Undecided() = default;

ElementMarks Undecided::Next() {
  ElementMarks marks(markers_.size());
  for (size_t o = 0; o < markers_.size(); ++o) {
    if (markers_[o]) {
      marks[o] = markers_[o]->Next(elsewhere_[o], worst_[o]);
    } else {
      marks[o].resize(reference_.golden[o].high.data.size());
    }
  }
  const auto has_mark = [](const std::vector<char>& of) { return HasMark(of, 0, of.size()); };
  return std::ranges::any_of(marks, has_mark) ? marks : ElementMarks();
}

}  // namespace sextant::oracle
