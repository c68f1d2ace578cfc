#include "tools/api/replace.h"

#include <fstream>

#include "reference/base/error.h"

namespace sextant::tools {

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (!path.empty()) file_.emplace(path);
}

void OutputFile::Write(const std::function<void(std::ostream&)>& write) {
  std::ofstream out(file_->path(), std::ios::binary);
  write(out);
  out.close();
  if (!out) throw Error(path_, ": cannot be written");
  file_->Commit();
}

}  // namespace sextant::tools
