// An answer with garbage in one output never conforms. Tested for all operations with committed
// cases, random cases, and random cases with extreme inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <random>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "oracle/property/random_case.h"
#include "reference/case/draw.h"
#include "reference/case/intermediate.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

// A kind of garbage: replaces an element of the correct answer.
struct Garbage {
  std::string name;
  std::function<double(double correct, double of_another_case)> element;
};
const std::vector<Garbage> kGarbage = {
    {"12345", [](double, double) { return 12345; }},
    {"zero", [](double, double) { return 0; }},
    {"NaN", [](double, double) { return kNaN; }},
    {"infinity", [](double, double) { return kInfinity; }},
    {"negated", [](double correct, double) { return -correct; }},
    {"another case's", [](double, double other) { return other; }},
};

// A case, the correct answer, the answer to the same case with another seed, and the judge.
class Question {
 public:
  explicit Question(const Case& of)
      : c(of),
        inputs(DrawInputs(c)),
        recipe(ParseRecipe("native", c.dtype())),
        correct(EvaluateByRecipe({c, inputs, recipe})),
        other(EvaluateByRecipe(
            {c, DrawInputs(c.With("seed=" + std::to_string(c.seed() + 1))), recipe})),
        judge_(c, inputs, recipe) {}

  // Judges the answer and counts the verdict. The test fails if the answer conforms although a
  // changed row is not excused.
  void Try(const Tensors& answer, const std::string& what) {
    bool differs = false, excused = true;
    for (const NamedTensor& tensor : answer) {
      const size_t o = IndexOf(tensor.name), width = RowWidth(tensor.values.shape);
      for (size_t at = 0; at < tensor.values.data.size(); at += width) {
        if (IsHonest(tensor, o, at, width)) continue;
        differs = true;
        excused = excused && IsExcused(tensor, o, at, width);
      }
    }
    if (!differs) return;
    ++tried;
    const Verdict verdict = judge_.Evaluate(answer);
    failed += verdict.status == Verdict::Status::kFails;
    unverified += verdict.status == Verdict::Status::kUnverified;
    if (verdict.status != Verdict::Status::kConforms) return;
    ++conforming;
    EXPECT_TRUE(excused) << what << ": " << c.ToString();
  }

  size_t IndexOf(const std::string& name) const {
    return static_cast<size_t>(std::ranges::find(correct, name, &NamedTensor::name) -
                               correct.begin());
  }

  Case c;
  Tensors inputs;
  Recipe recipe;
  Tensors correct, other;
  size_t tried = 0, failed = 0, unverified = 0, conforming = 0;

 private:
  bool IsHonest(const NamedTensor& tensor, size_t o, size_t at, size_t width) const {
    return std::equal(tensor.values.data.begin() + at, tensor.values.data.begin() + at + width,
                      correct[o].values.data.begin() + at, SameNumber);
  }
  // True if no element of the row is specified, or if at least one element has a finite bound and
  // every such element is within its bound.
  bool IsExcused(const NamedTensor& tensor, size_t o, size_t at, size_t width) const {
    const GoldenTensor& golden = judge_.golden()[o];
    size_t specified = 0, bounded = 0;
    for (size_t i = at; i < at + width; ++i) {
      const double high = golden.high.data[i], got = tensor.values.data[i];
      const double bound = judge_.permitted()[o].error.data[i] + golden.radius.data[i];
      specified += !std::isnan(high);
      if (std::isnan(high) || std::isinf(bound)) continue;
      ++bounded;
      const bool equal = got == golden.value.data[i];
      if (!equal && !(std::abs((got - high) - golden.low.data[i]) <= bound)) return false;
    }
    return specified == 0 || bounded > 0;
  }

  Judge judge_;
};

// Garbage in `count` elements of an output from `first` on.
struct GarbageRow {
  size_t output, first, count;
};

Tensors WithGarbage(const Question& q, const Garbage& garbage, const GarbageRow& place) {
  Tensors answer = q.correct;
  Tensor<double>& values = answer[place.output].values;
  for (size_t i = place.first; i < place.first + place.count; ++i) {
    values.data[i] = RoundTo(answer[place.output].dtype,
                             garbage.element(values.data[i], q.other[place.output].values.data[i]));
  }
  return answer;
}

Tensors OnlyRequired(const Question& q, const Tensors& answer) {
  Tensors required;
  for (const TensorSpec& spec : q.c.info().signature.outputs) {
    if (!spec.optional) required.push_back(answer[q.IndexOf(spec.name)]);
  }
  return required;
}

// The answer of an implementation that computes the garbage in `output` and uses it afterwards.
Tensors ComputedFromGarbage(const Question& q, const Tensors& answer, size_t output) {
  const Tensors given = {answer[output]};
  const ScopedTrace trace(given);
  Tensors computed = EvaluateByRecipe({q.c, q.inputs, q.recipe});
  computed[output] = answer[output];
  return computed;
}

// Tries garbage in a random output: in all elements, in one row, or in one element.
void TryGarbage(Question& q, std::mt19937_64& random) {
  const size_t o = random() % q.correct.size();
  const Tensor<double>& values = q.correct[o].values;
  if (values.data.empty()) return;
  const size_t width = RowWidth(values.shape), element = random() % values.data.size();
  const Garbage& garbage = kGarbage[random() % kGarbage.size()];
  const GarbageRow places[] = {
      {o, 0, values.data.size()}, {o, element / width * width, width}, {o, element, 1}};
  const GarbageRow& place = places[random() % std::size(places)];
  const std::string what = garbage.name + " in " + std::to_string(place.count) + " of " +
                           q.correct[o].name + " from " + std::to_string(place.first);
  const Tensors answer = WithGarbage(q, garbage, place);
  const bool optional = q.c.info().signature.outputs[o].optional;
  switch (random() % 2) {
    case 0:
      return q.Try(answer, what);
    default:
      if (optional) return q.Try(ComputedFromGarbage(q, answer, o), what + ", used afterwards");
      return q.Try(OnlyRequired(q, answer), what + ", without optional outputs");
  }
}

// A random input specification with extreme values, or empty: the input is not changed.
std::string ExtremeSpec(DType dtype, std::mt19937_64& random) {
  const bool half = dtype == DType::kF16, wide = dtype == DType::kF64;
  const std::vector<std::string> specs = {"",
                                          "",
                                          "normal(300)",
                                          "special",
                                          "nonfinite",
                                          half   ? "normal(700)"
                                          : wide ? "normal(1e154)"
                                                 : "normal(1e19)",
                                          half ? "normal(5000)" : "normal(1e9)"};
  return specs[random() % specs.size()];
}

Case MadeExtreme(Case c, std::mt19937_64& random) {
  for (const TensorSpec& input : c.signature().inputs) {
    if (input.role == Role::kInteger || input.role == Role::kReal || input.role == Role::kCode)
      continue;
    const std::string spec = ExtremeSpec(c.DTypeOf(input), random);
    if (!spec.empty()) c = c.With("@" + input.name + "=" + spec);
  }
  return c;
}

struct Campaign {
  size_t drawn, extreme, committed;  // numbers of cases
  size_t answers;                    // answers per case
};

class GarbageIn : public testing::TestWithParam<std::string> {
 protected:
  void Run(const Campaign& campaign) {
    std::mt19937_64 random(1);  // the same numbers on every platform
    const CaseSpace space(*MakeOperationNamed(GetParam()));
    for (size_t n = 0; n < campaign.drawn + campaign.extreme;) {
      std::vector<size_t> indices;
      for (const size_t size : space.sizes()) indices.push_back(random() % size);
      const std::optional<Case> c = space.At(indices);
      if (!c) continue;
      TryCase(n < campaign.drawn ? *c : MadeExtreme(*c, random), random, campaign.answers);
      ++n;
    }
    const auto lines = SmallCasesOf(GetParam());
    for (size_t n = 0; n < std::min(campaign.committed, lines.size()); ++n) {
      const size_t step = std::max<size_t>(1, lines.size() / campaign.committed);
      TryCase(Case::Parse(lines[n * step].text), random, campaign.answers);
    }
    std::cout << cases_ << " cases: " << tried_ << " answers, " << failed_ << " fail, "
              << unverified_ << " unverified, " << conforming_ << " conform with an excuse\n";
    EXPECT_GT(failed_, 0u);
  }

 private:
  void TryCase(const Case& c, std::mt19937_64& random, size_t answers) {
    try {
      Question question(c);
      for (size_t n = 0; n < answers; ++n) TryGarbage(question, random);
      ++cases_;
      tried_ += question.tried;
      failed_ += question.failed;
      unverified_ += question.unverified;
      conforming_ += question.conforming;
    } catch (const Error&) {  // a drawn input exceeds the range of its dtype
    }
  }

  size_t cases_ = 0, tried_ = 0, failed_ = 0, unverified_ = 0, conforming_ = 0;
};

class SlowGarbageIn : public GarbageIn {};

TEST_P(GarbageIn, OneOutputNeverConforms) {
  Run({.drawn = 1, .extreme = 2, .committed = 1, .answers = 6});
}

TEST_P(SlowGarbageIn, OneOutputNeverConforms) {
  Run({.drawn = 4, .extreme = 8, .committed = 4, .answers = 10});
}

std::string NameOfTest(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(All, GarbageIn, testing::ValuesIn(OperationNames()), NameOfTest);
INSTANTIATE_TEST_SUITE_P(All, SlowGarbageIn, testing::ValuesIn(OperationNames()), NameOfTest);

}  // namespace
}  // namespace sextant::oracle
