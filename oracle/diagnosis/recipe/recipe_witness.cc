#include "oracle/diagnosis/recipe/recipe_witness.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/judge/tensor_judge.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

constexpr size_t kWitnessSliceElements = 64, kSpread = 16;
// The typical error of few elements, which may share the error of a sum or of a weight, varies by
// chance; and a method may be somewhat better or worse than what the recipe's own answer follows.
constexpr double kAlike = 4;

const Tensor<double>* AnsweredIn(const JudgedAnswer& answer, const std::string& output) {
  const auto at = std::ranges::find(answer.outputs, output, &NamedTensor::name);
  return at == answer.outputs.end() ? nullptr : &at->values;
}

// The flat index of the element with the largest error / permitted error, and its output; of a
// failing answer only if it fails.
struct Place {
  size_t output = 0, index = 0;
};
std::optional<Place> WorstPlace(const JudgedAnswer& answer, const std::vector<GoldenTensor>& all,
                                const std::vector<PermittedTensor>& permitted) {
  std::optional<Place> worst;
  double largest = answer.verdict.status == Verdict::Status::kFails ? 1 : -1;
  for (size_t o = 0; o < all.size(); ++o) {
    const GoldenTensor& golden = all[o];
    const Tensor<double>* const got = AnsweredIn(answer, golden.name);
    for (size_t i = 0; got && i < got->data.size(); ++i) {
      const double error = ErrorOf(golden, i, got->data[i]);
      const double most = permitted[o].error.data[i];
      const double ratio = std::isnan(error) && std::isfinite(most) ? kInfinity : error / most;
      if (std::isnan(golden.high.data[i]) || !(ratio > largest)) continue;
      largest = ratio;
      worst = {o, i};
    }
  }
  return worst;
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

// Calls of(golden, index, given) for every answered element of the slice, in the order of a
// witness.
template <class Of>
void ForEachAnswered(const JudgedAnswer& answer, const std::vector<GoldenTensor>& all,
                     const Slice& slice, const Of& of) {
  const auto& outputs = answer.c.info().signature.outputs;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const GoldenTensor& golden = all[o];
    const Tensor<double>* const got = AnsweredIn(answer, golden.name);
    if (!got) continue;
    for (const size_t i : IndicesIn(got->shape, outputs[o], slice)) of(golden, i, got->data[i]);
  }
}

// Beyond the radius of the proven value; 0 if no value is specified.
double ErrorBeyondRadius(const GoldenTensor& golden, size_t i, double got) {
  if (std::isnan(golden.high.data[i])) return 0;
  return ErrorOf(golden, i, got) - std::max(0.0, golden.radius.data[i]);
}

// Calls of(index in the slice, given, that of the recipe itself, exact) for every element.
template <class Of>
void ForEachOwn(const JudgedAnswer& answer, const Slice& slice, const Recipe& recipe,
                const Of& of) {
  const auto& [c, inputs, outputs, judge, verdict] = answer;
  const Tensors own = EvaluateByRecipe({c, inputs, recipe}, slice);
  size_t at = 0;
  for (size_t o = 0; o < own.size(); ++o) {
    const Tensor<double>* const got = AnsweredIn(answer, own[o].name);
    if (!got) continue;
    const TensorSpec& output = c.info().signature.outputs[o];
    const std::vector<size_t> indices = IndicesIn(got->shape, output, slice);
    for (size_t i = 0; i < indices.size(); ++i, ++at) {
      const double exact = judge.golden()[o].high.data[indices[i]];
      of(at, got->data[indices[i]], own[o].values.data[i], exact);
    }
  }
}

double Median(Elements of) {  // 0 of none; NaN is the largest
  if (of.empty()) return 0;
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::ranges::nth_element(
      of, middle, [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
  return *middle;
}

// The median error on the spread slices, of the given answer and of the recipe's own.
std::pair<double, double> TypicalErrors(const RecipeWitness& witness, const Recipe& recipe,
                                        const SumOrder& order) {
  const ScopedSumOrder in_order(order);
  Elements given, of_recipe;
  const auto add = [&](size_t, double got, double own, double exact) {
    if (!std::isfinite(exact)) return;
    given.push_back(std::abs(got - exact));
    of_recipe.push_back(std::abs(own - exact));
  };
  for (const Slice& slice : witness.spread) ForEachOwn(*witness.answer, slice, recipe, add);
  return {Median(std::move(given)), Median(std::move(of_recipe))};
}

}  // namespace

Elements PermittedOn(const RecipeWitness& witness, const std::string& recipe) {
  const auto& [c, inputs, outputs, judge, verdict] = *witness.answer;
  const Recipe parsed = ParseRecipe(recipe, c.dtype());
  const Evaluation evaluation{c, inputs, parsed, c.operation(),
                              witness.in_trace ? &outputs : nullptr};
  return Flatten(*witness.answer, PermittedErrors(evaluation, witness.slice));
}

double DistanceOf(const RecipeWitness& witness, const std::string& recipe) {
  double sum = 0;
  const Recipe parsed = ParseRecipe(recipe, witness.answer->c.dtype());
  const auto add = [&](size_t at, double got, double own, double) {
    if (SameNumber(got, own)) return;
    const double distance = std::abs(got - own) / witness.before[at];
    sum += distance < 1 ? distance : 1;  // 1 for NaN too
  };
  ForEachOwn(*witness.answer, witness.slice, parsed, add);
  return sum;
}

bool HasRoundingsOnly(const Recipe& recipe) {
  return std::ranges::all_of(recipe.steps, [](const StepRule& rule) {
    const bool rounds = rule.form != Form::kErfAbsolute && rule.form != Form::kCudaIntrinsic;
    return rounds && rule.ulps == 1;
  });
}

bool IsAsAccurate(const RecipeWitness& witness, const std::string& recipe) {
  const Recipe parsed = ParseRecipe(recipe, witness.answer->c.dtype());
  const auto [given, at_best] = TypicalErrors(witness, parsed, {SumOrder::Kind::kHalves, 1});
  if (at_best > kAlike * given) return false;
  if (!HasRoundingsOnly(parsed)) return true;
  return given <= kAlike * TypicalErrors(witness, parsed, {SumOrder::Kind::kForwards, 1}).second;
}

namespace {

std::optional<RecipeWitness> WitnessAmong(const JudgedAnswer& answer, const std::string& start,
                                          const std::vector<GoldenTensor>& all,
                                          const std::vector<PermittedTensor>& permitted,
                                          bool in_trace) {
  const auto place = WorstPlace(answer, all, permitted);
  if (!place) return std::nullopt;
  const SlicesByIndex slices(answer.c, kWitnessSliceElements);
  const TensorSpec& output = answer.c.info().signature.outputs[place->output];
  RecipeWitness witness{&answer, slices.With(output, place->index), in_trace};
  const size_t spread = std::min(slices.size(), kSpread);
  for (size_t i = 0; i < spread; ++i)
    witness.spread.push_back(slices[(2 * i + 1) * slices.size() / (2 * spread)]);
  ForEachAnswered(answer, all, witness.slice,
                  [&](const GoldenTensor& golden, size_t i, double got) {
                    witness.error.push_back(ErrorBeyondRadius(golden, i, got));
                    if (std::isfinite(golden.high.data[i]))
                      witness.ulp += UlpOf(golden.dtype, golden.high.data[i]);
                  });
  witness.before = PermittedOn(witness, start);
  return witness;
}

}  // namespace

std::optional<RecipeWitness> WitnessOf(const JudgedAnswer& answer, const std::string& start) {
  return WitnessAmong(answer, start, answer.judge.golden(), answer.judge.permitted(), false);
}

std::optional<RecipeWitness> WitnessInTrace(const JudgedAnswer& answer, const std::string& start,
                                            const ProveOptions& prove) {
  const Case& c = answer.c;
  const Recipe recipe = ParseRecipe(start, c.dtype());
  const auto [golden, permitted] =
      ProveAndPermit({c, answer.inputs, recipe, c.operation(), &answer.outputs}, prove);
  return WitnessAmong(answer, start, golden, permitted, true);
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

std::optional<size_t> PermittedIn(const JudgedAnswer& answer, const Slice& slice,
                                  const Recipe& recipe) {
  const Case& c = answer.c;
  const Elements permitted = Flatten(answer, PermittedErrors({c, answer.inputs, recipe}, slice));
  size_t at = 0, judgeable = 0;
  bool permits = true;
  ForEachAnswered(answer, answer.judge.golden(), slice,
                  [&](const GoldenTensor& golden, size_t i, double got) {
                    permits = permits && ErrorBeyondRadius(golden, i, got) <= permitted[at];
                    judgeable += std::isfinite(permitted[at]) && !std::isnan(golden.high.data[i]);
                    ++at;
                  });
  return permits ? std::optional(judgeable) : std::nullopt;
}

bool Decides(const Case& c, const std::string& recipe) {
  const ScopedRecipe scope(ParseRecipe(recipe, c.dtype()), c.dtype());
  return !c.operation().Alternatives().empty();
}

namespace {
// permitted(i) is that of element i.
template <class Permitted>
bool PermitsAll(const RecipeWitness& witness, const Permitted& permitted) {
  for (size_t i = 0; i < witness.error.size(); ++i) {
    const bool failed = !(witness.error[i] <= witness.before[i]);
    const double most = permitted(i);
    if (!(witness.error[i] <= most) || (failed && std::isinf(most))) return false;
  }
  return true;
}
}  // namespace

bool Permits(const Elements& permitted, const RecipeWitness& witness) {
  return PermitsAll(witness, [&](size_t i) { return permitted[i]; });
}

bool PermitsSum(const Elements& a, const Elements& b, const RecipeWitness& witness) {
  return PermitsAll(witness, [&](size_t i) { return a[i] + (b[i] - witness.before[i]); });
}

bool MayPermitSum(const Elements& a, const Elements& b, const RecipeWitness& witness) {
  for (size_t i = 0; i < witness.error.size(); ++i) {
    const double error = witness.error[i];
    if (std::isnan(error) || error > a[i] + (b[i] - witness.before[i])) return false;
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
