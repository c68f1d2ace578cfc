// The supervisor: a small process between the program and a command. It ensures that no descendant
// of the command outlives the command or the program.
//
// It is the sub-reaper of the command: descendants whose parent dies become its children, even in
// other sessions and process groups. Every command has its own supervisor. The supervisor kills the
// command and all its descendants with SIGKILL when
//   the command itself has ended, or
//   it reads a byte or the end of input from `orders`. Only the program holds the write end, so the
//   end of input also means that the program has ended, for whatever reason.
// Then it reaps all of them and exits. It finds descendants outside the command's process group in
// the kernel's list of its children. On systems without this list (LimitOfSupervisor) they survive.
// Non-goal: descendants that gained other privileges.
#pragma once

#include <string>

#include "oracle/subject/limits.h"

namespace sextant::oracle {

// How a command ended. The supervisor writes one Exit to `reports`.
struct Exit {
  int signal = 0;  // the signal that killed the command, else 0
  int status = 0;  // the exit status, if no signal killed it
};

// proc(5): the children of the calling thread. Exists in kernels with CONFIG_PROC_CHILDREN.
inline constexpr char kChildrenList[] = "/proc/thread-self/children";

// Describes what a supervisor cannot do on this system and why; empty if there is no limit.
std::string LimitOfSupervisor(const char* list = kChildrenList);

// Ends of pipes that the supervisor and its command take over.
struct SupervisorPipes {
  int input, output, error;  // stdin, stdout, stderr of the command
  int orders;                // read by the supervisor
  int reports;               // written by the supervisor; end of file: it has ended
};

// The main function of a supervisor. Call it right after fork() with all signals blocked. It uses
// only functions that are safe in the forked child of a program with threads. Never returns.
[[noreturn]] void RunSupervisor(const char* command, SupervisorPipes pipes,
                                const ProcessLimits& limits);

}  // namespace sextant::oracle
