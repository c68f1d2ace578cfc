// Properties: laws that need no golden, checked on any subject.
// RapidCheck draws cases; a counterexample, shrunk, is a case line. What rounding may do to a law is
// not a typed-in tolerance: every answer comes with the permitted error of each of its elements.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/subject.h"
#include "reference/prove.h"

namespace sextant::oracle {

// The answer to one question, in the order of the signature's outputs.
struct Response {
  Tensors outputs;
  std::vector<PermittedTensor> permitted;  // for the subject's recipe, around the exact value

  double value(size_t output, size_t i) const { return outputs[output].values.data[i]; }
  double permit(size_t output, size_t i) const { return permitted[output].error.data[i]; }
};

// Asks the subject under test. Throws Declined if it does not support the case.
struct Declined {
  std::string message;
};
using Ask = std::function<Response(const Case&, const Tensors& inputs)>;

// A quantity that the law says is zero (or equal), and how far rounding may push it.
struct Residual {
  double error = 0, slack = 0;
  std::string where;
};

struct Property {
  std::string name;      // "identity_at_position_zero"
  std::string sentence;  // "at position 0 nothing rotates"
  // Returns the worst residual found (largest error - slack); the law holds where error <= slack.
  std::function<Residual(const Case&, const Tensors& inputs, const Ask&)> check;
};

// Keeps the worse of two residuals.
void Worsen(Residual& worst, const Residual& other);

// The laws of one operation on one subject.
struct PropertyVerdict {
  std::string name, sentence;
  enum class Status { kHolds, kBroken, kDeclined, kCouldNotRun } status = Status::kHolds;
  size_t cases = 0;             // tried
  std::string counterexample;   // a case line, shrunk
  std::string detail;
};
struct PropertyOptions {
  uint64_t seed = 1;
  int count = 100;  // random cases per property
};
std::vector<PropertyVerdict> CheckProperties(const Operation& operation, const Subject& subject,
                                             const std::string& recipe, const PropertyOptions& options);

}  // namespace sextant::oracle
