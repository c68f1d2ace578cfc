#include "oracle/rope/any_angle.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/rope/rotary_properties.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

// The error that the recipe permits in either channel of the pair (x, y) rotated by any angle. The
// errors of a cosine, of its product with x, and of the sum grow with their magnitudes. At 0.75
// radians cos and sin lie between 1/2 and 1. There their ulp is the largest of all numbers below 1,
// and 2 x cos(0.75) >= x cos(a) for every angle a, so the errors of these products are the largest
// as well.
double ErrorAtAnyAngle(const Response& y, const Case& c, double amplitude, double of_x,
                       double of_y) {
  const ScopedRecipe scope(y.recipe, c.dtype());
  std::pair<Counted, Counted> cos_sin;
  {
    const ScopedStep at(Step::kTrig);
    cos_sin = CosSin(Counted(0.75));
  }
  cos_sin = TableEntry(cos_sin, Counted(amplitude));
  Counted sum;
  {
    const ScopedStep at(Step::kRotate);
    sum = Counted(2 * std::abs(of_x), c.dtype()) * cos_sin.first +
          Counted(2 * std::abs(of_y), c.dtype()) * cos_sin.second;
  }
  const ScopedStore at(y.outputs[0].dtype);
  return Converted(sum).Permitted();
}

}  // namespace

Response AskAtAnyAngle(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  Response y = ask(c, inputs);
  const std::vector<double>& x = inputs[0].values.data;
  std::vector<double>& errors = y.permitted[0].error.data;
  window.ForEachPair([&](size_t, size_t, size_t i, size_t j) {
    const double error = ErrorAtAnyAngle(y, c, window.amplitude.value(), x[i], x[j]);
    for (const size_t at : {i, j}) errors[at] = std::max(errors[at], error);
  });
  return y;
}

}  // namespace sextant::oracle
