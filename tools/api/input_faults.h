// Compares the inputs of a golden with those that its case draws.
#pragma once

#include <string>
#include <vector>

#include "fixtures/store/reader.h"
#include "reference/case/case.h"
#include "reference/number/tensor/stored_tensor.h"

namespace sextant::tools {

// What differs in a record, of each input the first difference. `drawn`: the inputs of the whole
// case. Reads both part by part. Throws Error if the case has no slice as that of the record.
std::vector<std::string> InputFaults(const fixtures::LargeRecord& record, const Case& c,
                                     const TensorReaders& drawn);

}  // namespace sextant::tools
