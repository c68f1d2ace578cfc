#include "oracle/subject/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "oracle/subject/misbehaving_child_test.h"

namespace sextant::oracle {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

Clock::time_point In(Clock::duration wait) { return Clock::now() + wait; }

// Waits until a command has written `count` process ids to a file, and returns them.
std::vector<pid_t> PidsIn(const std::string& path, size_t count) {
  for (const auto deadline = In(seconds(20)); Clock::now() < deadline;) {
    std::ifstream in(path);
    std::vector<pid_t> pids;
    for (pid_t pid; in >> pid;) pids.push_back(pid);
    if (pids.size() >= count && std::filesystem::exists(path)) return pids;
    std::this_thread::sleep_for(milliseconds(1));
  }
  ADD_FAILURE() << "no process ids in " << path;
  return {};
}

// Neither running nor a zombie.
bool IsGone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

void ExpectAllGone(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) EXPECT_TRUE(IsGone(pid)) << pid;
}

std::string EndOf(const std::string& command) {
  ChildProcess child(command);
  char byte;
  EXPECT_EQ(child.Receive({&byte, 1}, In(seconds(20))), Event::kEnded);
  return child.exit() ? Describe(*child.exit()) : "still runs";
}

TEST(ChildProcess, CarriesBytesBothWays) {
  ChildProcess child("cat");
  child.Send("seven\n");
  std::string echo(6, '\0');
  EXPECT_EQ(child.Receive(echo, In(seconds(20))), Event::kDone);
  EXPECT_EQ(echo, "seven\n");
  EXPECT_FALSE(child.exit());
}

// A pipe buffers 64 KiB. A client that writes everything before it reads would deadlock.
TEST(ChildProcess, DoesNotDeadlockWhenBothSidesWriteMegabytes) {
  ChildProcess child("cat");
  const std::string sent(size_t{4} << 20, 's');
  child.Send(sent);
  std::string echo(sent.size(), '\0');
  EXPECT_EQ(child.Receive(echo, In(seconds(20))), Event::kDone);
  EXPECT_EQ(echo, sent);
  EXPECT_EQ(child.unsent(), 0u);
}

TEST(ChildProcess, ReceiveReadsNoByteMore) {
  ChildProcess child("printf abcdef; exec cat");
  std::string bytes(2, '\0');
  EXPECT_EQ(child.Receive(bytes, In(seconds(20))), Event::kDone);
  EXPECT_EQ(bytes, "ab");
  EXPECT_EQ(child.TakeWaiting(milliseconds(0)), "cdef");
  EXPECT_EQ(child.TakeWaiting(milliseconds(1)), "");
}

TEST(ChildProcess, DescribesHowACommandEnded) {
  EXPECT_EQ(EndOf("exit 3"), "exited with status 3");
  EXPECT_EQ(EndOf("kill -SEGV $$"), "was killed by SIGSEGV (Segmentation fault)");
  EXPECT_THAT(EndOf("no_such_command_of_ours"), HasSubstr("status 127 (shell: command"));
  EXPECT_THAT(EndOf("sh -c 'kill -ABRT $$'; exit $?"), HasSubstr("134 (shell: killed by SIGABRT"));
}

TEST(ChildProcess, ReceivesBytesWrittenBeforeTheEndOfTheCommand) {
  ChildProcess child("printf last");
  std::string bytes(5, '\0');
  EXPECT_EQ(child.Receive(bytes, In(seconds(20))), Event::kEnded);
  EXPECT_EQ(child.received(), 4u);
  EXPECT_EQ(bytes.substr(0, 4), "last");
}

TEST(ChildProcess, WaitsNoLongerThanItsDeadline) {
  const auto start = Clock::now();
  const std::string pids = FreshFile(".pids");
  {
    ChildProcess child("trap '' TERM INT HUP; echo $$ > " + pids + "; while :; do sleep 50; done");
    PidsIn(pids, 1);
    char byte;
    EXPECT_EQ(child.Receive({&byte, 1}, In(milliseconds(20))), Event::kTimeLimit);
  }
  ExpectAllGone(PidsIn(pids, 1));
  EXPECT_LT(Clock::now() - start, seconds(10));
}

TEST(ChildProcess, ResetsSignalMaskAndIgnoredSignals) {
  // exec keeps blocked and ignored signals.
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto handler = signal(SIGTERM, SIG_IGN);
  EXPECT_EQ(EndOf("kill -TERM $$; exit 5"), "was killed by SIGTERM (Terminated)");
  signal(SIGTERM, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The grandchild has its own session and its parent has ended, so neither the process group nor
// parent process ids lead from the command to it.
TEST(ChildProcess, LeavesNoDaemonBehindWhenKilled) {
  const std::string pids = FreshFile(".pids");
  ChildProcess child("(setsid sh -c 'trap \"\" TERM HUP; echo $$ >> " + pids +
                     "; while :; do sleep 50; done' &); cat");
  const std::vector<pid_t> daemon = PidsIn(pids, 1);
  child.Kill();
  ExpectAllGone(daemon);
}

TEST(ChildProcess, LeavesNoDaemonBehindWhenTheCommandEnds) {
  const std::string pids = FreshFile(".pids");
  ChildProcess child("(setsid sh -c 'echo $$ >> " + pids + "; exec sleep 50' &); read line");
  const std::vector<pid_t> daemon = PidsIn(pids, 1);
  std::string surplus;
  EXPECT_EQ(child.CloseAndWait(In(seconds(20)), &surplus), Event::kDone);
  child.Kill();
  ExpectAllGone(daemon);
}

TEST(ChildProcess, LeavesNoDaemonBehindWhenTheCommandKillsItsSupervisor) {
  const std::string pids = FreshFile(".pids");
  ChildProcess child("echo $$ >> " + pids + "; (setsid sh -c 'echo $$ >> " + pids +
                     "; exec sleep 50' &); (sh -c 'echo $$ >> " + pids +
                     "; exec sleep 50' &); while [ $(wc -l < " + pids +
                     ") -lt 3 ]; do sleep 0.01; done; kill -9 $PPID; exec sleep 50");
  const std::vector<pid_t> left = PidsIn(pids, 3);
  const auto are_gone = [&] { return std::ranges::all_of(left, IsGone); };
  for (const auto deadline = In(seconds(20)); Clock::now() < deadline && !are_gone();)
    std::this_thread::sleep_for(milliseconds(1));
  ExpectAllGone(left);
}

TEST(ChildProcess, LeavesNoDaemonBehindWhenOurProgramIsKilled) {
  const std::string pids = FreshFile(".pids");
  const pid_t program = fork();
  if (program == 0) {
    ChildProcess child("echo $$ >> " + pids + "; (setsid sh -c 'echo $$ >> " + pids +
                       "; exec sleep 50' &); exec sleep 50");
    pause();
    _exit(0);
  }
  const std::vector<pid_t> left = PidsIn(pids, 2);
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  for (const auto deadline = In(seconds(20)); Clock::now() < deadline;) {
    if (IsGone(left[0]) && IsGone(left[1])) break;
    std::this_thread::sleep_for(milliseconds(1));
  }
  ExpectAllGone(left);
}

// The list of the supervisor's children is longer than its buffer.
TEST(SlowChildProcess, LeavesNoneOfManyDaemonsBehind) {
  const std::string pids = FreshFile(".pids");
  ChildProcess child("for i in $(seq 700); do (sleep 100 & echo $! >> " + pids + "); done; cat");
  const std::vector<pid_t> daemons = PidsIn(pids, 700);
  child.Kill();
  ExpectAllGone(daemons);
}

TEST(Supervisor, ReportsMissingListOfChildren) {
  EXPECT_EQ(LimitOfSupervisor(), "");
  EXPECT_EQ(LimitOfSupervisor("/nowhere/children"),
            "/nowhere/children cannot be read (No such file or directory): processes that the "
            "subject starts in sessions of their own may outlive it");
}

TEST(ChildProcess, KeepsTheEndOfStderr) {
  ChildProcess child(
      "head -c 1000000 /dev/zero | tr '\\0' e >&2; printf '\\nlast line' >&2; exit 1");
  char byte;
  EXPECT_EQ(child.Receive({&byte, 1}, In(seconds(20))), Event::kEnded);
  child.Kill();
  EXPECT_EQ(child.error_text().size(), size_t{64} << 10);
  EXPECT_TRUE(child.error_text().ends_with("e\nlast line"));
}

TEST(ChildProcess, SurvivesABrokenPipeWithoutChangingSignalHandlers) {
  struct sigaction before {
  }, after{};
  sigaction(SIGPIPE, nullptr, &before);
  ASSERT_EQ(before.sa_handler, SIG_DFL) << "precondition of this test";
  ChildProcess child("exit 0");
  child.Send(std::string(1 << 20, 'x'));
  EXPECT_EQ(child.Flush(In(seconds(20))), Event::kEnded);
  EXPECT_FALSE(child.input_open());
  sigaction(SIGPIPE, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

// If a later child inherited a pipe of an earlier one, the earlier child's stdin would stay open.
TEST(ChildProcess, SeesItsEndOfInputWhileOthersRun) {
  ChildProcess first("cat; exit 7"), second("cat; exit 8"), third("cat");
  std::string surplus;
  EXPECT_EQ(second.CloseAndWait(In(seconds(20)), &surplus), Event::kDone);
  EXPECT_EQ(first.CloseAndWait(In(seconds(20)), &surplus), Event::kDone);
  ASSERT_TRUE(first.exit() && second.exit());
  EXPECT_EQ(first.exit()->status, 7);
  EXPECT_EQ(second.exit()->status, 8);
}

// Descriptor 3 is the directory that ls reads.
TEST(ChildProcess, CommandInheritsOnlyItsThreePipes) {
  ChildProcess child("ls /proc/self/fd");
  std::string surplus;
  EXPECT_EQ(child.CloseAndWait(In(seconds(20)), &surplus), Event::kDone);
  EXPECT_EQ(surplus, "0\n1\n2\n3\n");
}

TEST(ChildProcess, LeaveReturnsOutputWrittenAfterTheEndOfInput) {
  ChildProcess child("cat; head -c 100000 /dev/zero | tr '\\0' z");
  std::string surplus;
  EXPECT_EQ(child.CloseAndWait(In(seconds(20)), &surplus), Event::kDone);
  EXPECT_EQ(surplus, std::string(64, 'z'));
}

}  // namespace
}  // namespace sextant::oracle
