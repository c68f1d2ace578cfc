#include "oracle/property/property.h"

#include <cmath>
#include <sstream>

namespace sextant::oracle {

void Comparisons::Equal(const Measured& a, const Measured& b, const ElementOf& where) {
  const Measured difference = a - b;
  Add(std::abs(difference.value()), difference.error(), where);
}

void Comparisons::AtMost(const Measured& a, const Measured& b, const ElementOf& where) {
  const Measured excess = a - b;
  Add(excess.value() < 0 ? 0 : excess.value(), excess.error(), where);
}

void Comparisons::Add(double error, double slack, const ElementOf& where) {
  // NaN is the worst error.
  const bool is_worse = !(std::isnan(error_) || error - slack <= error_ - slack_);
  if (count_++ > 0 && !is_worse) return;
  error_ = error;
  slack_ = slack;
  where_ = IndexText(where.response.outputs[where.output].name, where.response.shape(where.output),
                     where.i);
}

std::string Comparisons::Worst() const {
  std::ostringstream text;
  text.precision(17);
  text << where_ << ": off by " << error_ << ", rounding explains " << slack_;
  return text.str();
}

}  // namespace sextant::oracle
