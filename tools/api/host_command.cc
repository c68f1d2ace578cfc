#include "tools/api/host_command.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "reference/base/error.h"
#include "tools/api/shell_quoted.h"

namespace sextant::tools {
namespace {

namespace fs = std::filesystem;

bool IsProgram(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// The shared library that contains this function; empty if it belongs to the program.
fs::path OwnLibrary() {
  Dl_info info{};
  link_map* map = nullptr;
  void* own = reinterpret_cast<void*>(&HostCommandOf);
  if (::dladdr1(own, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || !map)
    return {};
  return map->l_name;
}

std::string Host() {
  if (const char* given = std::getenv("SEXTANT_HOST"); given && *given) {
    if (IsProgram(given)) return ShellQuoted(fs::absolute(given));
    throw Error("SEXTANT_HOST is '", given, "', expected the path of a program, ", kHostProgram);
  }
  const fs::path library = OwnLibrary();
  const fs::path self = library.empty() ? fs::read_symlink("/proc/self/exe") : library;
  const fs::path beside = self.parent_path() / kHostProgram;
  if (IsProgram(beside)) return ShellQuoted(beside);
  if (library.empty()) return ShellQuoted(self) + " " + kHostCommand;
  throw Error("there is no program ", kHostProgram, " beside ", library.string(),
              ", which lib: subjects need; the variable SEXTANT_HOST can name one");
}

}  // namespace

std::string HostCommandOf(const std::string& library) {
  return "exec " + Host() + " " + ShellQuoted(fs::absolute(library));
}

}  // namespace sextant::tools
