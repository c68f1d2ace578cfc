#include "tools/api/judge_cases.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "reference/base/parallel.h"
#include "reference/case/out_of_memory.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

constexpr size_t kSmall = size_t{1} << 14;  // elements of all tensors of a small case
constexpr size_t kAtOnce = 256;             // cases whose verdicts are kept

bool IsSmall(const Case& c) {
  size_t elements = 0;
  for (const auto* side : {&c.signature().inputs, &c.signature().outputs}) {
    for (const TensorSpec& tensor : *side) elements += CountOf(c.ShapeOf(tensor));
  }
  return elements <= kSmall;
}

struct Judged {
  std::optional<Verdict> verdict;
  std::exception_ptr thrown;
};

Judged JudgeOne(const CasesToJudge& all, const Selected& selected, bool alone) {
  JudgeSubjectOptions options = all.options;
  if (!alone) options.prove.threads = 1;
  Judged judged;
  try {
    judged.verdict =
        WithinMemory(selected.c, [&] { return JudgeSubject(selected, all.subject, options); });
  } catch (...) {
    judged.thrown = std::current_exception();
  }
  return judged;
}

}  // namespace

void JudgeCases(const CasesToJudge& all, const std::function<bool(Verdict)>& take) {
  const size_t count = all.cases.size();
  for (size_t first = 0, last = 0; first < count; first = last) {
    last = first + 1;
    if (all.side_by_side && IsSmall(all.cases[first].c)) {
      while (last < std::min(count, first + kAtOnce) && IsSmall(all.cases[last].c)) ++last;
    }
    std::vector<Judged> judged(last - first);
    const bool alone = judged.size() == 1;
    InParallel(judged.size(), all.options.prove.threads,
               [&](size_t i) { judged[i] = JudgeOne(all, all.cases[first + i], alone); });
    for (Judged& one : judged) {
      if (one.thrown) std::rethrow_exception(one.thrown);
      if (!take(std::move(*one.verdict))) return;
    }
  }
}

}  // namespace sextant::tools
