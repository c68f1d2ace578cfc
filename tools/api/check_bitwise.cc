#include "tools/api/check_bitwise.h"

#include <sched.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include "oracle/property/bitwise.h"
#include "oracle/subject/promises.h"
#include "reference/base/count_text.h"
#include "reference/base/hash.h"
#include "reference/base/splitmix64.h"
#include "reference/case/operations.h"
#include "tools/api/answer_of.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::BitwiseQuestion;
using oracle::PropertyVerdict;

constexpr size_t kCasesOfProcess = 16;  // cases for which one new process is started

// This thread, and processes that it starts, have one of its processors.
class ScopedOneProcessor {
 public:
  ScopedOneProcessor() {
    CPU_ZERO(&before_);
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_)) continue;
      CPU_SET(cpu, &one);
      break;
    }
    changed_ = sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~ScopedOneProcessor() {
    if (changed_) sched_setaffinity(0, sizeof before_, &before_);
  }
  ScopedOneProcessor(const ScopedOneProcessor&) = delete;
  ScopedOneProcessor& operator=(const ScopedOneProcessor&) = delete;

 private:
  cpu_set_t before_;
  bool changed_ = false;
};

struct Asked {
  const Selected& selected;
  Tensors outputs;
};

class Promises {
 public:
  Promises(const oracle::Subject& subject, const std::vector<std::string>& wanted, uint64_t seed)
      : subject_(subject), wanted_(wanted), seed_(seed) {}

  void Check(const Selected* first, size_t count) {
    std::vector<Asked> asked;
    for (size_t i = 0; i < count; ++i) {
      const Selected& selected = first[i];
      const Tensors inputs = InputsOf(selected);
      Answer answer = AnswerOf(subject_, selected.c, inputs);
      if (answer.status == Answer::Status::kAnswered) {
        CheckRows(selected.c, inputs, answer.outputs);
        asked.push_back({selected, std::move(answer.outputs)});
      } else {
        bool is_said = false;  // the whole message, by one of the promises
        for (const auto& promise : oracle::kBitwisePromises) {
          if (!Wants(promise.name)) continue;
          is_said |= Miss(Of(selected.c, promise.name), selected.c, answer);
          if (is_said)
            answer.message.resize(std::min(answer.message.size(), answer.message.find('\n')));
        }
      }
    }
    AskAgain(asked, "run", "the same question again");
    if (!subject_.close) return;
    if (Wants("run")) {
      Restart(asked, "run");
      AskAgain(asked, "run", "in a new process");
    }
    if (!Wants("threads") || std::thread::hardware_concurrency() < 2) return;
    {
      Restart(asked, "threads");
      const ScopedOneProcessor alone;
      AskAgain(asked, "threads", "on one processor");
    }
    Restart(asked, "threads");  // the next cases have all processors
  }

  std::vector<BitwiseVerdict> Verdicts() {
    std::vector<BitwiseVerdict> all;
    for (const std::string& operation : OperationNames()) {
      for (const auto& promise : oracle::kBitwisePromises) {
        const auto at = verdicts_.find({operation, std::string(promise.name)});
        if (at == verdicts_.end()) continue;
        PropertyVerdict& verdict = at->second;
        if (verdict.status == PropertyVerdict::Status::kCouldNotRun && verdict.cases > 0)
          verdict.detail +=
              "\n  " + CountText(verdict.cases, "other comparison") + " found no difference";
        if (verdict.status == PropertyVerdict::Status::kHolds && verdict.cases == 0) {
          verdict.status = PropertyVerdict::Status::kDeclined;
          verdict.detail = verdict.declined > 0 ? "the subject declined all cases"
                                                : "it says nothing about these cases here";
        }
        all.push_back({operation, std::move(verdict)});
      }
    }
    return all;
  }

 private:
  bool Wants(std::string_view promise) const {
    return wanted_.empty() || std::ranges::count(wanted_, promise) > 0;
  }

  PropertyVerdict& Of(const Case& c, std::string_view promise) {
    const auto [at, is_new] = verdicts_.try_emplace({std::string(c.name()), std::string(promise)});
    if (is_new) {
      at->second.name = promise;
      at->second.sentence = oracle::FindPromise(promise)->sentence;
    }
    return at->second;
  }

  // The first one that is found stays; one that is broken replaces one that could not run. False if
  // another one stayed.
  static bool Find(PropertyVerdict& verdict, PropertyVerdict::Status status, const Case& c,
                   const std::string& detail) {
    if (verdict.status == PropertyVerdict::Status::kBroken || verdict.status == status)
      return false;
    verdict.status = status;
    verdict.counterexample = c.ToString();
    verdict.detail = detail;
    return true;
  }

  // True if the verdict says it now.
  static bool Miss(PropertyVerdict& verdict, const Case& c, const Answer& answer) {
    if (answer.status == Answer::Status::kUnsupported) {
      ++verdict.declined;
      return false;
    }
    return Find(verdict, PropertyVerdict::Status::kCouldNotRun, c, answer.message);
  }

  void CheckRows(const Case& c, const Tensors& inputs, const Tensors& outputs) {
    SplitMix64 random(Mix(seed_) + HashOf(c.ToString()));
    for (const auto& promise : oracle::kBitwisePromises) {
      if (Wants(promise.name)) Of(c, promise.name);  // says that nothing was compared
    }
    for (const BitwiseQuestion& question : oracle::BitwiseQuestions(c, inputs, wanted_, random)) {
      const Answer answer = AnswerOf(subject_, question.c, question.inputs);
      Compare(Of(c, question.promise), c, inputs, outputs, question.rows_of_whole, answer,
              question.rows, question.how);
    }
  }

  void Restart(const std::vector<Asked>& asked, std::string_view promise) {
    const std::string error = subject_.close();
    if (error.empty() || asked.empty()) return;
    const Case& last = asked.back().selected.c;
    Miss(Of(last, promise), last, {Answer::Status::kFailed, error, {}});
  }

  void AskAgain(const std::vector<Asked>& asked, std::string_view promise, const std::string& how) {
    if (!Wants(promise)) return;
    for (const Asked& before : asked) {
      const Case& c = before.selected.c;
      const Tensors inputs = InputsOf(before.selected);
      const Answer answer = AnswerOf(subject_, c, inputs);
      Compare(Of(c, promise), c, inputs, before.outputs, {}, answer, {}, how);
    }
  }

  static void Compare(PropertyVerdict& verdict, const Case& c, const Tensors& inputs,
                      const Tensors& whole, const Slice& rows_of_whole, const Answer& answer,
                      const Slice& rows, const std::string& how) {
    if (answer.status != Answer::Status::kAnswered) {
      Miss(verdict, c, answer);
      return;
    }
    ++verdict.cases;
    const std::string difference =
        oracle::BitDifference(c, inputs, whole, rows_of_whole, answer.outputs, rows);
    if (!difference.empty())
      Find(verdict, PropertyVerdict::Status::kBroken, c, how + ": " + difference);
  }

  const oracle::Subject& subject_;
  const std::vector<std::string>& wanted_;
  const uint64_t seed_;
  std::map<std::pair<std::string, std::string>, PropertyVerdict> verdicts_;
};

}  // namespace

std::vector<BitwiseVerdict> CheckBitwise(const std::vector<Selected>& cases,
                                         const oracle::Subject& subject,
                                         const std::vector<std::string>& promises, uint64_t seed) {
  oracle::RequirePromises(promises);
  Promises all(subject, promises, seed);
  for (size_t first = 0; first < cases.size(); first += kCasesOfProcess)
    all.Check(&cases[first], std::min(kCasesOfProcess, cases.size() - first));
  return all.Verdicts();
}

}  // namespace sextant::tools
