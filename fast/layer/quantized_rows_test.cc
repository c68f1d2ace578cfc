// Kernels that answer codes give those of the two kernels that they consist of, on every target.
#include "fast/layer/quantized_rows.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/kernel_test.h"
#include "reference/case/draw.h"

namespace sextant::fast {
namespace {

Tensors Answer(const std::string& line, const Tensors& inputs) {
  const Case c = Case::Parse(line);
  return AnswerOf(c, inputs);
}

// y of `first`, quantized in rows of M with these words, has the scale and codes of `line`.
void ExpectComposed(const std::string& line, const std::string& first, const std::string& shape,
                    const std::string& words) {
  const Case whole = Case::Parse(line);
  const Tensors inputs = DrawInputs(whole), fused = Answer(line, inputs);
  Tensors of_first;
  const Case before = Case::Parse(first);
  for (const TensorSpec& spec : before.signature().inputs) {
    of_first.push_back(Find(inputs, spec.name));
    of_first.back().values.shape = before.ShapeOf(spec);
  }
  Tensors y = Answer(first, of_first);
  const Case after = Case::Parse("quantize " + words + " " + shape);
  y.resize(1);
  y[0].name = "x";
  y[0].values.shape = after.ShapeOf(after.signature().inputs[0]);
  const Tensors apart = Answer(after.ToString(), y);
  for (size_t o = 0; o < fused.size(); ++o) EXPECT_EQ(fused[o].values.data, apart[o].values.data);
}

TEST(QuantizedRows, ARowIsThatOfTwoKernels) {
  OnAllTargets([] {
    for (const std::string dtype : {"f32", "bf16", "f16", "f64"}) {
      for (int M = 1; M <= 67; M += 3) {
        const std::string m = std::to_string(M), of = " dtype=" + dtype;
        ExpectComposed("rms_norm_quantize N=3 G=2 M=" + m + of,
                       "rms_norm N=3 M=" + std::to_string(2 * M) + of, "N=3 A=1 G=2 M=" + m + of,
                       "");
        ExpectComposed("gated_quantize scale_rule=up N=3 G=2 M=" + m + of,
                       "gated N=3 F=" + std::to_string(2 * M) + of, "N=3 A=1 G=2 M=" + m + of,
                       "scale_rule=up");
        const std::string heads = " H=2 S=3 D=" + std::to_string(2 * M) + of;
        ExpectComposed("rope_quantize pairing=half dtype.codes=i8" + heads,
                       "rope pairing=half" + heads, "N=6 A=1 G=1 M=" + std::to_string(2 * M) + of,
                       "dtype.codes=i8");
      }
    }
  });
}

TEST(QuantizedRows, AResidualIsAddedFirst) {
  OnAllTargets([] {
    ExpectComposed("rms_norm_quantize with=residual N=3 G=1 M=33 dtype=bf16",
                   "add_rms_norm N=3 M=33 dtype=bf16", "N=3 A=1 G=1 M=33 dtype=bf16", "");
  });
}

}  // namespace
}  // namespace sextant::fast
