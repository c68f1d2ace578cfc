#include "tools/report/page.h"

#include <cstdio>
#include <filesystem>
#include <memory>

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

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string PageOf(const Json& report) {
  // A file without a name: the program reads it while this one reads the page.
  const std::unique_ptr<std::FILE, Close> input(std::tmpfile());
  const std::string text = PrintJson(report);
  if (!input || std::fwrite(text.data(), 1, text.size(), input.get()) != text.size() ||
      std::fflush(input.get()) != 0)
    throw Error("no temporary file can be written for the page");
  std::rewind(input.get());
  // (sh knows only descriptors of one digit: <&12 is an error.)
  // In a wheel the interpreter is that of the environment (tools/python/sextant/__main__.py).
  const std::string command = R"(exec ${SEXTANT_PYTHON:+"$SEXTANT_PYTHON"} )" +
                              ShellQuoted(PageProgram()) + " </dev/fd/" +
                              std::to_string(::fileno(input.get()));
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
