// Answers that are the right numbers, summed or multiplied: buffers that were not cleared, kernels
// that ran twice, signs, constant factors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

struct Summed {
  std::string name;      // "accumulated", "factor" or "added"
  std::string sentence;  // "y is the sum of the right numbers of all S up to its own"
  std::vector<double> expected, bounds;  // of each element
};

// One that explains every element of the tensor.
std::optional<Summed> FindSummed(const AnsweredTensor& tensor);

}  // namespace sextant::oracle
