#include "reference/attention/attention_attributes.h"

namespace sextant {

void CheckSharing(int64_t H, int64_t K) {
  if (H > 0 && (K == 0 || H % K != 0)) {
    throw Error("dimension K is ", K, ", expected a divisor of H, which is ", H);
  }
}

void AttentionAttributes::Check() const {
  AttentionMask::Check();
  if (soft_cap && !(*soft_cap > 0))
    throw Error("soft_cap is ", *soft_cap, ", expected more than 0");
  CheckSharing(H.value, K.value);
}

}  // namespace sextant
