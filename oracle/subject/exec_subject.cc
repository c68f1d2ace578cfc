#include "oracle/subject/exec_subject.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "oracle/subject/attributes_json.h"
#include "oracle/subject/exec_client.h"
#include "reference/base/json.h"
#include "reference/base/printable.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

Question QuestionOf(const Case& c, const Tensors& inputs) {
  Question question{.operation = std::string(c.name()),
                    .case_line = c.ToString(),
                    .dtype = c.dtype(),
                    .attributes_json = PrintJson(AttributesJson(c)),
                    .inputs = inputs,
                    .expected = {}};
  for (const TensorSpec& spec : c.info().signature.outputs) {
    question.expected.push_back({spec.name, c.DTypeOf(spec), c.ShapeOf(spec), spec.optional});
  }
  return question;
}

std::string WithStderr(const std::string& why, const std::string& stderr_tail) {
  return stderr_tail.empty() ? why : why + "\n  stderr: " + stderr_tail;
}

std::string MessageOf(const Failure& failure) {
  return WithStderr(failure.why, failure.stderr_tail);
}

Answer AskClient(ExecClient& client, const Case& c, const Tensors& inputs) try {
  const Reply reply = client.Ask(QuestionOf(c, inputs));
  switch (reply.status) {
    case Reply::Status::kOk:
      return {Answer::Status::kAnswered, reply.message, reply.outputs};
    case Reply::Status::kUnsupported:
      return {Answer::Status::kUnsupported, reply.message, {}};
    case Reply::Status::kError:
      break;
  }
  return {Answer::Status::kFailed,
          WithStderr("it reported an error: " + reply.message, reply.stderr_tail),
          {}};
} catch (const Failure& failure) {
  return {Answer::Status::kFailed, MessageOf(failure), {}};
}

// Empty, or the error if the program wrote something after its last answer.
std::string Close(ExecClient& client) try {
  client.Close();
  return "";
} catch (const Failure& failure) {
  return MessageOf(failure);
}

void RequireOperations(const std::vector<std::string>& names) {
  const std::vector<std::string> all = OperationNames();
  for (const std::string& name : names) {
    if (std::ranges::find(all, name) != all.end()) continue;
    throw Failure(Failure::Cause::kProtocol,
                  "its hello names the operation " + Quoted(name) +
                      ", which does not exist (`sextant list` prints all)",
                  "");
  }
}

}  // namespace

Subject ExecSubject(const std::string& command, double seconds_per_case) {
  const auto client = std::make_shared<ExecClient>(command, seconds_per_case);
  const auto mutex = std::make_shared<std::mutex>();  // one child answers one question at a time
  RequireOperations(client->hello().operations);
  const std::string recipe = client->hello().recipe;
  return {.name = "exec:" + command,
          .recipe = recipe.empty() ? "native" : recipe,
          .answer = [client, mutex](const Case& c, const Tensors& inputs) -> Answer {
            const std::lock_guard lock(*mutex);
            if (std::ranges::find(client->hello().operations, c.name()) ==
                client->hello().operations.end()) {
              return {Answer::Status::kUnsupported,
                      "it does not offer " + std::string(c.name()) + " (operations of hello)",
                      {}};
            }
            return AskClient(*client, c, inputs);
          },
          .close =
              [client, mutex] {
                const std::lock_guard lock(*mutex);
                return Close(*client);
              }};
}

}  // namespace sextant::oracle
