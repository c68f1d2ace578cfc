#include "oracle/block/measured/rotated_heads.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/deviation.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/rope/measured/measured_op.h"
#include "oracle/rope/measured/rotation.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

// The output that is judged, if only one is; else empty.
std::optional<size_t> OnlyJudged(const Observation& seen) {
  std::vector<size_t> judged;
  for (size_t o = 0; o < seen.permitted.size(); ++o) {
    const auto is_judged = [](double error) { return !std::isnan(error); };
    if (std::ranges::any_of(seen.permitted[o].error.data, is_judged)) judged.push_back(o);
  }
  return judged.size() == 1 ? std::optional(judged[0]) : std::nullopt;
}

// The case of the rotation: the attributes that both operations have.
Case RopeCaseOf(const Case& c, size_t heads) {
  std::string line =
      "rope dtype=" + std::string(NameOf(c.dtype())) + " B=1 H=" + std::to_string(heads);
  for (const char* letter : {"S", "D", "R"})
    line += std::string(" ") + letter + "=" + std::to_string(ExtentOf(c, letter));
  for (const Attribute& attribute : AttributesOf(RopeAttributes())) {
    const std::string text = attribute.dimension ? "" : TextOf(c, attribute.name);
    if (!text.empty()) line += " " + attribute.name + "=" + text;
  }
  return Case::Parse(line);
}

// What is rotated: the output at position 0, without a scaling, which may multiply it.
std::optional<Tensor<double>> Unrotated(const Observation& seen, size_t output) {
  const Hypothesis right{seen.c.operation().Clone(), Filled(seen.inputs, {"position"}, 0),
                         ParseRecipe("exact", seen.c.dtype())};
  const auto plain = WithAttributes(right, {{"scaling", "none"}});
  if (!plain) return std::nullopt;
  return EvaluateByRecipe({seen.c, plain->inputs, plain->recipe, *plain->operation})[output].values;
}

// [heads,S,D] as [1,heads,S,D].
Tensor<double> WithBatch(Tensor<double> x) {
  x.shape.insert(x.shape.begin(), 1);
  return x;
}

}  // namespace

std::vector<Explanation> MeasureRotatedHeads(const Observation& seen, const WithRotation& block) {
  const auto output = OnlyJudged(seen);
  if (!output || !seen.permitted[*output].name.ends_with("_rotated")) return {};
  const auto x = Unrotated(seen, *output);
  const auto answered =
      std::ranges::find(seen.answer, seen.permitted[*output].name, &NamedTensor::name);
  if (!x || answered == seen.answer.end()) return {};
  const DType dtype = seen.c.dtype();
  const Case c = RopeCaseOf(seen.c, x->shape[0]);
  const Tensor<double> position = InputNamed(seen.inputs, "position");
  const Tensors inputs = {{"x", dtype, WithBatch(*x)},
                          {"position", DType::kI64, {{1, position.data.size()}, position.data}}};
  const Tensors answer = {{"y", dtype, WithBatch(answered->values)}};
  std::vector<GoldenTensor> golden(1);
  golden[0].name = "y";
  std::vector<PermittedTensor> permitted = {seen.permitted[*output]};
  permitted[0].error = WithBatch(permitted[0].error);
  std::vector<Explanation> all;
  for (const auto& [name, sentence, model] :
       ExplainRopeOfComputed({c, inputs, seen.recipe, golden, permitted, answer})) {
    const auto& rope = dynamic_cast<const TypedOperation<MeasuredOp<Rope>>&>(*model.operation);
    const RotationOfHeads rotation{rope.op().model, model.inputs[1].values,
                                   answered->name == "k_rotated"};
    all.push_back({name, sentence, {block(rotation), SharedInputs::Of(seen.inputs), seen.recipe}});
  }
  return all;
}

}  // namespace sextant::oracle
