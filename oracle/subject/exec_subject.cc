#include "oracle/subject/exec_subject.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "oracle/subject/attributes_json.h"
#include "oracle/subject/exec_client.h"
#include "reference/base/json.h"
#include "reference/base/printable.h"
#include "reference/case/former_names.h"
#include "reference/case/operations.h"
#include "reference/case/question.h"

namespace sextant::oracle {
namespace {

// After so many questions in a row without an answer in time, the subject is not asked any more:
// each further case would cost the time limit again.
constexpr int kMostTimeLimits = 3;

Question QuestionOf(const Case& c, const Tensors& inputs, const ToldAttributes& told,
                    const std::optional<MemoryPlacement>& placement) {
  Question question{.operation = std::string(c.name()),
                    .case_line = placement ? LineOfQuestion(c) : c.ToString(),
                    .dtype = c.dtype(),
                    .attributes_json = PrintJson(AttributesJson(c, told)),
                    .inputs = inputs,
                    .expected = {},
                    .gaps = GapWords(c, told)};
  for (const TensorSpec& spec : c.info().signature.outputs) {
    question.expected.push_back({spec.name, c.DTypeOf(spec), c.ShapeOf(spec), spec.optional});
  }
  if (placement)
    question.gaps["memory"] =
        PrintJson({{"same", placement->in_same_memory}, {"fill", placement->fill}});
  return question;
}

Answer AnswerOf(const Reply& reply) {
  switch (reply.status) {
    case Reply::Status::kOk:
      return {Answer::Status::kAnswered, reply.message, reply.outputs};
    case Reply::Status::kUnsupported:
      return {Answer::Status::kUnsupported, reply.message, {}};
    case Reply::Status::kError:
      break;
  }
  return {Answer::Status::kFailed,
          WithStderr("it reported an error: " + reply.message, reply.stderr_lines),
          {}};
}

void RequireOperations(const std::vector<std::string>& names) {
  const std::vector<std::string> all = OperationNames();
  for (const std::string& name : names) {
    if (std::ranges::find(all, name) != all.end()) continue;
    const auto today = LineOfToday(name);
    throw Failure(Failure::Cause::kProtocol,
                  "its hello names the operation " + Quoted(name) +
                      (today ? ", which is now " + Quoted(*today)
                             : ", which does not exist (`sextant list` prints all)"),
                  "");
  }
}

// The client and how often in a row the time limit ended its question.
class Conversation {
 public:
  Conversation(const std::string& command, const SubjectLimits& limits, const ToldAttributes& told)
      : client_(command, limits), told_(told) {}

  const Hello& hello() { return client_.hello(); }

  Answer Ask(const Case& c, const Tensors& inputs,
             const std::optional<MemoryPlacement>& placement = {}) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::count(client_.hello().operations, c.name()) == 0) {
      return {Answer::Status::kUnsupported,
              "it does not offer " + std::string(c.name()) + " (operations of hello)",
              {}};
    }
    if (time_limits_ == kMostTimeLimits) {
      return {Answer::Status::kFailed,
              "not asked, because the subject did not answer " + std::to_string(kMostTimeLimits) +
                  " cases in a row in time",
              {}};
    }
    try {
      const Answer answer = AnswerOf(client_.Ask(QuestionOf(c, inputs, told_, placement)));
      time_limits_ = 0;
      return answer;
    } catch (const Failure& failure) {
      time_limits_ = failure.cause == Failure::Cause::kTimeLimit ? time_limits_ + 1 : 0;
      return {Answer::Status::kFailed, failure.what(), {}};
    }
  }

  // Empty, or the error if the program wrote something after its last answer.
  std::string Close() try {
    const std::lock_guard lock(mutex_);
    client_.Close();
    return "";
  } catch (const Failure& failure) {
    return failure.what();
  }

 private:
  ExecClient client_;
  const ToldAttributes told_;
  std::mutex mutex_;  // one child answers one question at a time
  int time_limits_ = 0;
};

}  // namespace

Subject ExecSubject(const std::string& command, const SubjectLimits& limits,
                    const ToldAttributes& told) {
  const auto subject = std::make_shared<Conversation>(command, limits, told);
  RequireOperations(subject->hello().operations);
  const std::string recipe = subject->hello().recipe;
  return {
      .name = "exec:" + command,
      .recipe = recipe.empty() ? "native" : recipe,
      .answer = [subject](const Case& c, const Tensors& inputs) { return subject->Ask(c, inputs); },
      .close = [subject] { return subject->Close(); },
      .answer_placed =
          [subject](const Case& c, const Tensors& inputs, const MemoryPlacement& placement) {
            return subject->Ask(c, inputs, placement);
          },
      .bitwise = subject->hello().bitwise};
}

}  // namespace sextant::oracle
