// Confirms golden values with a second library, for `sextant verify`.
#pragma once

#include <string>
#include <vector>

#include "reference/prove/second_opinion.h"

namespace sextant::tools {

// Confirms the goldens of several cases and counts the confirmed elements.
class Confirmation {
 public:
  // all: evaluates every element again. Otherwise evaluates a sample: the first case and about one
  // fifth of the other cases, and in each of them one in kOneIn slices (SecondOpinionOptions), at
  // least one, and fewer of large parts.
  Confirmation(bool all, int threads);

  // Describes the first element of a part of a case that Boost.Multiprecision refutes; empty if
  // there is none.
  std::string FaultOf(const Case& c, const Slice& part, const InputTensors& inputs,
                      const std::vector<GoldenTensor>& golden);

  // "Boost.Multiprecision confirms 1024 of 18178 elements (--confirm asks for all)"
  std::string Summary() const;

 private:
  static constexpr size_t kOneIn = 16;
  bool all_;
  int threads_;
  size_t elements_ = 0;
  SecondOpinion sum_;
};

}  // namespace sextant::tools
