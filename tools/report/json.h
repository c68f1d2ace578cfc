// Numbers and tensors as JSON.
#pragma once

#include <span>

#include "reference/base/json.h"
#include "reference/number/tensor.h"
#include "tools/api/replace.h"

namespace sextant::tools {

// 17 digits suffice to read the same double back; JSON has no infinities and no NaN, so those are
// the strings "inf", "-inf" and "nan".
Json ToJson(double x);
Json ToJson(std::span<const double> values);

// What is no UTF-8 (a stranger's last words may be anything) is replaced. Throws Error.
void WriteJsonFile(const Json& json, OutputFile& file);

}  // namespace sextant::tools
