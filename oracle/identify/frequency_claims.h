// The configurations that give measured rotary frequencies.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/measured_number.h"
#include "oracle/identify/claim.h"

namespace sextant::oracle {

// What a rotation shows of its configuration.
struct MeasuredTable {
  std::vector<MeasuredNumber> inv_freq;  // [R/2], radians per token
  MeasuredNumber attention_factor;       // the amplitude of cos and sin
};

// Claims about base, scaling and seq_len, those of `asked` in which they are free: all known forms
// that fit, the shortest first, or else the few nearest ones. `c`: a question, with the attributes
// that are known. `recipe`: of its answer.
std::vector<Claim> FrequencyClaims(const MeasuredTable& table, const Claim& asked, const Case& c,
                                   const std::string& recipe, int threads);

}  // namespace sextant::oracle
