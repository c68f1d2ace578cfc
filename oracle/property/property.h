// Properties: relations between answers that can be checked on any subject without golden values.
// There are no tolerances to choose: every element of an answer comes with its permitted error.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "oracle/property/measured.h"
#include "oracle/subject/subject.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// The answer to one case, with the outputs in the order of the signature.
struct Response {
  Tensors outputs;                         // a missing optional output has an empty name
  std::vector<PermittedTensor> permitted;  // by the subject's recipe, around the exact values
  Recipe recipe = {};                      // the subject's recipe
  bool bitwise = false;                    // NaN and infinities are specified (golden.h)

  bool Has(size_t output) const { return !outputs[output].name.empty(); }
  const Shape& shape(size_t output = 0) const { return outputs[output].values.shape; }
  size_t size(size_t output = 0) const { return outputs[output].values.data.size(); }
  // NaN and infinities that are specified are numbers like others, beyond those that random cases
  // have: NaN is the farthest.
  Measured operator()(size_t output, size_t i) const {
    const double y = outputs[output].values.data[i];
    if (bitwise && std::isnan(y)) return 0x1p1023;
    if (bitwise && std::isinf(y)) return std::copysign(0x1p1022, y);
    return {y, permitted[output].error.data[i]};
  }
};

struct Declined {
  std::string message;
};
// Runs the subject under test. Throws Declined if the subject does not support the case.
using Ask = std::function<Response(const Case&, const Tensors& inputs)>;

// The element of an answer to which a finding belongs.
struct ElementOf {
  const Response& response;
  size_t output, i;
};

// The comparisons that a property makes. It holds if rounding explains every difference.
class Comparisons {
 public:
  // a = b and a <= b, up to the errors of both.
  void Equal(const Measured& a, const Measured& b, const ElementOf& where);
  void AtMost(const Measured& a, const Measured& b, const ElementOf& where);
  bool Hold() const { return count_ == 0 || error_ <= slack_; }
  size_t count() const { return count_; }  // 0: the property does not apply to the case
  std::string Worst() const;               // "y[0,1]: off by 0.5, rounding explains 0.25"

 private:
  void Add(double error, double slack, const ElementOf& where);
  size_t count_ = 0;
  double error_ = 0, slack_ = 0;  // of the comparison with the largest error - slack
  std::string where_;
};

struct Property {
  std::string name;      // "identity_at_position_zero"
  std::string sentence;  // "at position 0 nothing rotates"
  std::function<Comparisons(const Case&, const Tensors& inputs, const Ask&)> check;
};

}  // namespace sextant::oracle
