#include "oracle/subject/exec_client.h"

#include <algorithm>
#include <sstream>

#include "oracle/subject/promises.h"
#include "oracle/subject/reply_words.h"
#include "reference/base/error.h"
#include "reference/base/printable.h"

namespace sextant::oracle {
namespace {

constexpr char kHello[] = "hello";
// A child that answers twice usually does so from its first answer on. After each of its first
// kWatchedAnswers answers, the client waits for kWatch for a second answer.
constexpr uint64_t kWatchedAnswers = 10;
constexpr auto kWatch = std::chrono::milliseconds(5);
constexpr auto kCloseGrace = std::chrono::seconds(1);
constexpr double kLongestLimit = 1e8;  // seconds; longer limits are cut to these three years

// How much of stderr is shown. The cause of a crash often stands before a long backtrace.
struct Size {
  size_t lines, bytes;
};
constexpr Size kFirst = {5, 1000}, kLast = {10, 2000};
constexpr Size kWhole = {kFirst.lines + kLast.lines, kFirst.bytes + kLast.bytes};

std::string_view WithoutLineEnd(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// The first lines of `text`, at most of this size.
std::string_view FirstLines(std::string_view text, Size most) {
  size_t end = 0;
  for (size_t lines = 0; end < text.size() && end < most.bytes; ++end) {
    if (text[end] == '\n' && ++lines == most.lines) break;
  }
  return text.substr(0, end);
}

// The last lines of `text`, at most of this size.
std::string_view LastLines(std::string_view text, Size most) {
  text = WithoutLineEnd(text);
  size_t begin = text.size();
  for (size_t lines = 0; begin > 0 && text.size() - begin < most.bytes; --begin) {
    if (text[begin - 1] == '\n' && ++lines == most.lines) break;
  }
  return text.substr(begin);
}

std::string Number(double value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << value;
  return out.str();
}

Clock::time_point After(double seconds) {
  const std::chrono::duration<double> wait(std::min(seconds, kLongestLimit));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

double CheckedLimit(double seconds, const char* what) {
  if (!(seconds > 0)) throw Error(what, " is ", seconds, " s, expected more than 0");
  return seconds;
}

}  // namespace

Failure::Failure(Cause the_cause, const std::string& the_why, const std::string& the_stderr_lines)
    : std::runtime_error(WithStderr(Marked(the_why), Marked(the_stderr_lines))),
      cause(the_cause),
      why(Marked(the_why)),
      stderr_lines(Marked(the_stderr_lines)) {}

std::string WithStderr(const std::string& why, const std::string& stderr_lines) {
  if (stderr_lines.empty()) return why;
  return why + "\n" + std::string(kMark) + "stderr: " + stderr_lines;
}

struct ExecClient::Request {
  Metadata metadata;
  const Tensors& inputs;
  const std::vector<ExpectedTensor>& expected;
  std::vector<std::string> reply_keys;  // required if the status is ok, beside id and status
  std::vector<std::string> optional_keys = {"message"};
};

struct ExecClient::Answer {
  Reply::Status status = Reply::Status::kOk;
  Metadata metadata;
  Tensors tensors;
};

ExecClient::ExecClient(std::string command, const SubjectLimits& limits, double seconds_for_hello)
    : command_(std::move(command)),
      limits_(CheckedLimit(limits.seconds, "the time limit of a case"), limits.memory),
      seconds_for_hello_(CheckedLimit(seconds_for_hello, "the time limit of hello")) {}

ExecClient::ExecClient(std::string command, const SubjectLimits& limits)
    : ExecClient(std::move(command), limits, std::max<double>(kSecondsForHello, limits.seconds)) {}

ExecClient::~ExecClient() {
  try {
    Close();
  } catch (const Failure&) {
  }
}

const Hello& ExecClient::hello() {
  if (!hello_) Start();
  return *hello_;
}

Reply ExecClient::Ask(const Question& question) {
  if (child_) {
    RequireSilence({});
  } else {
    Start();
  }
  limit_ = limits_.seconds;
  Metadata words = {{"operation", question.operation},
                    {"case", question.case_line},
                    {"dtype", std::string(NameOf(question.dtype))},
                    {"attributes", question.attributes_json},
                    {"outputs", DescribeOutputs(question.expected)}};
  words.insert(question.gaps.begin(), question.gaps.end());
  const Answer answer = Exchange({.metadata = std::move(words),
                                  .inputs = question.inputs,
                                  .expected = question.expected,
                                  .reply_keys = {}});
  Reply reply{
      .status = answer.status, .message = {}, .stderr_lines = {}, .outputs = answer.tensors};
  const auto message = answer.metadata.find("message");
  if (message != answer.metadata.end()) reply.message = Marked(message->second);
  // Reading the answer has also read the stderr output that precedes it.
  if (reply.status == Reply::Status::kError) {
    const std::string_view text = child_->error_text();
    const size_t since = std::min<uint64_t>(child_->error_count(), text.size());
    reply.stderr_lines = ErrorLines(text.substr(text.size() - since));
  }
  return reply;
}

void ExecClient::Close() {
  if (!child_) return;
  std::string surplus;
  child_->CloseAndWait(Clock::now() + kCloseGrace, &surplus);
  if (!surplus.empty()) {
    Fail(Failure::Cause::kProtocol,
         "it wrote " + Quoted(surplus) + " after its answer to " + request_ + ", expected nothing");
  }
  child_.reset();
}

void ExecClient::Start() {
  if (failed_hello_) throw *failed_hello_;
  try {
    hello_ = Greet();
  } catch (const Failure& failure) {
    failed_hello_ = failure;
    throw;
  }
}

// Starts the child and says hello.
Hello ExecClient::Greet() {
  limit_ = seconds_for_hello_;
  try {
    child_ = std::make_unique<ChildProcess>(command_, ProcessLimits(limits_.memory));
    answers_ = 0;
  } catch (const Error& e) {
    Fail(Failure::Cause::kEnded, e.what());
  }
  const Answer answer =
      Exchange({.metadata = {{"operation", kHello}},
                .inputs = {},
                .expected = {},
                .reply_keys = {"sextant", "name", "version", "recipe", "operations"},
                .optional_keys = {"message", "bitwise"}});
  const Metadata& words = answer.metadata;
  if (answer.status != Reply::Status::kOk) {
    const auto message = words.find("message");
    Fail(Failure::Cause::kProtocol,
         "it answers hello with status '" + words.at("status") + "'" +
             (message == words.end() ? "" : ": " + Quoted(message->second, kLast.bytes)));
  }
  try {
    RequireRecipe(words.at("recipe"));
    Hello hello{.name = Marked(words.at("name")),
                .version = Marked(words.at("version")),
                .recipe = words.at("recipe"),
                .operations = ParseList("operations", words.at("operations"))};
    if (words.contains("bitwise")) hello.bitwise = ParseList("bitwise", words.at("bitwise"));
    RequirePromises(hello.bitwise);
    return hello;
  } catch (const Error& e) {
    Fail(Failure::Cause::kProtocol, "bad answer to " + request_ + ": " + e.what());
  }
}

ExecClient::Answer ExecClient::Exchange(const Request& request) {
  Metadata metadata = request.metadata;
  const std::string id = std::to_string(++last_id_);
  request_ = "request " + id + " (" + metadata.at("operation") + ")";
  metadata["sextant"] = kProtocolVersion;
  metadata["id"] = id;
  child_->Send(EncodeSafetensors(metadata, request.inputs));
  const Clock::time_point deadline = After(limit_);
  try {
    Answer answer = ReadAnswer(request, deadline);
    Require(child_->Flush(deadline), "the answer was received");
    RequireSilence(++answers_ <= kWatchedAnswers ? kWatch : kWatch * 0);
    return answer;
  } catch (const Error& e) {
    Fail(Failure::Cause::kProtocol, "bad answer to " + request_ + ": " + e.what());
  }
}

ExecClient::Answer ExecClient::ReadAnswer(const Request& request, Clock::time_point deadline) {
  const std::string prefix = Receive(kPrefixSize, "its first 8 bytes", deadline);
  const size_t size = ParsePrefix(prefix, HeaderLimit(request.expected));
  const SafetensorsHeader header = ParseSafetensorsHeader(Receive(size, "its header", deadline));
  std::vector<std::string> keys = {"id", "status"};
  Answer answer{.status = {}, .metadata = header.metadata, .tensors = {}};
  if (!answer.metadata.contains("status")) CheckKeys(answer.metadata, keys);
  answer.status = ParseStatus(answer.metadata.at("status"));
  const bool ok = answer.status == Reply::Status::kOk;
  if (ok && request.metadata.at("operation") == kHello) RequireVersion(answer.metadata);
  if (ok) keys.insert(keys.end(), request.reply_keys.begin(), request.reply_keys.end());
  CheckKeys(answer.metadata, keys, request.optional_keys);
  const std::string id = std::to_string(last_id_);
  if (answer.metadata.at("id") != id) {
    throw Error("its id is ", Quoted(answer.metadata.at("id")), ", expected '", id,
                "': it answers another request");
  }
  CheckOutputs(header, ok ? request.expected : std::vector<ExpectedTensor>());
  answer.tensors = DecodeBody(header, Receive(header.body_size, "its tensors", deadline));
  return answer;
}

// Reads `size` bytes of the answer; `part` is their name in messages.
std::string ExecClient::Receive(size_t size, const char* part, Clock::time_point deadline) {
  std::string bytes(size, '\0');
  const Event event = child_->Receive(bytes, deadline);
  if (event != Event::kDone) {
    const size_t count = child_->received();
    const bool nothing = count == 0 && size == kPrefixSize;
    const std::string progress = nothing ? "it sent no byte of an answer"
                                         : "received " + std::to_string(count) + " of " +
                                               std::to_string(size) + " bytes of " + part;
    Require(event, progress);
  }
  return bytes;
}

// Fails unless the event is kDone. `progress` says in the message how much was received.
void ExecClient::Require(Event event, const std::string& progress) {
  if (event == Event::kDone) return;
  std::string so_far = progress;
  if (child_->unsent() > 0) {
    so_far += ", " + std::to_string(child_->unsent()) + " bytes of the request were not read";
  }
  if (event == Event::kTimeLimit) {
    Fail(Failure::Cause::kTimeLimit,
         "no complete answer to " + request_ + " within " + Number(limit_) + " s: " + so_far);
  }
  const std::string what = child_->exit()          ? Describe(*child_->exit())
                           : !child_->input_open() ? "closed its standard input"
                                                   : "closed its standard output";
  Fail(Failure::Cause::kEnded,
       "it " + what + " before it had answered " + request_ + ": " + so_far);
}

// Fails if the child writes to stdout within `patience`.
void ExecClient::RequireSilence(std::chrono::milliseconds patience) {
  const std::string waiting = child_->TakeWaiting(patience);
  if (waiting.empty()) return;
  Fail(Failure::Cause::kProtocol, "it wrote " + Quoted(waiting) + " after its answer to " +
                                      request_ + ", expected nothing before the next request");
}

// The last lines of `text`, which ends at the end of stderr. If they do not reach back to the
// request, the first lines since the request stand before them.
std::string ExecClient::ErrorLines(std::string_view text) const {
  const std::string_view whole = LastLines(text, kWhole);
  const uint64_t shown = whole.size() + text.size() - WithoutLineEnd(text).size();
  if (shown >= child_->error_count()) return Marked(whole);
  return Marked(std::string(FirstLines(child_->error_start(), kFirst)) + "\n...\n" +
                std::string(LastLines(text, kLast)));
}

void ExecClient::Fail(Failure::Cause cause, const std::string& why) {
  std::string stderr_lines;
  if (child_) {
    child_->Kill();
    stderr_lines = ErrorLines(child_->error_text());
    child_.reset();
  }
  throw Failure(cause, why, stderr_lines);
}

}  // namespace sextant::oracle
