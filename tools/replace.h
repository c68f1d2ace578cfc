// Files that a reader never sees half written.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace sextant::tools {

// Writes beside `path` and renames. Throws Error.
void ReplaceFile(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace sextant::tools
