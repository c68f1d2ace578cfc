// Kernels against proven answers, for tests of operations that are made of others: on every
// instruction set, within what the recipe of the kernels permits.
#pragma once

#include <string>

#include "fast/kernel.h"
#include "fast/kernel_test.h"
#include "reference/draw.h"
#include "reference/prove.h"

namespace sextant::fast {

inline void ExpectProven(const std::string& line) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const auto golden = Prove(c, inputs, ParseRecipe(kRecipe, c.dtype()));
  OnAllTargets([&] {
    const Tensors answer = KernelOf(c.name()).run(c, inputs);
    ASSERT_EQ(answer.size(), golden.size());
    for (size_t o = 0; o < golden.size(); ++o) {
      const GoldenTensor& g = golden[o];
      ASSERT_EQ(answer[o].name, g.name);
      ASSERT_EQ(answer[o].values.shape, g.high.shape);
      for (size_t i = 0; i < g.high.data.size(); ++i) {
        const double error = (answer[o].values.data[i] - g.high.data[i]) - g.low.data[i];
        ASSERT_LE(std::abs(error), g.permitted.data[i] + g.radius.data[i])
            << IndexText(g.name, g.high.shape, i) << " of " << line;
      }
    }
  });
}

}  // namespace sextant::fast
