#include "oracle/rope/any_angle.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/rope/rotary_properties.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

// An error that the recipe permits in either channel of the pair (x, y) that is turned by any
// angle. That of a cosine, of its product with x, and of a sum grows with the numbers in it. At
// 0.75 radians cos and sin lie between 1/2 and 1: there an ulp is that of every number below 1, and
// twice x times them is no less than x times any cosine, as its error is no less.
double ErrorAtAnyAngle(const Response& y, const Case& c, double amplitude, double of_x,
                       double of_y) {
  const ScopedRecipe following(y.recipe, c.dtype());
  std::pair<Counted, Counted> turn;
  {
    const ScopedStep at(Step::kTrig);
    turn = CosSin(Counted(0.75));
  }
  turn = TableEntry(turn, Counted(amplitude));
  Counted sum;
  {
    const ScopedStep at(Step::kRotate);
    sum = Counted(2 * std::abs(of_x), c.dtype()) * turn.first +
          Counted(2 * std::abs(of_y), c.dtype()) * turn.second;
  }
  const ScopedStore at(y.outputs[0].dtype);
  return Converted(sum).Permitted();
}

}  // namespace

Response TurnedAnyhow(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  Response y = ask(c, inputs);
  const std::vector<double>& x = inputs[0].values.data;
  std::vector<double>& errors = y.permitted[0].error.data;
  for (size_t r = 0; r < window.rows; ++r) {
    for (size_t k = 0; k < window.pairs; ++k) {
      const auto [i, j] = window.Pair(r, k);
      const double any = ErrorAtAnyAngle(y, c, window.amplitude.value(), x[i], x[j]);
      for (const size_t at : {i, j}) errors[at] = std::max(errors[at], any);
    }
  }
  return y;
}

}  // namespace sextant::oracle
