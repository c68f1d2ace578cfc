// Comparison of kernels with proven values, for tests of composite operations: on every instruction
// set, within the permitted error of the kernels' recipe.
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

// The elements of a tensor in guarded memory.
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

// True if the permitted error of element i is finite or its value infinite.
inline bool IsTestable(const GoldenTensor& golden, size_t i) {
  return std::isfinite(golden.permitted.data[i]) || std::isinf(golden.value.data[i]);
}
inline bool AllTestable(const std::vector<GoldenTensor>& golden) {
  return std::ranges::all_of(golden, [](const GoldenTensor& g) {
    for (size_t i = 0; i < g.value.data.size(); ++i) {
      if (!IsTestable(g, i)) return false;
    }
    return true;
  });
}

// Compares the outputs of `run`, by default the kernel of the operation, with the proven values of
// the case. If the permitted errors of the whole operation are infinite, each tensor is compared
// with the value that follows from the kernel's own intermediates.
inline void ExpectProven(const std::string& line, const RunCase& run = {}) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe(kRecipe, c.dtype());
  const auto whole = Prove({c, inputs, recipe});
  const bool testable = AllTestable(whole);
  OnAllTargets([&] {
    const Tensors outputs = run ? run(c, inputs) : AnswerOf(c, inputs);
    const auto golden = testable ? whole : Prove({c, inputs, recipe, c.operation(), &outputs});
    ASSERT_EQ(outputs.size(), golden.size());
    for (size_t o = 0; o < golden.size(); ++o) {
      const GoldenTensor& g = golden[o];
      ASSERT_EQ(outputs[o].name, g.name);
      ASSERT_EQ(outputs[o].values.shape, g.high.shape);
      for (size_t i = 0; i < g.high.data.size(); ++i) {
        const double got = outputs[o].values.data[i];
        const std::string where = IndexText(g.name, g.high.shape, i) + " of " + line;
        ASSERT_TRUE(IsTestable(g, i)) << where << " has no finite permitted error";
        if (got == g.value.data[i]) continue;  // also infinities
        const double error = (got - g.high.data[i]) - g.low.data[i];
        ASSERT_LE(std::abs(error), g.permitted.data[i] + g.radius.data[i]) << where;
      }
    }
  });
}

}  // namespace sextant::fast
