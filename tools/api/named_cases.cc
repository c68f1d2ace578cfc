#include "tools/api/named_cases.h"

#include <filesystem>

#include "reference/case/operations.h"

namespace sextant::tools {

std::string CasesNamed(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code none;  // of a name that is too long, and where there is no /proc
  if (name.find_first_of(" =") != name.npos || fs::exists(name, none)) return name;
  std::vector<fs::path> places = {"fixtures/cases"};
  // above the program: a checkout's build/ or build/asan/, an installed bin/, a wheel's
  // lib/python3/site-packages/sextant/
  fs::path folder = fs::read_symlink("/proc/self/exe", none);
  for (int levels = 0; levels < 5; ++levels) {
    folder = folder.parent_path();
    places.push_back(folder / "fixtures/cases");
    places.push_back(folder / "share/sextant/cases");
  }
  for (const fs::path& place : places) {
    const fs::path file = place / (name + ".cases");
    if (fs::is_regular_file(file, none)) return file.lexically_normal().string();
  }
  return name;
}

std::vector<std::string> NamesOfCases() {
  std::vector<std::string> names = OperationNames();
  for (const std::string& name : OperationNames()) {
    if (const std::string real = "real/" + name; CasesNamed(real) != real) names.push_back(real);
  }
  return names;
}

}  // namespace sextant::tools
