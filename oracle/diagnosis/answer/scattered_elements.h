// Wrong elements among right ones, not whole rows or columns: which they are, and what they hold.
#pragma once

#include <optional>
#include <string>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

// True if so few of many elements fail that no formula can be fitted to them: at most kMostFew.
inline constexpr size_t kMostFew = 3;
bool AreFew(const AnsweredTensor& tensor);
// True if few elements of many fail, by errors as large as the numbers, with a gap below them: no
// recipe has such errors.
bool AreOutliers(const AnsweredTensor& tensor);

// A sentence about all failing elements, if they hold NaN, one number, right numbers of other
// elements, an input, or the right ones times a factor: "y is nan at every 64th element from 63
// on". If the failing ones are outliers, it says which. Empty if most elements fail, or if rounding
// may cause such errors.
std::optional<std::string> FindScattered(const AnsweredTensor& tensor, const Tensors& inputs);

}  // namespace sextant::oracle
