#include <gtest/gtest.h>

#include <cstring>

#include "fast/kernel/kernel.h"
#include "reference/case/draw.h"
#include "reference/number/recipe/in_parallel_here.h"

namespace sextant::fast {
namespace {

Tensors AnswerOn(int threads, const Case& c, const Tensors& inputs) {
  const ScopedThreads inside(threads);
  return KernelOf(c.name()).run(c, inputs);
}

// Kernels that divide their rows, or their key heads, among threads.
TEST(SeveralThreads, GiveTheSameBits) {
  for (const char* const line :
       {"softmax N=700 M=1025", "rms_norm N=700 M=1025 dtype=bf16", "layer_norm N=700 M=1025",
        "gated kind=swiglu N=700 F=1025", "activation kind=gelu N=700 F=1025 dtype=f16",
        "rope pairing=half B=2 H=3 S=701 D=128 dtype=bf16",
        "rope_shift pairing=half K=3 T=1401 D=128",
        "xpos pairing=interleaved role=key H=3 S=1401 D=128",
        "attention B=2 H=6 K=3 S=9 T=11 D=8 mask=causal query_offset=[2,0] key_length=[11,5]",
        "attention with=bias B=2 H=6 K=2 S=5 T=7 D=8 dtype=bf16",
        "attention with=sink H=6 K=2 S=5 T=7 D=8"}) {
    SCOPED_TRACE(line);
    const Case c = Case::Parse(line);
    const Tensors inputs = DrawInputs(c);
    const Tensors one = AnswerOn(1, c, inputs), three = AnswerOn(3, c, inputs);
    ASSERT_EQ(one.size(), three.size());
    for (size_t o = 0; o < one.size(); ++o) {
      const std::vector<double>&a = one[o].values.data, &b = three[o].values.data;
      ASSERT_EQ(a.size(), b.size());
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0);
    }
  }
}

}  // namespace
}  // namespace sextant::fast
