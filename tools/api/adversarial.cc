#include "tools/api/adversarial.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "oracle/diagnosis/work.h"
#include "oracle/property/nearby_questions.h"
#include "reference/base/hash.h"
#include "reference/base/splitmix64.h"
#include "reference/case/draw.h"
#include "reference/case/out_of_memory.h"
#include "reference/case/question.h"
#include "tools/api/answer_of.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::MemoryPlacement;
using oracle::Verdict;

constexpr size_t kCasesBeforeRestart = 16;  // cases after which a new process is started
// Of a later answer so many elements are judged, and of a larger one so small a part. An answer to
// the question of the case that has other bits than before may be wrong in few places. Parts larger
// than an eighth are not judged apart: a part has small slices, and each must set up its inputs
// (1024 of 1032 elements of attention to 2049 keys took 3.6 times the time of all).
struct Part {
  size_t elements, share;
};
constexpr Part kOfOther = {1 << 10, 32}, kOfSame = {1 << 14, 8}, kWhole = {1, 1};
constexpr size_t kLeastShare = 8;
constexpr double kLittleWork = 0x1p18;   // numbers (oracle/diagnosis/work.h)
constexpr double kOtherQuestions = 16;   // about a case, of which chance takes some
constexpr size_t kFewestQuestions = 16;  // questions about a small case: some subjects change later
constexpr size_t kSmallCase = size_t{1} << 16;  // elements of all its tensors
constexpr size_t kMostInputs = 4;
constexpr size_t kMostDeclined = 4;  // other attributes, until one is answered

std::string_view BytesOf(const Tensor<double>& tensor) {
  return {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size() * sizeof(double)};
}

// Equal for equal bits, in practice only for them.
uint64_t DigestOf(const Tensors& tensors, uint64_t start) {
  uint64_t digest = start;
  for (const NamedTensor& tensor : tensors)
    digest = HashOfData(BytesOf(tensor.values), digest + HashOf(tensor.name));
  return digest;
}

uint64_t DigestOfQuestion(const Case& c, const Tensors& inputs) {
  return DigestOf(inputs, HashOf(LineOfQuestion(c)));
}

// What is asked about a case.
struct Step {
  std::string how;  // "other values in the same memory"
  Case c;
  Tensors inputs;
  MemoryPlacement placement{};
  bool may_decline = false;  // another shape or attribute
  bool is_judged = false;    // whatever the work
};

struct Answered {
  size_t number;
  std::string how;
  uint64_t question, answer;  // digests
};

class Attack {
 public:
  Attack(const CasesToAttack& all, FreshCases& fresh, const Selected& selected)
      : all_(all),
        fresh_(fresh),
        selected_(selected),
        asked_(all.subject),
        random_(Mix(fresh.seed) + HashOf(selected.c.ToString())) {
    if (!all.subject.answer_placed) return;
    asked_.answer = [this](const Case& c, const Tensors& inputs) {
      return all_.subject.answer_placed(c, inputs, placement_);
    };
  }

  // In the process that runs. A question that resembles the case follows it at once.
  void Ask() {
    const Case& c = selected_.c;
    const Tensors inputs = InputsOf(selected_);
    if (!AskFirst(inputs)) return;
    const auto other = [&] { return DrawInputs(Seeded(c), NpyReader()); };
    const auto near = [&](const char* how, Tensors changed) {
      return Try({how, c, std::move(changed), Refilled(true)});
    };
    const auto again = [&](const char* how, bool in_same_memory) {
      return Try({how, c, inputs, Refilled(in_same_memory)});
    };
    constexpr char kOneNumber[] = "the same values but one, or few";
    constexpr char kAfterOthers[] = "the same values, after other questions";
    if (!again("the same values in the same memory", true) ||
        !again("the same values in other memory", false) ||
        !near("the same first and last values, others between them",
              oracle::WithEndsOf(inputs, other())) ||
        !again(kAfterOthers, true) ||
        !near(kOneNumber, oracle::WithFewOf(inputs, other(), random_)) ||
        !again(kAfterOthers, true) ||
        !near(kOneNumber, oracle::WithFewOf(inputs, other(), random_)) ||
        !again(kAfterOthers, true) || !TryEachInput(inputs, other()) ||
        !near("the same values in another order", oracle::Reversed(c, inputs)) ||
        !Try({"other values in the same memory", c, oracle::Scaled(c, other(), random_),
              Refilled(true), false, true}) ||
        !again(kAfterOthers, true) || !TryOtherAttributes(inputs) ||
        !TryOtherRows(oracle::Rows::kFewer) || !TryOtherRows(oracle::Rows::kMore)) {
      return;
    }
    do {
      if (!again(kAfterOthers, asked_here_ % 2 == 0)) return;
    } while (asked_here_ < kFewestQuestions && ElementsOf(c) <= kSmallCase);
  }

  // After the cases that followed, in a new process.
  void AskInNewProcess() {
    if (!has_answer_ || found_) return;
    Try({"the same values in a new process", selected_.c, InputsOf(selected_), Refilled(false)});
  }

  Verdict verdict() && { return std::move(verdict_); }

 private:
  // The same case with other numbers.
  Case Seeded(const Case& c) { return c.With("seed=" + std::to_string(random_.Bits() >> 32)); }

  // What the outputs hold before the answer is no number that is left from the last one.
  MemoryPlacement Refilled(bool in_same_memory) {
    return {.in_same_memory = in_same_memory,
            .fill = static_cast<unsigned char>(random_.Below(0x100))};
  }

  Answer AnswerTo(const Step& step) {
    ++fresh_.questions;
    ++asked_here_;
    placement_ = step.placement;
    Answer answer = AnswerOf(asked_, step.c, step.inputs);
    placement_ = {};
    return answer;
  }

  // False if there is nothing more to ask.
  bool AskFirst(const Tensors& inputs) {
    const Step step{"the case", selected_.c, inputs};
    const Answer answer = AnswerTo(step);
    verdict_ = JudgeAnswer(selected_, asked_, inputs, answer, all_.options);
    if (verdict_.status == Verdict::Status::kFails) {
      found_ = true;
      ExplainByCommitted();
    }
    has_answer_ = answer.status == Answer::Status::kAnswered;
    if (!has_answer_ || found_) return false;
    Note(step, answer);
    return true;
  }

  // The first answer fails: is that to the committed inputs right?
  void ExplainByCommitted() {
    const auto committed = fresh_.committed.find(selected_.c.ToString());
    if (committed == fresh_.committed.end()) return;
    const Selected own{Case::Parse(committed->second)};
    const Step step{"the committed values", own.c, InputsOf(own)};
    const Answer answer = AnswerTo(step);
    if (answer.status != Answer::Status::kAnswered) return;
    JudgeSubjectOptions options = all_.options;
    options.time = nullptr;
    if (JudgeAnswer(own, asked_, step.inputs, answer, options).status != Verdict::Status::kConforms)
      return;
    Found(
        "right_for_committed_inputs",
        "it is right for the inputs that every user has, and wrong for those that were drawn now");
  }

  Verdict JudgePart(const Step& step, const Answer& answer, const Part& part) {
    JudgeSubjectOptions options = all_.options;
    options.time = nullptr;
    if (const auto few = FewElements(OutputElementsOf(step.c), part)) {
      size_t& most = options.budget.elements;
      most = most > 0 ? std::min(most, *few) : *few;
    }
    options.budget.seed = random_.Bits();
    return JudgeAnswer({step.c}, asked_, step.inputs, answer, options);
  }

  // Empty for all of them.
  static std::optional<size_t> FewElements(size_t elements, const Part& part) {
    const size_t few = std::max(part.elements, elements / part.share);
    if (elements / few < kLeastShare) return std::nullopt;
    return few;
  }

  static size_t OutputElementsOf(const Case& c) {
    size_t elements = 0;
    for (const TensorSpec& output : c.info().signature.outputs)
      elements += CountOf(c.ShapeOf(output));
    return elements;
  }

  void Note(const Step& step, const Answer& answer) {
    answered_.push_back({asked_here_, step.how, DigestOfQuestion(step.c, step.inputs),
                         DigestOf(answer.outputs, 0)});
  }

  // True if the answer is one of the judged ones to the same question.
  bool IsKnown(const Answered& now) const {
    return std::ranges::any_of(answered_, [&](const Answered& one) {
      return one.question == now.question && one.answer == now.answer;
    });
  }

  // Answers that vary, those that are the same to another question, and one to other values. Of the
  // others as many, by chance, as take no more work than the first answer, or little.
  bool IsJudged(const Answered& now, const Step& step) {
    if (IsRepeated(now) || IsOfAnother(now) || step.is_judged) return true;
    const size_t elements = OutputElementsOf(step.c);
    const size_t few = FewElements(elements, kOfOther).value_or(elements);
    const double work = static_cast<double>(oracle::WorkOf(step.c)) * static_cast<double>(few) /
                        static_cast<double>(std::max<size_t>(elements, 1));
    const double most = std::max(kLittleWork, static_cast<double>(oracle::WorkOf(selected_.c)));
    return random_.Uniform(0, 1) * kOtherQuestions * work < most;
  }

  // It has the bits of an answer to another question.
  bool IsOfAnother(const Answered& now) const {
    return std::ranges::count(answered_, now.answer, &Answered::answer) > 0;
  }

  bool IsRepeated(const Answered& now) const {
    return std::ranges::count(answered_, now.question, &Answered::question) > 0;
  }

  bool BreaksPromise(const Answered& now) const {
    return std::ranges::count(all_.subject.bitwise, "run") > 0 && IsRepeated(now) &&
           std::ranges::all_of(verdict_.tensors, [](const oracle::TensorVerdict& tensor) {
             return tensor.unspecified == 0;  // whose bits say nothing
           });
  }

  // False if it found something; then the verdict says it.
  bool Try(const Step& step) { return TryAnswered(step, AnswerTo(step)); }

  bool TryAnswered(const Step& step, const Answer& answer) {
    const std::string number = "question " + std::to_string(asked_here_) + ", " + step.how;
    const bool is_declined = answer.status == Answer::Status::kUnsupported;
    if (is_declined && step.may_decline) return true;
    if (answer.status != Answer::Status::kAnswered) {
      verdict_ = {
          .case_line = selected_.c.ToString(),
          .status = is_declined ? Verdict::Status::kUnverified : Verdict::Status::kCouldNotRun,
          .message = number + (is_declined ? ", was declined: " : ": ") + answer.message,
          .tensors = {},
          .trace = {},
          .causes = {}};
      found_ = true;
      return false;
    }
    Note(step, answer);
    const Answered now = answered_.back();
    answered_.pop_back();
    if (IsKnown(now) || !IsJudged(now, step)) return true;
    if (BreaksPromise(now)) {
      found_ = true;
      verdict_.status = Verdict::Status::kFails;
      verdict_.message = number;
      Found("breaks_promise", "it promises equal bits of the same question (`run`)");
      return false;
    }
    const Part part = IsOfAnother(now) ? kWhole : IsRepeated(now) ? kOfSame : kOfOther;
    Verdict verdict = JudgePart(step, answer, part);
    if (verdict.status == Verdict::Status::kFails) {
      found_ = true;
      verdict_ = std::move(verdict);
      verdict_.case_line = selected_.c.ToString();
      verdict_.message = number + (step.may_decline ? " (" + LineOfQuestion(step.c) + ")" : "") +
                         (verdict_.message.empty() ? "" : ": " + verdict_.message);
      Explain(now);
      return false;
    }
    // One that is right in a part may be wrong elsewhere, also when it comes again.
    if (!verdict.sample || !IsRepeated(now)) answered_.push_back(now);
    return true;
  }

  // What a failing answer has in common with right ones.
  void Explain(const Answered& now) {
    for (const Answered& one : answered_) {
      if (one.answer == now.answer) {
        return Found("returns_earlier_answer", "it is the answer to question " +
                                                   std::to_string(one.number) + " (" + one.how +
                                                   "), bit for bit");
      }
    }
    if (!IsRepeated(now)) return;
    if (now.number == 2 && IsRightAsFirst()) {
      Found("depends_on_outputs_before",
            "it is right if the outputs hold before the answer what they held the first time");
    } else {
      Found("depends_on_earlier_questions",
            "the same question with the same values was answered rightly before");
    }
  }

  // Is the first question, asked again, answered rightly?
  bool IsRightAsFirst() {
    const Step step{"", selected_.c, InputsOf(selected_), {.in_same_memory = true}};
    const Answer answer = AnswerTo(step);
    if (answer.status != Answer::Status::kAnswered) return false;
    return JudgePart(step, answer, kOfSame).status == Verdict::Status::kConforms;
  }

  void Found(const std::string& name, const std::string& why) {
    verdict_.causes.insert(verdict_.causes.begin(),
                           {.name = name, .why = why, .is_measured = true});
  }

  // One tensor is that of `others`, each in turn (of many tensors some); the others are those of
  // the case.
  bool TryEachInput(const Tensors& inputs, const Tensors& others) {
    if (inputs.size() == 1) return true;
    for (size_t t = 0; t < inputs.size(); ++t) {
      if (inputs.size() > kMostInputs && random_.Below(inputs.size()) >= kMostInputs) continue;
      Tensors changed = inputs;
      changed[t].values = others[t].values;
      if (!Try({"another " + inputs[t].name + ", the other inputs as before", selected_.c,
                std::move(changed), Refilled(true)}) ||
          !Try({"the same values, after other questions", selected_.c, inputs, Refilled(true)}))
        return false;
    }
    return true;
  }

  bool TryOtherAttributes(const Tensors& inputs) {
    size_t declined = 0;
    for (const Case& other : oracle::WithOneOtherAttribute(selected_.c, random_)) {
      Step step{"another attribute", other, {}, Refilled(true), true};
      step.inputs = HasInputsOf(other, inputs) ? inputs : DrawInputs(other, NpyReader());
      const Answer answer = AnswerTo(step);
      if (!TryAnswered(step, answer)) return false;
      if (answer.status == Answer::Status::kAnswered) break;
      if (++declined == kMostDeclined) break;
    }
    return true;
  }

  // True if the inputs of this case fit the other one.
  bool HasInputsOf(const Case& other, const Tensors& inputs) const {
    const auto& specs = other.signature().inputs;
    if (specs.size() != inputs.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].name != specs[i].name || inputs[i].dtype != other.DTypeOf(specs[i]) ||
          inputs[i].values.shape != other.ShapeOf(specs[i]) ||
          other.SpecOf(specs[i]) !=
              selected_.c.SpecOf(*FindTensor(selected_.c.signature(), specs[i].name)))
        return false;
    }
    return true;
  }

  bool TryOtherRows(oracle::Rows rows) {
    const auto other = oracle::WithOtherRows(selected_.c, rows);
    if (!other) return true;
    const Case c = Seeded(*other);
    const char* const how = rows == oracle::Rows::kFewer ? "a smaller case" : "a larger case";
    return Try({how, c, DrawInputs(c, NpyReader()), Refilled(true), true});
  }

  const CasesToAttack& all_;
  FreshCases& fresh_;
  const Selected& selected_;
  oracle::Subject asked_;
  SplitMix64 random_;
  MemoryPlacement placement_{};
  size_t asked_here_ = 0;
  bool has_answer_ = false, found_ = false;
  std::vector<Answered> answered_;  // rightly
  Verdict verdict_;
};

constexpr char kMemoryBytes[] = "MALLOC_PERTURB_";

// What memory of malloc holds in processes that start from now on, with glibc.
void SetMemoryBytes(uint64_t seed) {
  setenv(kMemoryBytes, std::to_string(1 + Mix(seed) % 0xFE).c_str(), 1);
}

// At the next question. Returns an error or an empty text, as Subject::close.
std::string StartNewProcess(const oracle::Subject& subject, uint64_t seed) {
  SetMemoryBytes(seed);
  return subject.close();
}

}  // namespace

ScopedSecrecy::ScopedSecrecy(uint64_t seed) : was_dumpable_(prctl(PR_GET_DUMPABLE)) {
  if (const char* const bytes = std::getenv(kMemoryBytes)) memory_bytes_ = bytes;
  prctl(PR_SET_DUMPABLE, 0);
  SetMemoryBytes(seed);
}

ScopedSecrecy::~ScopedSecrecy() {
  prctl(PR_SET_DUMPABLE, was_dumpable_ == 1 ? 1 : 0);
  if (memory_bytes_)
    setenv(kMemoryBytes, memory_bytes_->c_str(), 1);
  else
    unsetenv(kMemoryBytes);
}

void AttackCases(const CasesToAttack& all, FreshCases& fresh,
                 const std::function<bool(Verdict)>& take) {
  for (size_t first = 0; first < all.cases.size(); first += kCasesBeforeRestart) {
    const size_t count = std::min(kCasesBeforeRestart, all.cases.size() - first);
    std::vector<std::unique_ptr<Attack>> attacks;
    std::exception_ptr thrown;
    for (size_t i = 0; i < count && !thrown; ++i) {
      const Selected& selected = all.cases[first + i];
      auto attack = std::make_unique<Attack>(all, fresh, selected);
      try {
        WithinMemory(selected.c, [&] { attack->Ask(); });
        attacks.push_back(std::move(attack));
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    std::string error;
    if (all.subject.close && !thrown) error = StartNewProcess(all.subject, first + fresh.seed + 1);
    for (auto attack = attacks.rbegin(); attack != attacks.rend() && !thrown; ++attack) {
      if (all.subject.close) (*attack)->AskInNewProcess();
    }
    for (size_t i = 0; i < attacks.size(); ++i) {
      Verdict verdict = std::move(*attacks[i]).verdict();
      if (!error.empty() && i + 1 == attacks.size()) {
        verdict.status = Verdict::Status::kCouldNotRun;
        verdict.message = error;
      }
      if (!take(std::move(verdict))) return;
    }
    if (thrown) std::rethrow_exception(thrown);
  }
}

}  // namespace sextant::tools
