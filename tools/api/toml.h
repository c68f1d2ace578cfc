// toml++ 3.3. Some of its assertions fail for files that are not TOML ("[=]", "a = [1, }]"). Here
// they throw.
#pragma once

#include "reference/base/error.h"

namespace sextant::tools {

[[noreturn]] inline void RefuseToml() { throw Error("this is not TOML"); }

}  // namespace sextant::tools

#define TOML_ASSERT(expression) ((expression) ? void() : sextant::tools::RefuseToml())
#include <toml++/toml.h>
