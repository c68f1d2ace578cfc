// A command with its three pipes, of which none can block us and none can block the command.
//
// Whatever waits here also writes what is still unsent, drains stderr, and watches for the
// command's end, so that two parties that both write a lot cannot deadlock. No wait passes its
// deadline. What the command started dies with it (oracle/subject/supervisor.h). One object belongs
// to one thread; several may live in one program. Signal handlers of the program stay as they are.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "oracle/subject/supervisor.h"
#include "reference/base/descriptor.h"

namespace sextant::oracle {

using Clock = std::chrono::steady_clock;

// What happened while we waited.
enum class Event {
  kDone,       // what was asked for
  kTimeLimit,  // the deadline passed
  kEnded       // no more can come: the command has ended, or closed a pipe of the conversation
};

// "exited with status 3", "was killed by SIGSEGV (Segmentation fault)"
std::string Describe(const Exit& exit);

class ChildProcess {
 public:
  // Starts `command` with /bin/sh -c. Throws Error if the system refuses. What the shell itself
  // cannot start is seen later as its end with status 126 or 127.
  explicit ChildProcess(const std::string& command);
  ~ChildProcess() { Kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Takes bytes for the command; they are written by whatever waits next. Nothing may be unsent.
  void Send(std::string bytes);

  // Fills `bytes` from the command's output, never reading beyond.
  Event Receive(std::span<char> bytes, Clock::time_point deadline);

  // Waits until everything sent has been taken.
  Event Flush(Clock::time_point deadline);

  // The next bytes of output that come within `patience`, at most 64 of them.
  std::string TakeWaiting(std::chrono::milliseconds patience);

  // Closes the command's input and waits for its end; `surplus` gets the first bytes it still says.
  Event Leave(Clock::time_point deadline, std::string* surplus);

  // Ends the command and all its descendants; returns when they are gone. Unless the system cannot
  // kill one of them, this takes milliseconds.
  void Kill();

  size_t unsent() const { return unsent_.size() - sent_; }
  size_t received() const { return received_; }  // bytes of the last Receive
  const std::optional<Exit>& exit() const { return exit_; }
  bool input_open() const { return input_.open(); }
  bool output_open() const { return output_.open(); }

  // The last 64 KiB of stderr, as they came, and how many bytes have come in all.
  const std::string& error_text() const { return error_text_; }
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
  std::string error_text_;
  uint64_t error_count_ = 0;
  std::optional<Exit> exit_;
};

}  // namespace sextant::oracle
