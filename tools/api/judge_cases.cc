#include "tools/api/judge_cases.h"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <string>

#include "oracle/diagnosis/evidence.h"
#include "reference/base/parallel.h"
#include "reference/case/memory.h"
#include "tools/api/judgement.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

constexpr size_t kSmall = size_t{1} << 14;  // elements of all tensors of a small case
constexpr size_t kAtOnce = 256;             // cases whose verdicts are kept

bool IsSmall(const Case& c) {
  size_t elements = 0;
  for (const auto* side : {&c.info().signature.inputs, &c.info().signature.outputs}) {
    for (const TensorSpec& tensor : *side) elements += CountOf(c.ShapeOf(tensor));
  }
  return elements <= kSmall;
}

struct Judged {
  std::optional<Verdict> verdict;
  std::exception_ptr thrown;
};

Judged JudgeOne(const CasesToJudge& all, const Selected& selected,
                const JudgeSubjectOptions& options) {
  Judged judged;
  try {
    judged.verdict =
        WithinMemory(selected.c, [&] { return JudgeSubject(selected, all.subject, options); });
  } catch (...) {
    judged.thrown = std::current_exception();
  }
  return judged;
}

// Which answers are searched for rare causes.
class RareSearches {
 public:
  explicit RareSearches(const CasesToJudge& all) : is_timed_(all.options.time) {
    for (const Selected& one : all.cases) ++cases_[one.c.name()];
  }
  // In the first judgement of a case. Large ones have none of these searches, and a limited time
  // limits them.
  oracle::Rare First(const Case& c) const {
    const bool has_few = cases_.at(c.name()) <= kMostRareSearches;
    return has_few || is_timed_ || oracle::IsLarge(c) ? oracle::Rare::kTried
                                                      : oracle::Rare::kNotTried;
  }
  // True if the answer, judged without rare causes, is to be judged with them.
  bool Again(const Case& c, const Judged& judged) {
    return judged.verdict && IsUnexplained(*judged.verdict) &&
           First(c) == oracle::Rare::kNotTried && searches_[c.name()]++ < kMostRareSearches;
  }

 private:
  bool is_timed_;
  std::map<std::string, size_t> cases_, searches_;  // of each operation
};

// The verdict with rare causes, if the subject gives a wrong answer again; else the first one.
Judged WithRareCauses(const CasesToJudge& all, const Selected& selected, Judged first) {
  Judged again = JudgeOne(all, selected, all.options);
  const bool fails = again.verdict && again.verdict->status == Verdict::Status::kFails;
  return again.thrown || fails ? std::move(again) : std::move(first);
}

}  // namespace

void JudgeCases(const CasesToJudge& all, const std::function<bool(Verdict)>& take) {
  const size_t count = all.cases.size();
  RareSearches searches(all);
  for (size_t first = 0, last = 0; first < count; first = last) {
    last = first + 1;
    if (all.side_by_side && IsSmall(all.cases[first].c)) {
      while (last < std::min(count, first + kAtOnce) && IsSmall(all.cases[last].c)) ++last;
    }
    std::vector<Judged> judged(last - first);
    InParallel(judged.size(), all.options.prove.threads, [&](size_t i) {
      const Selected& selected = all.cases[first + i];
      JudgeSubjectOptions options = all.options;
      if (judged.size() > 1) options.prove.threads = 1;
      options.rare = searches.First(selected.c);
      judged[i] = JudgeOne(all, selected, options);
    });
    for (size_t i = 0; i < judged.size(); ++i) {
      const Selected& selected = all.cases[first + i];
      if (searches.Again(selected.c, judged[i]))
        judged[i] = WithRareCauses(all, selected, std::move(judged[i]));
      if (judged[i].thrown) std::rethrow_exception(judged[i].thrown);
      if (!take(std::move(*judged[i].verdict))) return;
    }
  }
}

}  // namespace sextant::tools
