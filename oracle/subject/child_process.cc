#include "oracle/subject/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "reference/base/error.h"
#include "reference/base/signal_name.h"

namespace sextant::oracle {
namespace {

constexpr size_t kErrorTextKept = 64 << 10, kErrorStartKept = 4 << 10;
constexpr size_t kWaitingShown = 64;
// The kernel closes the pipes of a process before it reports its end. This is the time to wait for
// the report.
constexpr auto kExitReportDelay = std::chrono::seconds(1);
constexpr auto kKillGrace = std::chrono::seconds(6);  // the supervisor itself gives up after 5

// Sets the signal mask of this thread while the object lives.
class SignalMask {
 public:
  SignalMask(int how, const sigset_t& set) { pthread_sigmask(how, &set, &before_); }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

 private:
  sigset_t before_;
};

sigset_t SetOf(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

// write() that hides SIGPIPE from the program: pipes do not support MSG_NOSIGNAL.
ssize_t WriteQuietly(int fd, const char* bytes, size_t count) {
  const sigset_t broken_pipe = SetOf(SIGPIPE);
  sigset_t pending;
  sigpending(&pending);
  const SignalMask mask(SIG_BLOCK, broken_pipe);
  const ssize_t written = write(fd, bytes, count);
  const int error = errno;
  if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
    const timespec at_once{};
    sigtimedwait(&broken_pipe, nullptr, &at_once);
  }
  errno = error;
  return written;
}

bool IsTransient(int error) { return error == EAGAIN || error == EINTR; }

void SetNonBlocking(const Descriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

// For poll(): milliseconds, rounded up to avoid busy waiting in the last millisecond.
int MillisecondsTo(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000));
}

}  // namespace

std::string Describe(const Exit& exit) {
  if (exit.signal != 0) return "was killed by " + SignalName(exit.signal);
  std::string text = "exited with status " + std::to_string(exit.status);
  if (exit.status == 126) return text + " (shell: cannot be executed)";
  if (exit.status == 127) return text + " (shell: command not found)";
  if (exit.status > 128 && exit.status < 128 + NSIG) {
    return text + " (shell: killed by " + SignalName(exit.status - 128) + ")";
  }
  return text;
}

ChildProcess::ChildProcess(const std::string& command, const ProcessLimits& limits) {
  Pipe in, out, err, orders, reports;
  {
    sigset_t all;
    sigfillset(&all);
    const SignalMask mask(SIG_SETMASK, all);  // the program's handlers do not run in the supervisor
    supervisor_ = fork();
    if (supervisor_ == 0) {
      RunSupervisor(command.c_str(),
                    {.input = in.read.get(),
                     .output = out.write.get(),
                     .error = err.write.get(),
                     .orders = orders.read.get(),
                     .reports = reports.write.get()},
                    limits);
    }
  }
  if (supervisor_ < 0) throw Error("cannot start a process: ", std::strerror(errno));
  input_ = std::move(in.write);
  output_ = std::move(out.read);
  error_ = std::move(err.read);
  orders_ = std::move(orders.write);
  reports_ = std::move(reports.read);
  for (const Descriptor* pipe : {&input_, &output_, &error_, &reports_}) SetNonBlocking(*pipe);
}

void ChildProcess::Send(std::string bytes) {
  assert(unsent() == 0 && "the previous message must be sent completely");
  unsent_ = std::move(bytes);
  sent_ = 0;
  error_start_.clear();
  error_count_ = 0;
}

Event ChildProcess::Receive(std::span<char> bytes, Clock::time_point deadline) {
  wanted_ = bytes;
  received_ = 0;
  while (received_ < wanted_.size()) {
    if (!output_.open() || !input_.open()) return AwaitExit(deadline);
    if (!Pump(deadline)) return Event::kTimeLimit;
  }
  wanted_ = {};
  return Event::kDone;
}

Event ChildProcess::Flush(Clock::time_point deadline) {
  wanted_ = {};
  while (unsent() > 0) {
    if (!input_.open()) return AwaitExit(deadline);
    if (!Pump(deadline)) return Event::kTimeLimit;
  }
  return Event::kDone;
}

std::string ChildProcess::TakeWaiting(std::chrono::milliseconds patience) {
  if (!output_.open()) return "";
  pollfd output{.fd = output_.get(), .events = POLLIN, .revents = 0};
  poll(&output, 1, static_cast<int>(patience.count()));
  std::string waiting(kWaitingShown, '\0');
  const ssize_t count = read(output_.get(), waiting.data(), waiting.size());
  waiting.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return waiting;
}

Event ChildProcess::CloseAndWait(Clock::time_point deadline, std::string* surplus) {
  input_.Close();
  unsent_.clear();
  sent_ = 0;
  std::array<char, 4096> rest;
  while (output_.open() || (!exit_ && reports_.open())) {
    wanted_ = rest;
    received_ = 0;
    const bool in_time = Pump(deadline);
    surplus->append(rest.data(), std::min(received_, kWaitingShown - surplus->size()));
    if (!in_time) return Event::kTimeLimit;
  }
  return Event::kDone;
}

void ChildProcess::Kill() {
  if (supervisor_ < 0) return;
  wanted_ = {};
  input_.Close();
  output_.Close();
  WriteQuietly(orders_.get(), "x", 1);
  orders_.Close();
  const Clock::time_point deadline = Clock::now() + kKillGrace;
  while (reports_.open() && Pump(deadline)) {
  }
  const bool gone = !reports_.open();
  ReadError();  // bytes still in the pipe
  error_.Close();
  waitpid(supervisor_, nullptr, gone ? 0 : WNOHANG);
  supervisor_ = -1;
}

// Waits until any pipe is ready and serves all ready pipes. Returns false after the deadline.
bool ChildProcess::Pump(Clock::time_point deadline) {
  const bool reading = received_ < wanted_.size();
  pollfd watched[] = {
      {.fd = unsent() > 0 ? input_.get() : -1, .events = POLLOUT, .revents = 0},
      {.fd = reading ? output_.get() : -1, .events = POLLIN, .revents = 0},
      {.fd = error_.get(), .events = POLLIN, .revents = 0},
      {.fd = reports_.get(), .events = POLLIN, .revents = 0},
  };
  if (Clock::now() >= deadline) return false;
  if (poll(watched, std::size(watched), MillisecondsTo(deadline)) <= 0) return true;
  if (watched[0].revents != 0) WriteInput();
  if (watched[1].revents != 0) ReadOutput();
  if (watched[2].revents != 0) ReadError();
  if (watched[3].revents != 0) ReadReport();
  return true;
}

void ChildProcess::WriteInput() {
  const ssize_t count = WriteQuietly(input_.get(), unsent_.data() + sent_, unsent());
  if (count >= 0) {
    sent_ += static_cast<size_t>(count);
  } else if (!IsTransient(errno)) {
    input_.Close();
  }
}

void ChildProcess::ReadOutput() {
  const ssize_t count = read(output_.get(), wanted_.data() + received_, wanted_.size() - received_);
  if (count > 0) {
    received_ += static_cast<size_t>(count);
  } else if (count == 0 || !IsTransient(errno)) {
    output_.Close();
  }
}

// Reads at most 1 MiB, so a command that writes to stderr without end cannot block the caller.
void ChildProcess::ReadError() {
  std::array<char, 64 << 10> block;
  for (int i = 0; i < 16 && error_.open(); ++i) {
    const ssize_t count = read(error_.get(), block.data(), block.size());
    if (count < 0 && IsTransient(errno)) break;
    if (count <= 0) {
      error_.Close();
    } else {
      const std::string_view bytes(block.data(), static_cast<size_t>(count));
      error_count_ += bytes.size();
      error_start_ += bytes.substr(0, kErrorStartKept - error_start_.size());
      error_text_ += bytes;
      error_text_.erase(0, error_text_.size() - std::min(error_text_.size(), kErrorTextKept));
    }
  }
}

void ChildProcess::ReadReport() {
  Exit exit;
  const ssize_t count = read(reports_.get(), &exit, sizeof exit);
  if (count == sizeof exit) {
    exit_ = exit;
  } else if (count >= 0 || !IsTransient(errno)) {
    reports_.Close();
  }
}

// A pipe is closed: waits a moment for the report that the command has ended.
Event ChildProcess::AwaitExit(Clock::time_point deadline) {
  wanted_ = {};
  const Clock::time_point until = std::min(deadline, Clock::now() + kExitReportDelay);
  while (!exit_ && reports_.open() && Pump(until)) {
  }
  return Event::kEnded;
}

}  // namespace sextant::oracle
