// Asks a stranger's program: one question, one answer, over its pipes (oracle/subject/PROTOCOL.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "oracle/subject/child_process.h"
#include "oracle/subject/safetensors_message.h"
#include "reference/number/tensor.h"

namespace sextant::oracle {

// What a program says of itself.
struct Hello {
  std::string name, version;
  std::string recipe;  // a line or a standard name: how it claims to compute
  std::vector<std::string> operations;
};

struct Question {
  std::string operation;
  std::string case_line;        // canonical
  std::string attributes_json;  // object of all attributes and dimensions
  Tensors inputs;
  std::vector<ExpectedTensor> expected;
};

struct Reply {
  enum class Status { kOk, kUnsupported, kError };
  Status status = Status::kOk;
  std::string message;
  std::string stderr_tail;  // of kError: the last lines of stderr since the question, printable
  Tensors outputs;          // of kOk: those expected, optional ones perhaps not
};

// The program could not be run: not a word about its numbers.
class Failure : public std::runtime_error {
 public:
  enum class Cause {
    kEnded,      // it ended, crashed, closed a pipe, or never started
    kTimeLimit,  // it gave no complete answer in time
    kProtocol    // it said something that PROTOCOL.md does not allow
  };
  Failure(Cause the_cause, const std::string& why, const std::string& stderr_tail);

  Cause cause;
  std::string why;          // one line
  std::string stderr_tail;  // the last lines of its stderr, printable; may be empty
};

// The least time for hello: importing a framework can take half of it.
inline constexpr int kSecondsForHello = 60;

// One client is one child, for one thread. The child is started when first needed, killed after any
// Failure, and then started again by the next question. Only a failed hello is final: every later
// call repeats it at once, so that a program that cannot start costs one time limit, not one per
// case.
class ExecClient {
 public:
  ExecClient(std::string command, double seconds_per_case, double seconds_for_hello);
  // hello has kSecondsForHello, or the time of a case if that is more.
  ExecClient(std::string command, double seconds_per_case);
  ~ExecClient();

  // Starts the child if it has not said hello yet. Throws Failure.
  const Hello& hello();

  // Throws Failure. Tensors of the reply have the expected shapes and dtypes; their values may be
  // anything, NaN included.
  Reply Ask(const Question& question);

  // Ends the conversation: the child may leave by itself for a second, then it is killed. Throws
  // Failure if it said anything after its last answer. The destructor does the same silently.
  void Leave();

 private:
  struct Request;
  struct Answer;
  void Start();
  Hello Greet();
  Answer Exchange(const Request& request);
  Answer ReadAnswer(const Request& request, Clock::time_point deadline);
  std::string Receive(size_t size, const char* part, Clock::time_point deadline);
  void Require(Event event, const std::string& progress);
  void RequireSilence(std::chrono::milliseconds patience);
  [[noreturn]] void Fail(Failure::Cause cause, const std::string& why);

  std::string command_;
  double seconds_per_case_, seconds_for_hello_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<Hello> hello_;
  std::optional<Failure> failed_hello_;
  uint64_t last_id_ = 0;
  uint64_t answers_ = 0;  // of this child
  std::string request_;   // the current one, for messages: "request 3 (rope)"
  double limit_ = 0;      // seconds it has
};

}  // namespace sextant::oracle
