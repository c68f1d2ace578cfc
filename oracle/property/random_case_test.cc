#include "oracle/property/random_case.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <sstream>

#include "oracle/defect/coverage_goal.h"
#include "oracle/judge/judge.h"
#include "oracle/subject/subject.h"
#include "reference/case/draw.h"
#include "reference/case/extents.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

// Draws valid cases at random indices.
class Drawer {
 public:
  explicit Drawer(const Operation& operation) : space_(operation) {}
  Case Next() {
    while (true) {
      std::vector<size_t> indices;
      for (const size_t size : space_.sizes()) indices.push_back(random_() % size);
      if (const auto c = space_.At(indices)) return *c;
    }
  }

 private:
  CaseSpace space_;
  std::mt19937_64 random_{1};  // the same numbers on every platform
};

TEST(CaseSpace, TheFirstChoicesAreTheSimplestCase) {
  const CaseSpace space(*MakeOperationNamed("rms_norm"));
  const auto c = space.At(std::vector<size_t>(space.sizes().size(), 0));
  ASSERT_TRUE(c);
  EXPECT_EQ(
      c->ToString(),
      Case::Parse("rms_norm eps=1e-05 unit_offset=false N=3 M=7 dtype=f32 seed=1").ToString());
}

TEST(CaseSpace, EveryIndexChangesOneWord) {
  const CaseSpace space(*MakeOperationNamed("rope_table"));
  const std::vector<size_t> simplest(space.sizes().size(), 0);
  for (size_t place = 0; place < space.sizes().size(); ++place) {
    std::set<std::string> lines;
    for (size_t choice = 0; choice < space.sizes()[place]; ++choice) {
      auto indices = simplest;
      indices[place] = choice;
      if (const auto c = space.At(indices)) lines.insert(c->ToString());
    }
    EXPECT_EQ(lines.size(), space.sizes()[place]) << place;
  }
}

TEST(CaseSpace, InvalidCombinationsAreNoCase) {
  const CaseSpace space(*MakeOperationNamed("rope"));
  size_t impossible = 0, possible = 0;
  std::vector<size_t> indices(space.sizes().size(), 0);
  for (size_t place = 0; place < indices.size(); ++place) {
    for (size_t choice = 0; choice < space.sizes()[place]; ++choice) {
      auto changed = indices;
      changed[place] = choice;
      ++(space.At(changed) ? possible : impossible);  // R=64 does not fit into D=4
    }
  }
  EXPECT_GT(impossible, 0u);
  EXPECT_GT(possible, 0u);
}

// cos and sin must be drawn together, else cos^2 + sin^2 is not 1.
TEST(CaseSpace, TablesKeepTheirDistribution) {
  Drawer drawer(*MakeOperationNamed("rope_rotate"));
  for (int i = 0; i < 100; ++i) {
    const Case c = drawer.Next();
    EXPECT_EQ(c.SpecOf(c.signature().inputs[1]), "circle_cos");
    EXPECT_EQ(c.SpecOf(c.signature().inputs[2]), "circle_sin");
  }
}

TEST(CaseSpace, AllCasesCanBeDrawnInEveryDType) {
  for (const auto& operation : AllOperations()) {
    Drawer drawer(*operation);
    std::set<DType> types;
    for (int i = 0; i < 80; ++i) {
      const Case c = drawer.Next();
      EXPECT_NO_THROW(DrawInputs(c));
      types.insert(c.dtype());
    }
    EXPECT_EQ(types.size(), operation->info().bitwise ? 8u : 4u) << operation->info().name;
  }
}

// Fewer cases for blocks, because their proofs take long.
int CountOfCases(const OperationInfo& info) { return IsComposite(info) ? 25 : 120; }

// The recipe's own answers conform in about 25 000 random cases.
class SlowFalseAlarms : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(SlowFalseAlarms, NoHonestSubjectFails) {
  const auto& [operation, recipe_text] = GetParam();
  const auto drawn = MakeOperationNamed(operation);
  Drawer drawer(*drawn);
  for (int i = 0; i < CountOfCases(drawn->info()); ++i) {
    const Case c = drawer.Next();
    const Tensors inputs = DrawInputs(c);
    const Recipe recipe = ParseRecipe(recipe_text, c.dtype());
    const Verdict verdict =
        Judge(c, inputs, recipe).Evaluate(EvaluateByRecipe({c, inputs, recipe}));
    ASSERT_NE(verdict.status, Verdict::Status::kFails) << c.ToString() << "\n"
                                                       << verdict.tensors.at(0).worst.where;
    ASSERT_NE(verdict.grade, Grade::kUnlikely) << c.ToString();
  }
}

// The rules of a recipe for the steps of an operation, as text.
std::string RulesFor(const OperationInfo& info, const std::string& recipe) {
  std::string rules;
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const Recipe parsed = ParseRecipe(recipe, dtype);
    std::istringstream steps(std::string(info.steps) + " store");
    for (std::string name; steps >> name;) {
      Step step{};
      ParseValue(name, step);
      const StepRule& rule = parsed.steps[static_cast<size_t>(step)];
      rules += std::string(rule.exact ? "exact" : NameOf(rule.of_tensor ? dtype : rule.format)) +
               PrintValue(rule.form) + PrintValue(rule.ulps) + " ";
    }
  }
  return rules;
}

// Every operation with every standard recipe, without recipes whose rules for the operation's steps
// equal those of an earlier recipe.
std::vector<std::tuple<std::string, std::string>> Questions() {
  std::vector<std::tuple<std::string, std::string>> questions;
  for (const auto& operation : AllOperations()) {
    std::set<std::string> known;
    for (const StandardRecipe& recipe : StandardRecipes()) {
      if (known.insert(RulesFor(operation->info(), std::string(recipe.name))).second)
        questions.emplace_back(operation->info().name, recipe.name);
    }
  }
  return questions;
}

INSTANTIATE_TEST_SUITE_P(Operations, SlowFalseAlarms, testing::ValuesIn(Questions()),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace sextant::oracle
