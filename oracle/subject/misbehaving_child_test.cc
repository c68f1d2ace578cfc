// Children that violate the protocol, hang, crash, or leave daemons behind.
#include "oracle/subject/misbehaving_child_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include "oracle/subject/exec_client.h"
#include "reference/base/error.h"

namespace sextant::oracle {
namespace {

using Cause = Failure::Cause;
using testing::HasSubstr;

Failure FailureOf(ExecClient& client, const Question& question = AskForY()) {
  try {
    client.Ask(question);
  } catch (const Failure& failure) {
    return failure;
  }
  ADD_FAILURE() << "no failure";
  return {Cause::kEnded, "", ""};
}

// The Failure of a program that answers hello and then runs `body` with the request's metadata
// `words`.
Failure FailureAfterHello(const std::string& body, double seconds = kPatient) {
  ExecClient client(Program("hello()\nwords = read()\n" + body), seconds);
  return FailureOf(client);
}

using Numbers = std::vector<double>;

TEST(SlowMisbehavingChild, ReportsACrashAndStartsAgain) {
  ExecClient client(Program(R"(
hello()
say(good(read(), os.getpid()))
read()
print('segment\x1b[2J 7\nis broken', file=sys.stderr, flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
)"),
                    kPatient);
  const Numbers first = AnswerOf(client);
  const Failure failure = FailureOf(client);
  EXPECT_EQ(failure.cause, Cause::kEnded);
  EXPECT_THAT(failure.why, HasSubstr("was killed by SIGSEGV (Segmentation fault) before it had "
                                     "answered request 3 (op)"));
  EXPECT_EQ(failure.stderr_lines, "segment?[2J 7\n| is broken");
  EXPECT_NE(AnswerOf(client), first);  // another process
}

TEST(MisbehavingChild, StartsACommandThatFailsInHelloOnlyOnce) {
  const std::string mark = FreshFile(".starts");
  ExecClient client("echo x >> " + mark + "; echo sorry >&2; no_such_command_of_ours", kPatient);
  const Failure first = FailureOf(client), second = FailureOf(client);
  EXPECT_EQ(first.cause, Cause::kEnded);
  EXPECT_THAT(first.why, HasSubstr("status 127 (shell: command not found) before it had answered "
                                   "request 1 (hello)"));
  EXPECT_THAT(first.stderr_lines, HasSubstr("sorry\n| sh: 1: no_such_command_of_ours: not found"));
  EXPECT_EQ(second.why, first.why);
  EXPECT_THROW(client.hello(), Failure);
  EXPECT_EQ(std::filesystem::file_size(mark), 2u);  // it was started once
}

TEST(SlowMisbehavingChild, EnforcesTheTimeLimitOfACase) {
  const std::string body = "hello()\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nread()\n";
  ExecClient client(Program(body + "time.sleep(50)"), kShort);
  client.hello();
  const auto start = Clock::now();
  const Failure failure = FailureOf(client);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(failure.cause, Cause::kTimeLimit);
  EXPECT_EQ(failure.why,
            "no complete answer to request 2 (op) within 0.1 s: it sent no byte of an answer");
}

TEST(MisbehavingChild, EnforcesTheTimeLimitOfHello) {
  ExecClient client("sleep 50", kPatient, 0.02);
  EXPECT_THAT(FailureOf(client).why, HasSubstr("request 1 (hello) within 0.02 s"));
  EXPECT_THROW(ExecClient("cat", 0), Error);
  EXPECT_THROW(ExecClient("cat", std::nan("")), Error);
}

TEST(SlowMisbehavingChild, DiscardsALateAnswer) {
  const std::string mark = FreshFile(".late");
  ExecClient client(Program(R"(
hello()
words = read()
if not os.path.exists(')" + mark +
                            R"('):
    open(')" + mark + R"(', 'w')
    time.sleep(0.6)
    say(good(words, 666))
say(good(words, 1))
)"),
                    0.5);
  EXPECT_EQ(FailureOf(client).cause, Cause::kTimeLimit);
  EXPECT_EQ(AnswerOf(client), (Numbers{1, 2}));
}

TEST(SlowMisbehavingChild, RefusesASecondAnswer) {
  const Failure failure = FailureAfterHello("say(good(words) + b'more')");
  EXPECT_EQ(failure.cause, Cause::kProtocol);
  EXPECT_THAT(failure.why, HasSubstr("it wrote 'more' after its answer to request 2 (op)"));
}

TEST(SlowMisbehavingChild, RefusesASecondAnswerSentLater) {
  const std::string mark = FreshFile(".said");
  ExecClient client(Program("hello()\nw = read()\nsay(good(w))\ntime.sleep(0.05)\nsay(good(w))\n"
                            "open('" +
                            mark + "', 'w')\nsay(good(read()))"),
                    kPatient);
  EXPECT_EQ(AnswerOf(client), (Numbers{1, 2}));
  while (!std::filesystem::exists(mark)) usleep(1000);
  const Failure later = FailureOf(client);
  EXPECT_EQ(later.cause, Cause::kProtocol);
  EXPECT_THAT(later.why, HasSubstr("after its answer to request 2 (op)"));
}

TEST(SlowMisbehavingChild, RefusesASecondAnswerToTheLastQuestion) {
  ExecClient client(
      Program("hello()\nw = read()\nsay(good(w))\ntime.sleep(0.05)\nsay(b'more')\nread()"),
      kPatient);
  EXPECT_EQ(AnswerOf(client), (Numbers{1, 2}));
  EXPECT_THROW(client.Close(), Failure);
}

TEST(SlowMisbehavingChild, RefusesBadMetadata) {
  const auto why = [](const std::string& words, const std::string& more = "") {
    const Failure failure = FailureAfterHello("say(message(" + words + more + "))");
    EXPECT_EQ(failure.cause, Cause::kProtocol);
    return failure.why;
  };
  EXPECT_EQ(
      why("{'id': '1', 'status': 'ok'}", ", bytes(8), y=tensor()"),
      "bad answer to request 2 (op): its id is '1', expected '2': it answers another request");
  EXPECT_THAT(why("{'id': '2'}"), HasSubstr("no 'status', expected: id status"));
  EXPECT_THAT(why("{'status': 'ok'}"), HasSubstr("no 'id'"));
  EXPECT_THAT(why("{'id': '2', 'status': 'OK'}"),
              HasSubstr("expected one of: ok unsupported error"));
  EXPECT_THAT(why("{'id': '2', 'status': 'error', 'mesage': 'x'}"), HasSubstr("key 'mesage'"));
  EXPECT_THAT(why("{'id': '2', 'status': 'error'}", ", bytes(8), y=tensor()"),
              HasSubstr("unknown output 'y', expected: none"));
}

TEST(SlowMisbehavingChild, RefusesBadOutputs) {
  const auto why = [](const std::string& tensors) {
    return FailureAfterHello("say(message({'id': '2', 'status': 'ok'}, bytes(8), " + tensors + "))")
        .why;
  };
  EXPECT_EQ(why("y=tensor('F64', [1])"),
            "bad answer to request 2 (op): output y:f64[1], expected y:f32[2]");
  EXPECT_THAT(why("y=tensor('F32', [2, 1])"), HasSubstr("output y:f32[2,1], expected y:f32[2]"));
  EXPECT_THAT(why("z=tensor()"), HasSubstr("unknown output 'z', expected: y:f32[2]"));
  EXPECT_THAT(why("**{}"), HasSubstr("output 'y' is missing"));
  EXPECT_THAT(why("y=tensor('F32', [2**57], 2**59)"), HasSubstr("expected y:f32[2]"));
  EXPECT_THAT(why("y=tensor('F32', [2**60], 2**62)"), HasSubstr("does not fit into memory"));
}

TEST(SlowMisbehavingChild, RefusesBytesThatAreNoMessage) {
  EXPECT_THAT(FailureAfterHello("print('Loading model')\nsys.stdout.flush()\nread()").why,
              HasSubstr("begins with the text 'Loading '"));
  EXPECT_THAT(FailureAfterHello("say(struct.pack('<Q', 2**60))\nread()").why,
              HasSubstr("claims 1152921504606846976 bytes"));
  EXPECT_THAT(FailureAfterHello("say(struct.pack('<Q', 70000) + b'{' * 70000)\nread()").why,
              HasSubstr("claims 70000 bytes"));
  EXPECT_THAT(FailureAfterHello("say(struct.pack('<Q', 60000) + b'[' * 60000)\nread()").why,
              HasSubstr("nested deeper"));
  EXPECT_THAT(FailureAfterHello("say(struct.pack('<Q', 2) + b'\\xff\\xfe')\nread()").why,
              HasSubstr("not JSON"));
}

TEST(SlowMisbehavingChild, RefusesABadHello) {
  const auto why = [](const std::string& words) {
    ExecClient client(Program("hello(" + words + ")"), kPatient);
    return FailureOf(client).why;
  };
  EXPECT_THAT(why("operations='op'"), HasSubstr("expected a JSON list of texts"));
  EXPECT_THAT(why("operations='[1]'"), HasSubstr("expected a JSON list of texts"));
  EXPECT_THAT(why("colour='red'"), HasSubstr("unknown key 'colour'"));
  ExecClient client(
      Program("say(message({'id': read()['id'], 'status': 'error', 'message': 'no'}))"), kPatient);
  EXPECT_EQ(FailureOf(client).why, "it answers hello with status 'error': 'no'");
}

TEST(SlowMisbehavingChild, RefusesOtherVersionsOfTheProtocol) {
  ExecClient first(Program(R"(
say(message({'id': read()['id'], 'status': 'ok', 'name': 'child', 'version': '0.1',
             'recipe': 'native', 'operations': '["op"]'}))
)"),
                   kPatient);
  EXPECT_EQ(FailureOf(first).why,
            "bad answer to request 1 (hello): its answer to hello has no 'sextant', the version of "
            "the protocol: it speaks version 1, expected version 2");
  ExecClient third(Program("hello(sextant='3')"), kPatient);
  EXPECT_THAT(FailureOf(third).why,
              HasSubstr("it speaks version '3' of the protocol, expected version '2'"));
}

TEST(SlowMisbehavingChild, ReportsAnIncompleteAnswer) {
  const Failure ended = FailureAfterHello("say(good(words)[:-3])");
  EXPECT_EQ(ended.cause, Cause::kEnded);
  EXPECT_THAT(ended.why,
              HasSubstr("exited with status 0 before it had answered request 2 (op): received 5 "
                        "of 8 bytes of its tensors"));
  const Failure hung = FailureAfterHello("say(good(words)[:12])\nread()", kShort);
  EXPECT_EQ(hung.cause, Cause::kTimeLimit);
  EXPECT_THAT(hung.why, HasSubstr("bytes of its header"));
}

TEST(SlowMisbehavingChild, ReportsClosedPipes) {
  EXPECT_THAT(FailureAfterHello("os.close(1)\ntime.sleep(50)").why,
              HasSubstr("it closed its standard output before it had answered"));
  ExecClient client(Program("hello()\nos.close(0)\ntime.sleep(50)"), kPatient);
  EXPECT_THAT(FailureOf(client, AskForY(1 << 20)).why,
              HasSubstr("it closed its standard input before it had answered"));
}

TEST(SlowMisbehavingChild, SendsMegabytesToAChildThatWritesMegabytesToStderr) {
  ExecClient client(Program(R"(
hello()
for i in range(10000): os.write(2, b'e' * 1000 + b'\n')
say(good(read()))
os.write(2, b'the end')
read()
sys.exit(3)
)"),
                    kPatient);
  EXPECT_EQ(client.Ask(AskForY(2'500'000)).outputs[0].values.data, (Numbers{1, 2}));
  const std::string stderr_lines = FailureOf(client).stderr_lines;
  EXPECT_TRUE(stderr_lines.ends_with("e\n| the end"));
  const auto marks = std::ranges::count(stderr_lines, '\n') * 2;  // bytes
  EXPECT_LE(stderr_lines.size(), 3000u + static_cast<size_t>(marks));
}

// Writes a warning of the import, and after the question a panic and its backtrace.
std::string Panics(int frames, const std::string& end) {
  return Program(
      "print('a warning', file=sys.stderr, flush=True)\nhello()\nid = read()['id']\n"
      "print('panicked', *range(" +
      std::to_string(frames) + "), sep='\\n', file=sys.stderr, flush=True)\n" + end);
}

TEST(SlowMisbehavingChild, ShowsTheBeginningAndTheEndOfALongStderr) {
  const std::string error = "say(message({'id': id, 'status': 'error'}))\nread()";
  const std::string shown =
      "panicked\n| 0\n| 1\n| 2\n| 3\n| ...\n| 99990\n| 99991\n| 99992\n| 99993\n| 99994\n| "
      "99995\n| "
      "99996\n| 99997\n| 99998\n| 99999";
  ExecClient crashes(Panics(100000, "os.abort()"), kPatient),
      fails(Panics(100000, error), kPatient);
  EXPECT_EQ(FailureOf(crashes).stderr_lines, shown);
  EXPECT_EQ(fails.Ask(AskForY()).stderr_lines, shown);
  ExecClient crashes_soon(Panics(3, "os.abort()"), kPatient),
      fails_soon(Panics(3, error), kPatient);
  EXPECT_EQ(FailureOf(crashes_soon).stderr_lines, "a warning\n| panicked\n| 0\n| 1\n| 2");
  EXPECT_EQ(fails_soon.Ask(AskForY()).stderr_lines, "panicked\n| 0\n| 1\n| 2");
}

TEST(SlowMisbehavingChild, ReportsAChildThatDoesNotReadItsRequest) {
  ExecClient silent(Program("hello()\ntime.sleep(50)"), kShort);
  EXPECT_THAT(FailureOf(silent, AskForY(2'500'000)).why,
              HasSubstr("bytes of the request were not read"));
  ExecClient early(Program("hello()\nos.read(0, 8)\nsay(good({'id': '2'}))\ntime.sleep(50)"),
                   kShort);
  EXPECT_THAT(FailureOf(early, AskForY(2'500'000)).why, HasSubstr("the answer was received, "));
}

TEST(SlowMisbehavingChild, LeavesNoDaemonBehindAfterAFailure) {
  ExecClient client(Program(R"(
hello()
read()
daemon = subprocess.Popen(['/bin/sh', '-c', 'trap "" TERM HUP; while :; do sleep 50; done'],
                          start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
print(daemon.pid, file=sys.stderr, flush=True)
time.sleep(50)
)"),
                    0.5);
  const std::string pid = FailureOf(client).stderr_lines;
  ASSERT_FALSE(pid.empty());
  EXPECT_EQ(kill(std::stoi(pid), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace sextant::oracle
