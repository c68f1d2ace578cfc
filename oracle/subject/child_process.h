// A child process that runs a shell command, with non-blocking pipes to its stdin, stdout, stderr.
//
// Every function that waits also writes unsent bytes, drains stderr, and watches for the end of the
// command, so two processes that both write large messages cannot deadlock. No function waits
// longer than its deadline. When the command ends, all its descendants are killed
// (oracle/subject/supervisor.h). An object must be used by one thread only; a program may have
// several objects. The program's signal handlers are not changed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "oracle/subject/limits.h"
#include "oracle/subject/supervisor.h"
#include "reference/base/descriptor.h"

namespace sextant::oracle {

using Clock = std::chrono::steady_clock;

// The result of a wait.
enum class Event {
  kDone,       // the requested operation is complete
  kTimeLimit,  // the deadline passed
  kEnded       // the command has ended, or has closed its stdin or stdout
};

// "exited with status 3", "was killed by SIGSEGV (Segmentation fault)"
std::string Describe(const Exit& exit);

class ChildProcess {
 public:
  // Starts `command` with /bin/sh -c. Throws Error if no process can be created. If the shell
  // cannot execute the command, the child ends later with status 126 or 127.
  explicit ChildProcess(const std::string& command, const ProcessLimits& limits = ProcessLimits());
  ~ChildProcess() { Kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Stores bytes for the command's stdin; the next function that waits writes them. A new request
  // begins for error_start() and error_count(). Precondition: unsent() == 0.
  void Send(std::string bytes);

  // Fills `bytes` from the command's stdout; reads no byte more.
  Event Receive(std::span<char> bytes, Clock::time_point deadline);

  // Waits until all bytes given to Send are written to the pipe.
  Event Flush(Clock::time_point deadline);

  // Returns the bytes of stdout that arrive within `patience`, at most 64.
  std::string TakeWaiting(std::chrono::milliseconds patience);

  // Closes the command's stdin and waits until it ends. Stores the first bytes that it still writes
  // to stdout in `surplus`.
  Event CloseAndWait(Clock::time_point deadline, std::string* surplus);

  // Kills the command and all its descendants and waits until they have ended. This takes
  // milliseconds, unless the system cannot kill one of them.
  void Kill();

  size_t unsent() const { return unsent_.size() - sent_; }
  size_t received() const { return received_; }  // bytes of the last Receive
  const std::optional<Exit>& exit() const { return exit_; }
  bool input_open() const { return input_.open(); }
  bool output_open() const { return output_.open(); }

  // The last 64 KiB of stderr, unchanged. Since the last Send: the first 4 KiB, and the number of
  // bytes in total.
  const std::string& error_text() const { return error_text_; }
  const std::string& error_start() const { return error_start_; }
  uint64_t error_count() const { return error_count_; }

 private:
  bool Pump(Clock::time_point deadline);
  void WriteInput();
  void ReadOutput();
  void ReadError();
  void ReadReport();
  Event AwaitExit(Clock::time_point deadline);

  pid_t supervisor_ = -1;
  Descriptor input_, output_, error_, orders_, reports_;
  std::string unsent_;
  size_t sent_ = 0;
  std::span<char> wanted_;
  size_t received_ = 0;
  std::string error_text_, error_start_;
  uint64_t error_count_ = 0;
  std::optional<Exit> exit_;
};

}  // namespace sextant::oracle
