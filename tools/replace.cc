#include "tools/replace.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "reference/error.h"

namespace sextant::tools {

void ReplaceFile(const std::string& name, const std::function<void(std::ostream&)>& write) {
  std::error_code unknown;
  std::string path = name;
  if (std::filesystem::is_symlink(name, unknown))
    path = std::filesystem::weakly_canonical(name, unknown);
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown)) {
    throw Error(name, " is no regular file: it cannot be replaced");
  }
  const std::string beside = path + "." + std::to_string(getpid()) + ".part";
  {
    std::ofstream out(beside, std::ios::binary);
    write(out);
    out.close();
    if (!out) {
      std::error_code ignored;
      std::filesystem::remove(beside, ignored);
      throw Error(path, " cannot be written");
    }
  }
  std::error_code code;
  std::filesystem::rename(beside, path, code);
  if (code) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw Error(path, " cannot be written: ", code.message());
  }
}

}  // namespace sextant::tools
