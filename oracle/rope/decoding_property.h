// The property of a cache of keys: decoding gives what a prefill gives.
#pragma once

#include "oracle/property/property.h"

namespace sextant::oracle {

// Rows rotated as they come, each once, against all of them rotated at once: the first half while
// the sequence is as long as they are, the others when it has its full length, seq_len.
Findings DecodedAgainstPrefilled(const Case& c, const Tensors& inputs, const Ask& ask);

// Claims that they are the same where frequencies and amplitude are the same at both lengths.
// Scalings that follow the length, dynamic and longrope, change both on the way beyond the trained
// context: keys in the cache are then not those of a prefill (oracle/property/CLAIMS.md).
Property DecodingIsPrefill();

}  // namespace sextant::oracle
