// Limits of third-party subjects.
#pragma once

#include <string>

namespace sextant::oracle {

struct SubjectLimits {
  SubjectLimits(double of_seconds = 60, double of_memory = 0)
      : seconds(of_seconds), memory(of_memory) {}
  double seconds;  // for an answer
  double memory;   // MiB of data of one process; 0: any
};

// Limits of the kernel for each of its processes (setrlimit(2)), at most those of this process. By
// default so generous that compilers at run time and drivers of GPUs work.
struct ProcessLimits {
  explicit ProcessLimits(double memory_mib = 0);
  // Sets them for this process and its children. Safe in the forked child of a program with
  // threads.
  void Set() const;
  // "1000 MiB of memory, files of 65536 MiB, 65536 open files, 32768 processes of the user"; "any
  // memory, ..."
  std::string Text() const;

  unsigned long memory, file, open_files, processes;
};

}  // namespace sextant::oracle
