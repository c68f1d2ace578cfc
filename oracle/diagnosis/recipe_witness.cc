#include "oracle/diagnosis/recipe_witness.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/tensor_judge.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

constexpr size_t kSliceElements = 64;

const Tensor<double>* AnsweredIn(const JudgedAnswer& answer, const std::string& output) {
  const auto at = std::ranges::find(answer.outputs, output, &NamedTensor::name);
  return at == answer.outputs.end() ? nullptr : &at->values;
}

// The flat index of the element with the largest error / permitted error, and its output; of a
// failing answer only if it fails.
struct Place {
  size_t output = 0, index = 0;
};
std::optional<Place> WorstPlace(const JudgedAnswer& answer) {
  std::optional<Place> worst;
  double largest = answer.verdict.status == Verdict::Status::kFails ? 1 : -1;
  for (size_t o = 0; o < answer.judge.golden().size(); ++o) {
    const GoldenTensor& golden = answer.judge.golden()[o];
    const Tensor<double>* const got = AnsweredIn(answer, golden.name);
    for (size_t i = 0; got && i < got->data.size(); ++i) {
      const double error = ErrorOf(golden, i, got->data[i]);
      const double ratio = error / answer.judge.permitted()[o].error.data[i];
      if (std::isnan(golden.high.data[i]) || !(ratio > largest)) continue;
      largest = ratio;
      worst = {o, i};
    }
  }
  return worst;
}

// The slice that contains the element.
Slice SliceWith(const Case& c, const Place& place) {
  const TensorSpec& output = c.info().signature.outputs[place.output];
  const std::vector<Slice> slices = CutCase(c, kSliceElements);
  return *std::ranges::find_if(slices, [&](const Slice& slice) {
    return std::ranges::count(IndicesIn(c.ShapeOf(output), output, slice), place.index) > 0;
  });
}

// `permitted` of the slice's answered elements, in the order of a witness; infinite where an error
// of any size would pass.
Elements Flatten(const JudgedAnswer& answer, const std::vector<PermittedTensor>& permitted) {
  Elements all;
  for (const PermittedTensor& tensor : permitted) {
    if (!AnsweredIn(answer, tensor.name)) continue;
    for (size_t i = 0; i < tensor.error.data.size(); ++i)
      all.push_back(tensor.vacuous[i] ? kInfinity : tensor.error.data[i]);
  }
  return all;
}

}  // namespace

Elements PermittedOn(const RecipeWitness& witness, const std::string& recipe) {
  const auto& [c, inputs, outputs, judge, verdict] = *witness.answer;
  const Recipe parsed = ParseRecipe(recipe, c.dtype());
  return Flatten(*witness.answer, PermittedErrors(c.operation(), c, inputs, parsed, witness.slice));
}

double DistanceOf(const RecipeWitness& witness, const std::string& recipe) {
  const auto& [c, inputs, outputs, judge, verdict] = *witness.answer;
  const Tensors own =
      EvaluateByRecipe(c.operation(), c, inputs, ParseRecipe(recipe, c.dtype()), witness.slice);
  double sum = 0;
  size_t at = 0;
  for (size_t o = 0; o < own.size(); ++o) {
    const Tensor<double>* const whole = AnsweredIn(*witness.answer, own[o].name);
    if (!whole) continue;
    const Tensor<double> got = ExtractSlice(*whole, c.info().signature.outputs[o], witness.slice);
    for (size_t i = 0; i < got.data.size(); ++i, ++at) {
      const double expected = own[o].values.data[i];
      if (SameNumber(got.data[i], expected)) continue;
      const double distance = std::abs(got.data[i] - expected) / witness.before[at];
      sum += distance < 1 ? distance : 1;  // 1 for NaN too
    }
  }
  return sum;
}

std::optional<RecipeWitness> WitnessOf(const JudgedAnswer& answer, const std::string& start) {
  const auto place = WorstPlace(answer);
  if (!place) return std::nullopt;  // an intermediate fails
  const auto& outputs = answer.c.info().signature.outputs;
  RecipeWitness witness{&answer, SliceWith(answer.c, *place)};
  for (size_t o = 0; o < outputs.size(); ++o) {
    const GoldenTensor& golden = answer.judge.golden()[o];
    const Tensor<double>* const got = AnsweredIn(answer, golden.name);
    if (!got) continue;
    for (const size_t i : IndicesIn(got->shape, outputs[o], witness.slice)) {
      const double radius = std::max(0.0, golden.radius.data[i]);
      const double error = ErrorOf(golden, i, got->data[i]) - radius;
      witness.error.push_back(std::isnan(golden.high.data[i]) ? 0 : error);
      if (std::isfinite(golden.high.data[i]))
        witness.ulp += UlpOf(golden.dtype, golden.high.data[i]);
    }
  }
  witness.before = PermittedOn(witness, start);
  return witness;
}

double MeanUlps(const std::vector<Elements>& permitted, const std::vector<RecipeWitness>& witnesses,
                const std::vector<size_t>& which) {
  if (which.empty()) return 0;
  double logarithms = 0;
  for (const size_t w : which) {
    double sum = 0;
    for (const double error : permitted[w]) sum += std::isfinite(error) ? error : 0;
    logarithms += std::log(sum / witnesses[w].ulp);
  }
  return std::exp(logarithms / static_cast<double>(which.size()));
}

bool Permits(const Elements& permitted, const RecipeWitness& witness) {
  for (size_t i = 0; i < permitted.size(); ++i) {
    const bool failed = !(witness.error[i] <= witness.before[i]);
    if (!(witness.error[i] <= permitted[i]) || (failed && std::isinf(permitted[i]))) return false;
  }
  return true;
}

bool LosesElements(const std::vector<Elements>& permitted,
                   const std::vector<RecipeWitness>& witnesses) {
  for (size_t w = 0; w < witnesses.size(); ++w) {
    for (size_t i = 0; i < permitted[w].size(); ++i) {
      if (std::isinf(permitted[w][i]) && std::isfinite(witnesses[w].before[i])) return true;
    }
  }
  return false;
}

}  // namespace sextant::oracle
