// A property of key caches: decoding gives the same rotated keys as a prefill.
#pragma once

#include "oracle/property/property.h"

namespace sextant::oracle {

// Compares rows rotated in two parts with the same rows rotated at once. The first half is rotated
// at the sequence length before the second half comes, the second half at the full length, seq_len.
Comparisons CompareDecodingWithPrefill(const Case& c, const Tensors& inputs, const Ask& ask);

// Claims that they are equal where frequencies and amplitude are the same at both lengths. The
// scalings that depend on the length, dynamic and longrope, change both when a sequence grows
// beyond the trained context: cached keys then differ from those of a prefill
// (oracle/property/CLAIMS.md).
Property DecodingIsPrefill();

}  // namespace sextant::oracle
