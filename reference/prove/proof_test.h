// The golden of a case, for tests.
#pragma once

#include <string>
#include <vector>

#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant {

struct Proof {
  Case c;
  Tensors inputs;
  std::vector<GoldenTensor> golden;
};

inline Proof ProofOf(const std::string& line, const std::string& recipe = "native") {
  Proof proof{Case::Parse(line), {}, {}};
  proof.inputs = DrawInputs(proof.c);
  proof.golden = Prove({proof.c, proof.inputs, ParseRecipe(recipe, proof.c.dtype())});
  return proof;
}

// The correctly rounded values of an output.
inline std::vector<double> ValuesOf(const std::string& line, size_t output = 0) {
  return ProofOf(line).golden[output].value.data;
}

// The nearest doubles of an output.
inline std::vector<double> DoublesOf(const std::string& line, size_t output = 0) {
  return ProofOf(line).golden[output].high.data;
}

}  // namespace sextant
