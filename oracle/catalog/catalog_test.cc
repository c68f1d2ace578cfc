// What holds of the laws of every operation.
#include "oracle/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "oracle/catalog/defect_subject.h"
#include "oracle/property/property.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

using Status = PropertyVerdict::Status;
using testing::IsEmpty;

TEST(Oracle, EveryLawHasItsOwnNameAndASentence) {
  for (const auto& operation : AllOperations()) {
    std::set<std::string> names;
    EXPECT_FALSE(OracleOf(operation->info().name).properties.empty());
    for (const Property& law : OracleOf(operation->info().name).properties) {
      EXPECT_TRUE(names.insert(law.name).second) << law.name;
      EXPECT_FALSE(law.sentence.empty()) << law.name;
    }
  }
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const auto& operation : AllOperations()) names.emplace_back(operation->info().name);
  return names;
}

class Laws : public testing::TestWithParam<std::string> {};

TEST_P(Laws, NaNBreaksEach) {
  const Subject nan{"nan", "native", [](const Case& c, const Tensors&) {
                      Answer answer;
                      for (const TensorSpec& spec : c.info().signature.outputs) {
                        Tensor<double> values(c.ShapeOf(spec));
                        std::ranges::fill(values.data, NAN);
                        answer.outputs.push_back({spec.name, c.DTypeOf(spec), std::move(values)});
                      }
                      return answer;
                    }};
  for (const auto& v : CheckProperties(*MakeOperationNamed(GetParam()), nan, "native", {})) {
    EXPECT_EQ(v.status, Status::kBroken) << v.name << ": " << v.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, Laws, testing::ValuesIn(AllNames()),
                         [](const auto& info) { return info.param; });

// Keeps the last answer of every shape and dtype, and gives it to the next question of those: a
// cache whose key lacks all but the size.
Subject Remembering() {
  auto kept = std::make_shared<std::map<std::string, Tensors>>();
  return {"remembering", "native", [kept](const Case& c, const Tensors& inputs) {
            const Answer honest = RecipeSubject("native").answer(c, inputs);
            std::string key;
            for (const NamedTensor& output : honest.outputs) {
              key += std::string(NameOf(output.dtype)) + ToString(output.values.shape);
            }
            const auto [at, is_new] = kept->try_emplace(key, honest.outputs);
            Answer answer = honest;
            if (!is_new) answer.outputs = std::exchange(at->second, honest.outputs);
            return answer;
          }};
}

TEST_P(Laws, SeeWhatIsKeptOfOtherQuestions) {
  const std::string law = "as_before_others";
  const auto operation = MakeOperationNamed(GetParam());
  const Subject subjects[] = {Remembering(), RecipeSubject("native")};
  for (const Subject& subject : subjects) {
    const auto verdicts =
        CheckProperties(*operation, subject, "native", {.count = 10, .only = {law}});
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].status, &subject == subjects ? Status::kBroken : Status::kHolds)
        << verdicts[0].detail;
  }
}

// A law that no bug breaks is no law.
class SlowLaws : public testing::TestWithParam<std::string> {};

TEST_P(SlowLaws, EachIsBrokenByADefect) {
  const auto operation = MakeOperationNamed(GetParam());
  std::set<std::string> unbroken;
  for (const Property& law : OracleOf(GetParam()).properties) unbroken.insert(law.name);
  unbroken.erase("as_before_others");  // of subjects that remember, which no defect does
  for (const int cases : {5, 100}) {   // most laws are broken by the first cases of some defect
    for (const Defect& defect : OracleOf(GetParam()).defects) {
      if (unbroken.empty()) break;
      const Subject subject = DefectSubject(GetParam() + "/" + defect.name);
      for (const auto& verdict :
           CheckProperties(*operation, subject, "native", {.count = cases, .only = unbroken})) {
        if (verdict.status == Status::kBroken) unbroken.erase(verdict.name);
      }
    }
  }
  EXPECT_THAT(unbroken, IsEmpty());
}

TEST_P(SlowLaws, HoldForEveryHonestSubject) {
  for (const StandardRecipe& recipe : StandardRecipes()) {
    const Subject subject = RecipeSubject(std::string(recipe.name));
    for (const auto& v :
         CheckProperties(*MakeOperationNamed(GetParam()), subject, subject.recipe, {.count = 60})) {
      EXPECT_EQ(v.status, Status::kHolds)
          << recipe.name << " " << v.name << ": " << v.detail << "\n"
          << v.counterexample;
    }
  }
}

// A stranger's program could not even be asked otherwise.
TEST_P(SlowLaws, AskOnlyWhatTheSignatureAllows) {
  const Subject honest = RecipeSubject("native");
  size_t asked = 0;
  const Subject careful{"careful", "native", [&](const Case& c, const Tensors& inputs) {
                          ++asked;
                          for (size_t i = 0; i < inputs.size(); ++i) {
                            const TensorSpec& spec = c.info().signature.inputs[i];
                            EXPECT_EQ(inputs[i].name, spec.name);
                            EXPECT_EQ(inputs[i].dtype, c.DTypeOf(spec));
                            EXPECT_EQ(inputs[i].values.shape, c.ShapeOf(spec));
                            for (const double x : inputs[i].values.data) {
                              EXPECT_TRUE(IsRepresentable(inputs[i].dtype, x)) << c.ToString();
                            }
                          }
                          return honest.answer(c, inputs);
                        }};
  CheckProperties(*MakeOperationNamed(GetParam()), careful, "native", {});
  EXPECT_GT(asked, 0u);
}

INSTANTIATE_TEST_SUITE_P(Operations, SlowLaws, testing::ValuesIn(AllNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sextant::oracle
