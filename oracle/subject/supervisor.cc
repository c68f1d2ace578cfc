#include "oracle/subject/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sextant::oracle {
namespace {

constexpr int kOrders = 3, kReports = 4;  // descriptors of the supervisor
constexpr int kKillRounds = 5000;         // rounds of 1 ms; then a process is considered unkillable
constexpr int kBlindRounds = 100;         // rounds without a list of children: the group only

// Replaces this process by the command. Resets ignored signals and the signal mask, which exec
// would keep.
[[noreturn]] void RunCommand(const char* command, pid_t supervisor, const ProcessLimits& limits) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(1);  // the supervisor ended before the prctl above
  closefrom(STDERR_FILENO + 1);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  limits.Set();
  execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  _exit(127);
}

// Moves the five descriptors to 0..4 and closes all others. If pipes of other clients stayed open
// here, their children would never see the end of their input.
bool MoveDescriptors(const SupervisorPipes& pipes) {
  int wanted[] = {pipes.input, pipes.output, pipes.error, pipes.orders, pipes.reports};
  constexpr int kCount = 5;
  for (int& fd : wanted) {
    fd = fcntl(fd, F_DUPFD, kCount);  // a copy at kCount or above
    if (fd < 0) return false;
  }
  for (int i = 0; i < kCount; ++i) {
    if (dup2(wanted[i], i) < 0) return false;
  }
  closefrom(kCount);
  return true;
}

// True if the command has ended. Leaves it a zombie, so its process group id stays valid.
bool HasEnded(pid_t command, Exit* how) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(command), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != command) {
    return false;
  }
  if (info.si_code == CLD_EXITED) {
    *how = {.signal = 0, .status = info.si_status};
  } else {
    *how = {.signal = info.si_status, .status = 0};
  }
  return true;
}

void ReapOrphans(pid_t command) {
  siginfo_t info{};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
         info.si_pid != command) {
    waitpid(info.si_pid, nullptr, WNOHANG);
    info = {};
  }
}

// Waits for an order to stop or the end of the command. Writes a report if the command has ended.
void Watch(pid_t command, int children) {
  pollfd watched[] = {{.fd = kOrders, .events = POLLIN, .revents = 0},
                      {.fd = children, .events = POLLIN, .revents = 0}};
  Exit how;
  while (poll(watched, 2, -1) < 0 || watched[0].revents == 0) {
    signalfd_siginfo taken;
    if (read(children, &taken, sizeof taken) < 0) continue;
    if (HasEnded(command, &how)) {
      [[maybe_unused]] const ssize_t written = write(kReports, &how, sizeof how);
      return;
    }
    ReapOrphans(command);
  }
}

// Sends SIGKILL to all children of the supervisor. Every descendant becomes a child when its parent
// is dead. Returns false if the list of children cannot be read.
bool KillChildren() {
  const int list = open(kChildrenList, O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  char text[4096];  // a longer list is truncated; the next round reads the rest
  const ssize_t length = read(list, text, sizeof text);
  pid_t number = 0;
  for (ssize_t i = 0; i < length; ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      number = number * 10 + (text[i] - '0');
      continue;
    }
    if (number > 1) kill(number, SIGKILL);
    number = 0;
  }
  close(list);
  return true;
}

void KillDescendants(pid_t command) {
  kill(-command, SIGKILL);  // the whole process group
  for (int round = 0; round < kKillRounds; ++round) {
    const bool known = KillChildren();
    pid_t reaped;
    do {
      reaped = waitpid(-1, nullptr, WNOHANG);
    } while (reaped > 0);
    if (reaped < 0) return;  // no children are left
    if (!known && round == kBlindRounds) return;
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

// Stays behind the supervisor: if the subject kills that, its processes are children of this one,
// which kills them. (A subject that kills both is stopped by nothing but a sandbox.)
[[noreturn]] void StayBehind(pid_t supervisor) {
  closefrom(0);
  int status = 0;
  while (waitpid(supervisor, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) KillDescendants(supervisor);
  _exit(0);
}

}  // namespace

std::string LimitOfSupervisor(const char* list) {
  const int file = open(list, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    close(file);
    return "";
  }
  return std::string(list) + " cannot be read (" + std::strerror(errno) +
         "): processes that the subject starts in sessions of their own may outlive it";
}

void RunSupervisor(const char* command, SupervisorPipes pipes, const ProcessLimits& limits) {
  setsid();                  // no signals from the terminal
  signal(SIGCHLD, SIG_DFL);  // if it were ignored, no exit status would be available
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) _exit(1);
  const pid_t supervisor = _Fork();
  if (supervisor < 0) _exit(1);
  if (supervisor > 0) StayBehind(supervisor);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || !MoveDescriptors(pipes)) _exit(1);
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  const int children = signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK);
  const pid_t self = getpid();
  const pid_t child = children < 0 ? -1 : _Fork();
  if (child == 0) RunCommand(command, self, limits);
  if (child < 0) _exit(1);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
  Watch(child, children);
  KillDescendants(child);
  _exit(0);
}

}  // namespace sextant::oracle
