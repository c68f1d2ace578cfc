// Properties: properties that need no golden, checked on any subject.
// RapidCheck draws cases; a counterexample, shrunk, is a case line. What rounding may do to a
// property is not a typed-in tolerance: every answer comes with the permitted error of each of its
// elements.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "oracle/property/measured.h"
#include "oracle/subject/subject.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// The answer to one question, in the order of the signature's outputs.
struct Response {
  Tensors outputs;                         // an optional one that was left out has no name
  std::vector<PermittedTensor> permitted;  // for the subject's recipe, around the exact value
  Recipe recipe = {};                      // the subject's

  bool Has(size_t output) const { return !outputs[output].name.empty(); }
  const Shape& shape(size_t output = 0) const { return outputs[output].values.shape; }
  Measured operator()(size_t output, size_t i) const {
    return {outputs[output].values.data[i], permitted[output].error.data[i]};
  }
};

// Asks the subject under test. Throws Declined if it does not support the case.
struct Declined {
  std::string message;
};
using Ask = std::function<Response(const Case&, const Tensors& inputs)>;

// The element of an answer that a finding is about.
struct ElementOf {
  const Response& response;
  size_t output, i;
};

// What a property found: quantities that it says are equal, and how far rounding may push them
// apart.
class Findings {
 public:
  void Equal(const Measured& a, const Measured& b, const ElementOf& where);
  void AtMost(const Measured& a, const Measured& b, const ElementOf& where);
  bool Hold() const { return count_ == 0 || error_ <= slack_; }
  size_t count() const { return count_; }  // 0: the property says nothing of this case
  std::string Worst() const;               // "y[0,1]: off by 0.5, rounding explains 0.25"

 private:
  void Add(double error, double slack, const ElementOf& where);
  size_t count_ = 0;
  double error_ = 0, slack_ = 0;  // of the largest error - slack
  std::string where_;
};

struct Property {
  std::string name;      // "identity_at_position_zero"
  std::string sentence;  // "at position 0 nothing rotates"
  std::function<Findings(const Case&, const Tensors& inputs, const Ask&)> check;
};

// What became of one property.
struct PropertyVerdict {
  std::string name, sentence;
  enum class Status { kHolds, kBroken, kDeclined, kCouldNotRun } status = Status::kHolds;
  size_t cases = 0;            // tried
  size_t declined = 0;         // drawn, too, but declined by the subject
  std::string counterexample;  // a case line, shrunk
  std::string detail;
};
struct PropertyOptions {
  uint64_t seed = 1;
  int count = 100;  // random cases per property; of those declined at most ten times as many
  std::set<std::string> only = {};  // the properties of these names; empty: all
};
std::vector<PropertyVerdict> CheckEach(const std::vector<Property>& properties,
                                       const Operation& operation, const Subject& subject,
                                       const std::string& recipe, const PropertyOptions& options);

}  // namespace sextant::oracle
