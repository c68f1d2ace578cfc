#include "tools/api/replace.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "reference/base/error.h"

namespace sextant::tools {

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.emplace(path);
  std::error_code none;                                        // there is no old file
  const auto target = std::filesystem::canonical(path, none);  // a link stays
  if (!none) std::filesystem::remove(target, none);
}

void OutputFile::Write(const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(file_->path(), std::ios::binary);
  write(out);
  out.close();
  if (out) {
    file_->Commit();
    return;
  }
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  throw Error(path_, ": cannot be written", reason);
}

void RequireNoInput(const std::string& output, const std::vector<std::string>& arguments) {
  std::error_code none;
  if (output.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  for (const std::string& argument : arguments) {
    if (std::filesystem::is_directory(argument, none) &&
        std::filesystem::equivalent(argument, folder.empty() ? "." : folder, none))
      throw Error(output, " is in the folder ", argument, ", which is read: expected another name");
  }
  if (!std::filesystem::is_regular_file(output, none)) return;
  for (const std::string& argument : arguments) {
    const std::string value = argument.substr(argument.find('=') + 1);
    for (const std::string& input :
         {argument, value, value.substr(0, value.rfind(':')), value.substr(value.find(':') + 1)}) {
      if (std::filesystem::equivalent(input, output, none))
        throw Error(output, " would replace its own input: expected another name");
    }
  }
}

}  // namespace sextant::tools
