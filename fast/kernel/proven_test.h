// Kernels against proven answers, for tests of operations that are made of others: on every
// instruction set, within what the recipe of the kernels permits.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "fast/kernel/kernel.h"
#include "fast/kernel/kernel_test.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::fast {

using RunCase = std::function<Tensors(const Case&, const Tensors& inputs)>;

// The inputs' elements between guards.
template <class T>
Guarded<T> ToGuarded(const Tensor<double>& tensor) {
  Guarded<T> all(tensor.data.size());
  for (size_t i = 0; i < tensor.data.size(); ++i) all[i] = FromDouble<T>(tensor.data[i]);
  return all;
}
template <class T>
NamedTensor FromGuarded(std::string name, Shape shape, const Guarded<T>& all) {
  NamedTensor tensor{std::move(name), kDType<T>, Tensor<double>(std::move(shape))};
  for (size_t i = 0; i < all.size(); ++i) tensor.values.data[i] = ToDouble(all[i]);
  return tensor;
}

inline bool Judges(const GoldenTensor& golden, size_t i) {
  return std::isfinite(golden.permitted.data[i]) || std::isinf(golden.value.data[i]);
}
inline bool JudgesAll(const std::vector<GoldenTensor>& golden) {
  return std::ranges::all_of(golden, [](const GoldenTensor& g) {
    for (size_t i = 0; i < g.value.data.size(); ++i) {
      if (!Judges(g, i)) return false;
    }
    return true;
  });
}

// `run` answers the case; without it the kernel of its operation does. Where errors add up until
// they permit anything, each tensor is judged on the answer's own previous ones (trace.h).
inline void ExpectProven(const std::string& line, const RunCase& run = {}) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe(kRecipe, c.dtype());
  const auto whole = Prove(c, inputs, recipe);
  const bool enough = JudgesAll(whole);
  OnAllTargets([&] {
    const Tensors answer = run ? run(c, inputs) : KernelOf(c.name()).run(c, inputs);
    const auto golden = enough ? whole : Prove(c, inputs, recipe, {.own = &answer});
    ASSERT_EQ(answer.size(), golden.size());
    for (size_t o = 0; o < golden.size(); ++o) {
      const GoldenTensor& g = golden[o];
      ASSERT_EQ(answer[o].name, g.name);
      ASSERT_EQ(answer[o].values.shape, g.high.shape);
      for (size_t i = 0; i < g.high.data.size(); ++i) {
        const double got = answer[o].values.data[i];
        const std::string where = IndexText(g.name, g.high.shape, i) + " of " + line;
        ASSERT_TRUE(Judges(g, i)) << where << " may be anything";
        if (got == g.value.data[i]) continue;  // infinities too
        const double error = (got - g.high.data[i]) - g.low.data[i];
        ASSERT_LE(std::abs(error), g.permitted.data[i] + g.radius.data[i]) << where;
      }
    }
  });
}

}  // namespace sextant::fast
