// One output of an answer, judged element by element; and what of it could not have failed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::oracle {

enum class Judged : char {
  kUnspecified,  // the case specifies nothing here: NaN or an infinity of its inputs came in
  kOpen,         // something is specified, but no answer of the right size, or none at all, fails
  kJudged        // it could have failed, or it has failed
};

struct JudgedTensor {
  TensorVerdict verdict;
  bool optional = false;  // it could have been left out
  Shape shape;
  std::vector<Judged> elements;
};

// What an answer is compared with.
struct Standard {
  const std::vector<GoldenTensor>& golden;
  const std::vector<PermittedTensor>& permitted;
  // In a trace, the truth of the case itself. What is NaN in `golden` alone was made NaN by the
  // subject's own tensors: that excuses nothing, so such an element is open, not unspecified.
  const std::vector<GoldenTensor>* whole = nullptr;
  // A mean error is `unlikely` only beyond these, one number per output; none: beyond 0.
  std::span<const double> honest_bias{};
};

// Every answered output, in the order of the signature. The outputs must fit the case (Misfit).
std::vector<JudgedTensor> JudgeTensors(const Case& c, const Standard& standard,
                                       const Tensors& outputs);

// Why conforming does not verify the answer. The message is empty if every row of every tensor has
// an element that could have failed (rows in which nothing is specified aside).
struct Doubt {
  std::string message;
  size_t rows = 0;         // that are open, of all tensors
  bool only_rows = false;  // see Verdict
};
Doubt DoubtOf(const std::vector<JudgedTensor>& tensors);

}  // namespace sextant::oracle
