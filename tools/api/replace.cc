#include "tools/api/replace.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "reference/base/error.h"

namespace sextant::tools {

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (!path.empty()) file_.emplace(path);
}

void OutputFile::Write(const std::function<void(std::ostream&)>& write) {
  std::ofstream out(file_->path(), std::ios::binary);
  errno = 0;
  write(out);
  out.close();
  if (out) {
    file_->Commit();
    return;
  }
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  throw Error(path_, ": cannot be written", reason);
}

}  // namespace sextant::tools
