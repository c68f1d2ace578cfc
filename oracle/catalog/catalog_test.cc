// Tests of the properties of every operation.
#include "oracle/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "oracle/catalog/check_properties.h"
#include "oracle/catalog/defect_subject.h"
#include "oracle/property/property.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

using Status = PropertyVerdict::Status;
using testing::IsEmpty;

TEST(Catalog, EveryPropertyHasAUniqueNameAndASentence) {
  for (const auto& operation : AllOperations()) {
    std::set<std::string> names;
    EXPECT_FALSE(CatalogEntryOf(operation->info().name).properties.empty());
    for (const Property& property : CatalogEntryOf(operation->info().name).properties) {
      EXPECT_TRUE(names.insert(property.name).second) << property.name;
      EXPECT_FALSE(property.sentence.empty()) << property.name;
    }
  }
}

class Properties : public testing::TestWithParam<std::string> {};

TEST_P(Properties, AreBrokenByNaN) {
  const Subject nan{"nan", "native", [](const Case& c, const Tensors&) {
                      Answer answer;
                      for (const TensorSpec& spec : c.info().signature.outputs) {
                        Tensor<double> values(c.ShapeOf(spec));
                        std::ranges::fill(values.data, NAN);
                        answer.outputs.push_back({spec.name, c.DTypeOf(spec), std::move(values)});
                      }
                      return answer;
                    }};
  const auto operation = MakeOperationNamed(GetParam());
  size_t broken = 0;
  for (const auto& v : CheckProperties(*operation, nan, "native", {})) {
    broken += v.status == Status::kBroken;
    if (operation->info().bitwise) continue;  // there NaN may be the right answer of one property
    EXPECT_EQ(v.status, Status::kBroken) << v.name << ": " << v.detail;
  }
  EXPECT_GT(broken, 0u);
}

INSTANTIATE_TEST_SUITE_P(Operations, Properties, testing::ValuesIn(OperationNames()),
                         [](const auto& info) { return info.param; });

// A subject with a wrong cache: its key has only shapes and dtypes, so a case gets the answer of
// the previous case with the same shapes and dtypes.
Subject WithWrongCache() {
  auto kept = std::make_shared<std::map<std::string, Tensors>>();
  return {"wrong cache", "native", [kept](const Case& c, const Tensors& inputs) {
            const Answer correct = RecipeSubject("native").answer(c, inputs);
            std::string key;
            for (const NamedTensor& output : correct.outputs) {
              key += std::string(NameOf(output.dtype)) + ToString(output.values.shape);
            }
            const auto [at, is_new] = kept->try_emplace(key, correct.outputs);
            Answer answer = correct;
            if (!is_new) answer.outputs = std::exchange(at->second, correct.outputs);
            return answer;
          }};
}

TEST_P(Properties, StatelessFindsAWrongCache) {
  const std::string property = "stateless";
  const auto operation = MakeOperationNamed(GetParam());
  const Subject subjects[] = {WithWrongCache(), RecipeSubject("native")};
  for (const Subject& subject : subjects) {
    const auto verdicts =
        CheckProperties(*operation, subject, "native", {.count = 10, .only = {property}});
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].status, &subject == subjects ? Status::kBroken : Status::kHolds)
        << verdicts[0].detail;
  }
}

// A property that no defect breaks would be useless.
class SlowProperties : public testing::TestWithParam<std::string> {};

TEST_P(SlowProperties, EachIsBrokenByADefect) {
  const auto operation = MakeOperationNamed(GetParam());
  std::set<std::string> unbroken;
  for (const Property& property : CatalogEntryOf(GetParam()).properties)
    unbroken.insert(property.name);
  unbroken.erase("stateless");  // no defect has a state
  // Five cases are enough for most properties; only the others need 100.
  for (const int cases : {5, 100}) {
    for (const Defect& defect : CatalogEntryOf(GetParam()).defects) {
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

TEST_P(SlowProperties, HoldForEveryHonestSubject) {
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

// Third-party programs cannot receive other inputs.
TEST_P(SlowProperties, UseOnlyInputsThatTheSignatureAllows) {
  const Subject correct = RecipeSubject("native");
  size_t answered = 0;
  const Subject careful{"careful", "native", [&](const Case& c, const Tensors& inputs) {
                          ++answered;
                          for (size_t i = 0; i < inputs.size(); ++i) {
                            const TensorSpec& spec = c.signature().inputs[i];
                            EXPECT_EQ(inputs[i].name, spec.name);
                            EXPECT_EQ(inputs[i].dtype, c.DTypeOf(spec));
                            EXPECT_EQ(inputs[i].values.shape, c.ShapeOf(spec));
                            for (const double x : inputs[i].values.data) {
                              EXPECT_TRUE(IsRepresentable(inputs[i].dtype, x)) << c.ToString();
                            }
                          }
                          return correct.answer(c, inputs);
                        }};
  CheckProperties(*MakeOperationNamed(GetParam()), careful, "native", {});
  EXPECT_GT(answered, 0u);
}

INSTANTIATE_TEST_SUITE_P(Operations, SlowProperties, testing::ValuesIn(OperationNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sextant::oracle
