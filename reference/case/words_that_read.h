// Which words of a case decide that it has an optional input, where that is not the word `with`.
#pragma once

#include <string>
#include <string_view>

#include "reference/case/operation.h"

namespace sextant {

// "qk_norm=head or qk_norm=full" for q_norm of decoder_block; empty if no word decides it.
std::string WordsThatRead(const Operation& operation, std::string_view input);

}  // namespace sextant
