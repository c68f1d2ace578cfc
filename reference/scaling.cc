#include "reference/scaling.h"

#include "reference/error.h"

namespace sextant {

void CheckScaling(const RopeScaling& scaling) {
  std::visit(
      [](const auto& s) {
        if constexpr (requires { s.factor; }) {
          if (!(s.factor > 0))
            throw Error(s.kName, ": factor is ", s.factor, ", expected more than 0");
        }
        if constexpr (requires { s.low_freq_factor; }) {
          if (!(s.low_freq_factor > 0 && s.high_freq_factor > s.low_freq_factor)) {
            throw Error(s.kName, ": low_freq_factor is ", s.low_freq_factor,
                        " and high_freq_factor ", s.high_freq_factor, ", expected 0 < low < high");
          }
          if (!(s.original_max_position_embeddings > 0)) {
            throw Error(s.kName, ": original_max_position_embeddings is ",
                        s.original_max_position_embeddings, ", expected more than 0");
          }
        }
      },
      scaling);
}

}  // namespace sextant
