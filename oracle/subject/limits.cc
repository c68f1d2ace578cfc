#include "oracle/subject/limits.h"

#include <sys/resource.h>

#include <algorithm>

namespace sextant::oracle {
namespace {

constexpr unsigned long kMostFile = 1ul << 36, kMostOpenFiles = 1 << 16, kMostProcesses = 1 << 15;

unsigned long AtMost(int resource, unsigned long value) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return value;
  return std::min(value, static_cast<unsigned long>(now.rlim_max));
}

}  // namespace

// The limit of memory is that of data: drivers of GPUs reserve addresses far beyond it. None by
// default, because sanitizers count their shadow memory as data.
ProcessLimits::ProcessLimits(double memory_mib)
    : memory(AtMost(RLIMIT_DATA, memory_mib > 0 ? static_cast<unsigned long>(memory_mib * 0x1p20)
                                                : RLIM_INFINITY)),
      file(AtMost(RLIMIT_FSIZE, kMostFile)),
      open_files(AtMost(RLIMIT_NOFILE, kMostOpenFiles)),
      processes(AtMost(RLIMIT_NPROC, kMostProcesses)) {}

void ProcessLimits::Set() const {
  const auto set = [](__rlimit_resource resource, unsigned long value) {
    const rlimit limit{.rlim_cur = value, .rlim_max = value};
    setrlimit(resource, &limit);
  };
  set(RLIMIT_DATA, memory);
  set(RLIMIT_FSIZE, file);
  set(RLIMIT_NOFILE, open_files);
  set(RLIMIT_NPROC, processes);
  set(RLIMIT_CORE, 0);
}

std::string ProcessLimits::Text() const {
  const std::string much =
      memory == RLIM_INFINITY ? "any memory" : std::to_string(memory >> 20) + " MiB of memory";
  return much + ", files of " + std::to_string(file >> 20) + " MiB, " + std::to_string(open_files) +
         " open files, " + std::to_string(processes) + " processes of the user";
}

}  // namespace sextant::oracle
