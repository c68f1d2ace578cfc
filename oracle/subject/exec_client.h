// Client of a third-party program: sends questions and reads answers over its pipes
// (oracle/subject/PROTOCOL.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "oracle/subject/child_process.h"
#include "oracle/subject/safetensors_message.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// The program's answer to hello.
struct Hello {
  std::string name, version;
  std::string recipe;  // a standard recipe's name or a recipe line: how the program claims to round
  std::vector<std::string> operations;
  std::vector<std::string> bitwise{};  // promises of equal bits
};

struct Question {
  std::string operation;
  std::string case_line;        // canonical
  DType dtype = DType::kF32;    // of the case
  std::string attributes_json;  // JSON object of all attributes and dimensions
  Tensors inputs;
  std::vector<ExpectedTensor> expected;
  Metadata gaps{};  // GapWords, and `memory`
};

// The texts are Marked (reference/base/printable.h).
struct Reply {
  enum class Status { kOk, kUnsupported, kError };
  Status status = Status::kOk;
  std::string message;
  std::string stderr_lines;  // kError only: of stderr since the question
  Tensors outputs;           // kOk only: the expected outputs; optional ones may be missing
};

// The program could not be run. Says nothing about its numbers. The texts are Marked; what() is
// WithStderr of both.
class Failure : public std::runtime_error {
 public:
  enum class Cause {
    kEnded,      // it ended, crashed, closed a pipe, or did not start
    kTimeLimit,  // it gave no complete answer in time
    kProtocol    // it violated PROTOCOL.md
  };
  Failure(Cause the_cause, const std::string& why, const std::string& stderr_lines);

  Cause cause;
  std::string why;  // one line
  // Of its stderr: the last lines, and the first ones since the question; may be empty.
  std::string stderr_lines;
};

// "why\n| stderr: lines", or `why` without lines.
std::string WithStderr(const std::string& why, const std::string& stderr_lines);

// Minimum time limit of hello. The import of a framework can take half of it.
inline constexpr int kSecondsForHello = 60;

// A client owns one child and must be used by one thread only. The first call starts the child. A
// Failure kills it, and the next question starts it again. A failed hello is final: every later
// call throws the same Failure at once, so a program that cannot start costs one time limit in
// total and not one per case.
class ExecClient {
 public:
  ExecClient(std::string command, const SubjectLimits& limits, double seconds_for_hello);
  // The time limit of hello is the larger of kSecondsForHello and that of a case.
  ExecClient(std::string command, const SubjectLimits& limits);
  ~ExecClient();

  // Starts the child if it has not said hello yet. Throws Failure.
  const Hello& hello();

  // Throws Failure. Tensors of the reply have the expected shapes and dtypes; their values are
  // arbitrary, NaN included.
  Reply Ask(const Question& question);

  // Ends the conversation: closes the child's stdin and kills it if it has not ended after one
  // second. Throws Failure if it wrote anything after its last answer. The destructor does the same
  // but does not throw.
  void Close();

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
  std::string ErrorLines(std::string_view text) const;
  [[noreturn]] void Fail(Failure::Cause cause, const std::string& why);

  std::string command_;
  SubjectLimits limits_;
  double seconds_for_hello_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<Hello> hello_;
  std::optional<Failure> failed_hello_;
  uint64_t last_id_ = 0;
  uint64_t answers_ = 0;  // number of answers of this child
  std::string request_;   // the current request in messages: "request 3 (rope)"
  double limit_ = 0;      // time limit of the current request in seconds
};

}  // namespace sextant::oracle
