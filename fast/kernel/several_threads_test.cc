#include <gtest/gtest.h>

#include <cstring>

#include "fast/kernel/kernel.h"
#include "reference/case/draw.h"
#include "reference/number/recipe/in_parallel_here.h"

namespace sextant::fast {
namespace {

Tensors AnswerOn(int threads, const Case& c, const Tensors& inputs) {
  const ScopedThreads inside(threads);
  return AnswerOf(c, inputs);
}

// Kernels that divide rows, columns, heads or blocks of queries. The lines are long enough for it.
TEST(SeveralThreads, GiveTheSameBits) {
  for (const char* const line :
       {"softmax N=700 M=1025",
        "softmax N=7000 M=77",
        "rms_norm N=700 M=1025 dtype=bf16",
        "layer_norm N=700 M=1025",
        "add_rms_norm N=700 M=1025 dtype=bf16",
        "gated kind=swiglu N=700 F=1025",
        "activation kind=gelu N=700 F=1025 dtype=f16",
        "activation kind=swish N=700 F=1025 @x=normal(40)",
        "rms_norm_quantize N=700 G=5 M=205",
        "gated_quantize N=700 G=5 M=205",
        "rope_quantize pairing=half B=2 H=3 S=701 D=128 dtype=bf16",
        "soft_cap cap=30 N=700 M=1025 dtype=bf16",
        "cast overflow=saturate N=700 M=1025 dtype.y=f8_e4m3fn",
        "quantize N=700 A=1 G=5 M=205 dtype=bf16",
        "dequantize N=700 A=1 G=5 M=205 dtype=bf16",
        "embedding scale=3 S=700 V=9 M=1025 dtype=bf16",
        "router N=20000 E=64 K=4",
        "rope pairing=half B=2 H=3 S=701 D=128 dtype=bf16",
        "rope_shift pairing=half K=3 T=1401 D=128",
        "rope_rotate pairing=interleaved B=2 H=3 S=701 D=130 R=64 offset=3",
        "rope_table B=2 S=4001 R=128",
        "rope_cos_sin layout=halves S=8001 R=128 dtype=bf16",
        "rope_axial frequencies=lang arrangement=blocks pairing=half A=2 H=3 S=1401 D=128 R=128",
        "xpos pairing=interleaved role=key H=3 S=1401 D=128",
        "log_n_scale original_max_position_embeddings=200 H=7 S=703 D=128 dtype=bf16",
        "alibi H=3 S=701 T=703 dtype=bf16",
        "relative_bias bidirectional=true P=32 H=3 S=701 T=703",
        "linear N=9 F=2101 M=1500 dtype=bf16",
        "linear N=1 F=2101 M=4100",
        "linear N=2101 F=33 M=300 with=bias",
        "linear_scaled with=x_scale N=99 B=1 G=2 M=333 F=301 A=1 dtype=bf16 dtype.x=f8_e4m3fn",
        "feed_forward kind=swiglu N=200 M=301 F=303",
        "experts N=97 K=2 E=4 M=160 F=170 dtype=bf16",
        "attention B=2 H=6 K=3 S=9 T=11 D=8 mask=causal query_offset=[2,0] key_length=[11,5]",
        "attention with=bias B=2 H=6 K=2 S=5 T=7 D=8 dtype=bf16",
        "attention with=sink H=6 K=2 S=5 T=7 D=8",
        "attention H=3 K=1 S=701 T=703 D=16 mask=causal window=[100,0]",
        "attention H=6 K=6 S=1 T=4001 D=33",
        "attention_merge N=8000 E=99",
        "attention_scores H=6 K=2 S=90 T=1001 D=16",
        "relative_attention clip=2 H=3 S=101 T=203 D=40",
        "rope_attention pairing=half H=2 K=2 S=65 T=65 D=8",
        "decoder_block pairing=half S=600 M=1024 H=4 K=2 D=64 F=1000 dtype=bf16",
        "encoder_block S=600 M=1024 H=4 D=64 F=1000"}) {
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
