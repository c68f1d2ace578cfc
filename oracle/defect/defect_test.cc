#include "oracle/defect/defect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <typeindex>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/defect/generated_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/property/changed_inputs.h"
#include "reference/case/operations.h"
#include "reference/layer/rms_norm.h"

namespace sextant::oracle {
namespace {

using testing::IsSupersetOf;

// True if all permitted errors are finite.
bool IsBounded(const Hypothesis& hypothesis, const Case& c) {
  const auto permitted =
      PermittedErrors({c, hypothesis.inputs, hypothesis.recipe, *hypothesis.operation});
  return std::ranges::all_of(permitted, [](const PermittedTensor& p) {
    return std::ranges::all_of(p.error.data, [](double e) { return std::isfinite(e); });
  });
}

// x = (1, 7): mean square 25, so y = (1, 7) / sqrt(25 + eps), with eps 39 and 231 exactly.
TEST(ChangedWord, ComputesTheOtherCaseOnTheSameInputs) {
  const DrawnCase question("rms_norm N=1 M=2 eps=39 dtype=f64 seed=5 @x=1,7 @weight=1,1");
  const Defect defect = ChangedWord("eps", "why", "eps=231");
  EXPECT_EQ(question.CorrectAnswer()[0].values.data, (std::vector<double>{1.0 / 8, 7.0 / 8}));
  EXPECT_EQ(question.Predicted(defect)[0].values.data, (std::vector<double>{1.0 / 16, 7.0 / 16}));
}

TEST(ChangedWord, DoesNotApplyIfTheWordChangesNothingOrIsNotValid) {
  const DrawnCase question("rope pairing=half H=1 S=1 D=4 offset=2 R=2");
  EXPECT_FALSE(question.Of(ChangedWord("same", "", "pairing=half")));
  EXPECT_FALSE(question.Of(ChangedWord("no window", "", "R=4")));
  EXPECT_FALSE(question.Of(ChangedWord("unknown", "", "eps=1")));
  EXPECT_FALSE(question.Of(ChangedWord("no word", "", [](const Case&) { return ""; })));
  EXPECT_TRUE(question.Of(ChangedWord("other", "", "pairing=interleaved")));
}

TEST(ChangedInputs, ComputesTheSameCaseOnOtherInputs) {
  const DrawnCase question("rms_norm N=1 M=2 eps=39 dtype=f64 @x=1,7 @weight=1,1");
  const Defect doubled = ChangedInputs("doubled", "", [](const Case&, Tensors& inputs) {
    inputs[1].values = Times(inputs[1].values, 2);
    return true;
  });
  EXPECT_EQ(question.Predicted(doubled)[0].values.data, (std::vector<double>{2.0 / 8, 14.0 / 8}));
  EXPECT_FALSE(question.Of(ChangedInputs("no", "", [](const Case&, Tensors&) { return false; })));
}

// Without a copy of them: large inputs take longer to copy than to look at.
TEST(ExchangedInputs, AreReadWhereTheyAre) {
  const DrawnCase question("gated N=2 F=2 dtype=f64 @gate=1,2,3,4 @up=5,6,7,8");
  const auto numbers = [&](const Hypothesis& hypothesis, size_t i) {
    EXPECT_EQ(hypothesis.inputs.ElementsBeyond(SharedInputs::Of(question.inputs)), 0u);
    return ValuesOf(hypothesis.inputs.Readers())[i].values.data;
  };
  const auto exchanged = *question.Of(ExchangedInputs("", "", {{"gate", "up"}}));
  EXPECT_EQ(numbers(exchanged, 0), (std::vector<double>{5, 6, 7, 8}));
  EXPECT_EQ(numbers(exchanged, 1), (std::vector<double>{1, 2, 3, 4}));
  const auto repeated = *question.Of(RepeatedInputs("", "", {{"gate", "up"}}));
  EXPECT_EQ(numbers(repeated, 0), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(numbers(repeated, 1), (std::vector<double>{1, 2, 3, 4}));
  // Rows 1 2 5 6 and 3 4 7 8.
  const auto& defects = CatalogEntryOf("gated").defects;
  const auto pairs =
      *question.Of(*std::ranges::find(defects, std::string("halves_read_as_pairs"), &Defect::name));
  EXPECT_EQ(numbers(pairs, 0), (std::vector<double>{1, 5, 3, 7}));
  EXPECT_EQ(numbers(pairs, 1), (std::vector<double>{2, 6, 4, 8}));
}

TEST(ChangedRecipe, ChangesOnlyTheStepsItNames) {
  const DrawnCase question("rope pairing=half H=1 S=2 D=4 dtype=f32", "*=f64 angle=f32 store=T");
  const auto hypothesis = question.Of(ChangedRecipe("angle", "", "angle=bf16 trig=T"));
  const auto rule = [&](Step step) { return hypothesis->recipe.steps[static_cast<size_t>(step)]; };
  EXPECT_EQ(rule(Step::kAngle).format, DType::kBF16);
  EXPECT_TRUE(rule(Step::kTrig).of_tensor);
  EXPECT_EQ(rule(Step::kRotate).format, DType::kF64);
  EXPECT_TRUE(rule(Step::kStore).of_tensor);
}

// y = factor x + eps; `factor` is a member that is not an attribute.
struct Shifted : RmsNorm {
  double factor = 1;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>&, Tensor<Real>& y) const {
    for (size_t i = 0; i < x.data.size(); ++i) y.data[i] = x.data[i] * Real(factor) + Real(eps);
  }
};

TEST(MutatedFormula, HasTheAttributesOfTheCaseAndItsOwnMembers) {
  const DrawnCase question("rms_norm N=1 M=2 eps=0.5 dtype=f64 @x=1,7 @weight=1,1");
  Shifted shifted;
  shifted.factor = 3;
  EXPECT_EQ(question.Predicted(MutatedFormula("shifted", "", shifted))[0].values.data,
            (std::vector<double>{3.5, 21.5}));
}

TEST(CopyAttributes, CopiesDimensionsToo) {
  const Case c = Case::Parse("rope_relayout from=half to=interleaved H=3 D=8 R=6 offset=1 M=2");
  const auto copy = MakeOperationNamed("rope_relayout");
  CopyAttributes(c, *copy);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  EXPECT_EQ(EvaluateByRecipe({c, inputs, recipe, *copy})[0].values.data,
            EvaluateByRecipe({c, inputs, recipe})[0].values.data);
}

TEST(GeneratedDefects, AreTheChoicesOfAttributes) {
  std::vector<std::string> names;
  for (const Defect& defect : GeneratedDefects(*MakeOperationNamed("rms_norm"))) {
    names.push_back(defect.name);
  }
  EXPECT_THAT(names, ElementsAre("eps=1e-05", "eps=0.1", "eps=1e-08", "unit_offset=false",
                                 "unit_offset=true"));
}

// A case without placement=sandwich has no norms by which it could compute so; one with
// qk_norm=full has those of qk_norm=head.
TEST(GeneratedDefects, LeaveOutAValueThatAloneReadsAnInput) {
  std::vector<std::string> names;
  for (const Defect& defect : GeneratedDefects(*MakeOperationNamed("decoder_block"))) {
    names.push_back(defect.name);
  }
  EXPECT_THAT(names, IsSupersetOf({"placement=pre", "placement=branch", "placement=parallel",
                                   "qk_norm=", "qk_norm=head", "qk_norm=full"}));
  EXPECT_THAT(names, testing::Not(testing::Contains("placement=sandwich")));
}

TEST(GeneratedDefects, FixArgumentsOfCalls) {
  const auto& defects = CatalogEntryOf("rope_frequencies").defects;
  std::vector<std::string> names;
  for (const Defect& defect : defects) names.push_back(defect.name);
  EXPECT_THAT(names,
              IsSupersetOf({"scaling.llama3.factor=8", "scaling.llama3.low_freq_factor=1",
                            "scaling.llama3.original_max_position_embeddings=8192",
                            "scaling.linear.factor=8", "scaling.linear.factor_cut_to_an_integer",
                            "scaling.yarn.truncate=true", "scaling.yarn.truncate=false"}));
}

// The frequencies are 10000^0 = 1 and 1 / 100, divided by 2 instead of 2.5.
TEST(GeneratedDefects, CutNumbersToIntegers) {
  const Defect& cut = DefectNamed("rope_frequencies", "scaling.linear.factor_cut_to_an_integer");
  EXPECT_EQ(DrawnCase("rope_frequencies R=4 scaling=linear(factor=2.5) dtype=f64")
                .Predicted(cut)[0]
                .values.data,
            (std::vector<double>{0.5, 0.005}));
  EXPECT_FALSE(DrawnCase("rope_frequencies R=4 scaling=linear(factor=8) dtype=f64").Of(cut));
  EXPECT_FALSE(DrawnCase("rope_frequencies R=4 scaling=llama3(factor=2.5) dtype=f64").Of(cut));
}

TEST(Explains, AcceptsOnlyItsOwnPrediction) {
  const DrawnCase question("rope pairing=half H=2 D=8 dtype=f32 @position=1,2,3");
  const auto hypothesis = question.Of(DefectNamed("rope", "rotates_backwards"));
  Tensors answer = Predict(*hypothesis, question.c);
  EXPECT_TRUE(Explains(*hypothesis, question.c, question.recipe, answer));
  EXPECT_FALSE(Explains(*hypothesis, question.c, question.recipe, question.CorrectAnswer()));
  answer[0].values.data[5] += 1e-3;
  EXPECT_FALSE(Explains(*hypothesis, question.c, question.recipe, answer));
  answer[0].values.data[5] = NAN;
  EXPECT_FALSE(Explains(*hypothesis, question.c, question.recipe, answer));
}

// 7 times 10^6 overflows f16, so the permitted error is infinite. There only an equal value is
// explained.
TEST(Explains, RequiresEqualValuesIfThePermittedErrorIsInfinite) {
  const DrawnCase question("rms_norm N=1 M=2 dtype=f16 @x=0,7 @weight=1,1");
  Shifted shifted;
  shifted.factor = 1e6;
  const auto hypothesis = question.Of(MutatedFormula("shifted", "", shifted));
  Tensors answer = Predict(*hypothesis, question.c);
  EXPECT_EQ(answer[0].values.data[1], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(Explains(*hypothesis, question.c, question.recipe, answer));
  answer[0].values.data[1] = 7;
  EXPECT_FALSE(Explains(*hypothesis, question.c, question.recipe, answer));
}

// Bugs that published articles teach.
TEST(Catalog, HasTheBugsOfArticles) {
  for (const char* name :
       {"one_frequency_per_channel", "exponent_shifted_down", "mixed_rotate_half",
        "frequencies_by_power_chain", "frequencies_in_bf16", "angle_in_bf16"}) {
    EXPECT_NO_THROW(DefectNamed("rope", name)) << name;
  }
}

TEST(Catalog, RefusesUnknownOperations) { EXPECT_THROW(CatalogEntryOf("rop"), Error); }

TEST(Catalog, EveryDefectHasAUniqueNameAndADescription) {
  for (const auto& operation : AllOperations()) {
    std::set<std::string> names;
    for (const Defect& defect : CatalogEntryOf(operation->info().name).defects) {
      EXPECT_TRUE(names.insert(defect.name).second) << operation->info().name << " " << defect.name;
      EXPECT_FALSE(defect.why.empty()) << operation->info().name << " " << defect.name;
    }
  }
}

// Without its mutation, a mutated formula must give the operation's own answers to all committed
// cases, up to rounding. So the answers of a mutated formula differ by its mutation alone.
class SlowMutatedFormulas : public testing::TestWithParam<std::string> {};

TEST_P(SlowMutatedFormulas, AreRightWithoutTheirMutation) {
  std::map<std::type_index, const Defect*> formulas;  // several mutations share one formula
  for (const Defect& defect : CatalogEntryOf(GetParam()).defects) {
    if (!defect.unmutated) continue;
    const auto formula = defect.unmutated(Case::Parse(SmallCasesOf(GetParam())[0].text));
    formulas.emplace(typeid(*formula), &defect);
  }
  for (const CaseLine& line : SmallCasesOf(GetParam())) {
    for (const std::string recipe : {"native", "exact"}) {
      const DrawnCase question(line.text, recipe);
      const Tensors answer = question.CorrectAnswer();
      for (const auto& [type, defect] : formulas) {
        const Hypothesis same{defect->unmutated(question.c), question.inputs, question.recipe};
        if (!IsBounded(same, question.c)) continue;
        EXPECT_TRUE(Explains(same, question.c, question.recipe, answer))
            << line.text << " " << recipe << " formula of " << defect->name;
      }
    }
  }
}

// Whether the mutation does not show in that case: the mutated formula gives the right answer.
bool IsHidden(const Defect& defect, const DrawnCase& question) {
  const auto mutated = question.Of(defect);
  return mutated && IsBounded(*mutated, question.c) &&
         Explains(*mutated, question.c, question.recipe, question.CorrectAnswer());
}

// Cases in which mutations are hidden that show in every committed case: lse2 is -infinity (no
// keys); one head of one token at position 0, or a residual stream of zeros; memory that is x.
constexpr const char* kHiding[] = {
    "activation kind=swish N=1 F=1 @x=0",
    "activation kind=sigmoid N=1 F=1 @x=0",
    "activation kind=gelu N=1 F=1 @x=0",
    "activation kind=gelu_tanh N=1 F=1 @x=0",
    "activation kind=relu N=1 F=1 @x=1",
    "activation kind=relu2 N=1 F=1 @x=1",
    "activation kind=tanh N=1 F=1 @x=0",
    "attention_merge N=1 E=2 dtype=f32 @lse2=masked seed=3",
    "decoder_block pairing=half S=1 M=4 H=1 D=4 F=3 dtype=f32 @position=0",
    "decoder_block pairing=half S=2 M=2 H=2 D=2 F=3 dtype=f32 @x=0,0,0,0",
    "decoder pairing=half V=2 L=1 S=2 M=2 H=1 D=2 F=3 dtype=f32 @table=0,0,0,0",
    "cross_attention S=1 T=1 M=2 H=1 D=2 dtype=f32 @x=1,2 @memory=1,2",
    "quantize N=1 A=1 G=1 M=2 dtype=f32 @x=448,1"};

TEST_P(SlowMutatedFormulas, AreRightWhereTheirMutationCannotShow) {
  std::vector<std::string> lines;
  for (const std::string line : kHiding) {
    if (line.starts_with(GetParam() + " ")) lines.push_back(line);
  }
  for (const CaseLine& line : SmallCasesOf(GetParam())) lines.push_back(line.text);
  for (const Defect& defect : CatalogEntryOf(GetParam()).defects) {
    if (!defect.unmutated) continue;
    EXPECT_TRUE(std::ranges::any_of(
        lines, [&](const std::string& line) { return IsHidden(defect, DrawnCase(line, "exact")); }))
        << GetParam() << "/" << defect.name;
  }
}

// Every defect explains its own answers to the committed cases.
class SlowDefects : public testing::TestWithParam<std::string> {};

TEST_P(SlowDefects, ExplainTheirOwnAnswers) {
  for (const CaseLine& line : SmallCasesOf(GetParam())) {
    const DrawnCase question(line.text);
    for (const Defect& defect : CatalogEntryOf(GetParam()).defects) {
      const auto hypothesis = question.Of(defect);
      if (!hypothesis) continue;
      const Tensors answer = Predict(*hypothesis, question.c);
      if (!IsBounded(*hypothesis, question.c)) continue;
      EXPECT_TRUE(Explains(*hypothesis, question.c, question.recipe, answer))
          << line.text << " " << defect.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, SlowMutatedFormulas, testing::ValuesIn(OperationNames()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Operations, SlowDefects, testing::ValuesIn(OperationNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sextant::oracle
