// The supervisor: a small process between us and a command, so that nothing the command starts
// outlives it or us.
//
// It is the sub-reaper of the command: descendants whose parent dies become its children, whatever
// sessions and groups they made. One supervisor serves one command, so that several commands of one
// program cannot be confused. It ends the command and all its descendants with SIGKILL when
//   the command itself has ended,
//   a byte or the end of input comes from `orders`: the end of input comes also when our program
//   dies in whatever way, because only our program holds the other end.
// Then it reaps them all and leaves. It finds descendants that left the command's process group by
// the kernel's list of its own children; where there is no such list (LimitOfSupervisor), they
// survive. Non-goal: descendants that gained other privileges.
#pragma once

#include <string>

namespace sextant::oracle {

// How a command ended; the supervisor writes one to `reports`.
struct Exit {
  int signal = 0;  // that killed it, 0 if it left by itself
  int status = 0;  // exit status if it left by itself
};

// proc(5): the children of the calling thread, of kernels with CONFIG_PROC_CHILDREN.
inline constexpr char kChildrenList[] = "/proc/thread-self/children";

// What a supervisor cannot do on this system, and why; empty if it can do all.
std::string LimitOfSupervisor(const char* list = kChildrenList);

// Read and write ends that the supervisor and its command take over.
struct SupervisorPipes {
  int input, output, error;  // of the command
  int orders;                // read by the supervisor
  int reports;               // written by the supervisor; its end of file means that all is over
};

// The whole life of a supervisor, called right after fork() with every signal blocked. Uses only
// functions that are safe in the forked child of a program with threads; never returns.
[[noreturn]] void RunSupervisor(const char* command, SupervisorPipes pipes);

}  // namespace sextant::oracle
