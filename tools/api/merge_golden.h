// Makes one golden file of a folder of parts.
#pragma once

#include <string>

namespace sextant::tools {

// The file has the bytes that `golden` gives it in one piece. Returns the number of cases. Throws
// Error if the folder is not whole.
size_t MergeGolden(const std::string& folder, const std::string& path);

}  // namespace sextant::tools
