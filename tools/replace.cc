#include "tools/replace.h"

#include <fstream>

#include "fixtures/replacement.h"
#include "reference/error.h"

namespace sextant::tools {

void ReplaceFile(const std::string& path, const std::function<void(std::ostream&)>& write) {
  fixtures::Replacement replacement(path);
  std::ofstream out(replacement.path(), std::ios::binary);
  write(out);
  out.close();
  if (!out) throw Error(path, ": cannot be written");
  replacement.Commit();
}

}  // namespace sextant::tools
