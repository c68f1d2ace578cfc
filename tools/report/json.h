// Converts numbers and tensors to JSON.
#pragma once

#include <span>

#include "reference/base/json.h"
#include "reference/number/tensor/tensor.h"
#include "tools/api/replace.h"

namespace sextant::tools {

// Finite numbers read back as the same double. Infinities and NaN, which JSON lacks, become the
// strings "inf", "-inf" and "nan".
Json ToJson(double x);
double NumberOf(const Json& json);  // the number that ToJson made this of
Json ToJson(std::span<const double> values);
Json ToJson(const NamedTensor& tensor);  // dtype, shape, and value: a flat list

// Bytes that are not UTF-8, for example in the stderr of a subject, are replaced. Throws Error.
void WriteJsonFile(const Json& json, OutputFile& file);

}  // namespace sextant::tools
