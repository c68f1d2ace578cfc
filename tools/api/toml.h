// toml++ 3.3. Some of its assertions fail for files that are not TOML ("[=]", "a = [1, }]"). Here
// they throw.
#pragma once

#include "reference/base/error.h"

#define TOML_ASSERT(expression) ((expression) ? void() : throw sextant::Error("this is not TOML"))
#include <toml++/toml.h>
