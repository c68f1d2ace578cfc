// The first wrong tensor of a composite operation whose intermediates were answered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// Values and permitted errors that follow from the subject's own earlier tensors. Those of all
// outputs but the wrong one are NaN, as if a budget left them out.
struct WrongStage {
  std::string output;
  std::vector<GoldenTensor> golden;
  std::vector<PermittedTensor> permitted;
};

// Empty if every tensor conforms to the earlier ones, if no intermediate was answered, or if the
// case can be cut: a trace has whole tensors. A hypothesis about the stage is evaluated within a
// ScopedTrace of the answer, on the same thread.
std::optional<WrongStage> FirstWrongStage(const Observation& seen, const ProveOptions& options);

}  // namespace sextant::oracle
