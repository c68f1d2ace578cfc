// What `sextant verify` asks a second library, and what it says of it.
#pragma once

#include <string>
#include <vector>

#include "reference/prove/second_opinion.h"

namespace sextant::tools {

// Confirms goldens one after the other and adds up.
class Confirmation {
 public:
  // Of all elements, or of a share: of the first case and of about a fifth of the others, in which
  // one in kOneIn slices (SecondOpinionOptions), and at least one, is evaluated again.
  Confirmation(bool all, int threads);

  // What is wrong with it by Boost.Multiprecision; empty if nothing is.
  std::string FaultOf(const Case& c, const Tensors& inputs,
                      const std::vector<GoldenTensor>& golden);

  // "Boost.Multiprecision confirms 1024 of 18178 elements (--confirm asks for all)"
  std::string Told() const;

 private:
  static constexpr size_t kOneIn = 16;
  bool all_;
  int threads_;
  size_t elements_ = 0;
  SecondOpinion sum_;
};

}  // namespace sextant::tools
