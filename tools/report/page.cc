#include "tools/report/page.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "reference/base/descriptor.h"
#include "reference/base/error.h"
#include "tools/api/shell_quoted.h"

namespace sextant::tools {
namespace {

namespace fs = std::filesystem;

fs::path PageProgram() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* const place : {"pages/page", "../share/sextant/pages/page"}) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / place, ignored)) return folder / place;
  }
  throw Error("there is no program pages/page beside ", folder.string(),
              "; write .json and convert it where the build is");
}

}  // namespace

std::string PageOf(const Json& report) {
  // A file in memory: the program reads it while this one reads the page.
  const Descriptor input(memfd_create("report", 0));
  const std::string text = PrintJson(report);
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(input.get(), text.data() + done, text.size() - done);
    if (count < 0) throw Error("there is no memory for the report of a page");
    done += static_cast<size_t>(count);
  }
  // (sh knows only descriptors of one digit: <&12 is an error. Opened anew, it begins at 0.)
  // In a wheel the interpreter is that of the environment (tools/python/sextant/__main__.py), whose
  // PYTHONPATH counts; else the program ignores it.
  const std::string command = R"(exec ${SEXTANT_PYTHON:+"$SEXTANT_PYTHON"} )" +
                              ShellQuoted(PageProgram()) + " </dev/fd/" +
                              std::to_string(input.get());
  std::FILE* const output = ::popen(command.c_str(), "r");
  if (!output) throw Error("'", command, "' cannot be run");
  std::string page;
  char buffer[1 << 16];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, output)) > 0;)
    page.append(buffer, count);
  if (::pclose(output) != 0) throw Error("the program that writes pages failed; see above");
  return page;
}

}  // namespace sextant::tools
