#include "oracle/defect/planned_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/diagnosis/edit/plan_edits.h"

namespace sextant::oracle {
namespace {

std::shared_ptr<const Operation> Unedited(const Case& c) {
  return WithEdit(c.operation().Clone(), CatalogEntryOf(c.name()).plan, [](Plan&) {});
}

// Of the operations that have a plan, those with this name.
const std::vector<std::string> kCases = {
    "attention_merge N=5 E=16",     "rms_norm N=5 M=33 unit_offset=true",
    "rms_norm N=3 M=64 eps=0.1",    "layer_norm N=4 M=48",
    "add_rms_norm N=3 M=40",        "softmax N=5 M=37",
    "softmax N=3 M=8 @x=normal(30)"};

// A plan is the formula: by each recipe both round to the same numbers, but for orders of sums.
TEST(PlannedOperation, IsTheFormula) {
  for (const std::string& line : kCases) {
    for (const char* const dtype : {"f32", "bf16", "f64"}) {
      for (const char* const recipe : {"native", "f32_compute", "exact"}) {
        const DrawnCase drawn(line + " dtype=" + dtype);
        const Recipe by = ParseRecipe(recipe, drawn.c.dtype());
        const auto plan = Unedited(drawn.c);
        const auto expected = PermittedErrors({drawn.c, drawn.inputs, by});
        const Tensors formula = EvaluateByRecipe({drawn.c, drawn.inputs, by});
        const Tensors planned = EvaluateByRecipe({drawn.c, drawn.inputs, by, *plan});
        for (size_t o = 0; o < formula.size(); ++o) {
          for (size_t i = 0; i < formula[o].values.data.size(); ++i) {
            const double apart = std::abs(planned[o].values.data[i] - formula[o].values.data[i]);
            EXPECT_LE(apart, 2 * expected[o].error.data[i])
                << line << " " << dtype << " " << recipe << " " << o << " " << i;
          }
        }
      }
    }
  }
}

// What an edit changes is computed again, and nothing else is another number: the same as a plan
// that was edited before it was evaluated.
TEST(PlanEdits, AreEvaluatedWithoutTheRest) {
  for (const std::string& line : kCases) {
    const DrawnCase drawn(line + " dtype=f32");
    std::vector<Tensor<double>> inputs;
    for (const NamedTensor& input : drawn.inputs) inputs.push_back(input.values);
    const Plan plan = PlanOfCase(CatalogEntryOf(drawn.c.name()).plan, drawn.c, drawn.inputs);
    const Plan::Values before = plan.EvaluateAll(inputs);
    const std::vector<PlanEdit> edits = EditsOf(plan, drawn.c.info().slices);
    EXPECT_GT(edits.size(), 300u);
    size_t effects = 0;
    for (const PlanEdit& edit : edits) {
      for (const size_t v : {size_t{0}, edit.values.size() - 1}) {
        Plan edited = plan;
        edit.edit(edited, edit.values[v].value);
        const std::vector<double> after = edited.EvaluateAfter(before)[0].data;
        Plan made = edited;  // by a plan that knows of no edits
        made.ForgetEdits();
        const std::vector<double> anew = made.EvaluateAfter(made.EvaluateAll(inputs))[0].data;
        ASSERT_EQ(after.size(), before[plan.results()[0]].data.size());
        ASSERT_EQ(after.size(), anew.size());
        for (size_t i = 0; i < anew.size(); ++i)
          ASSERT_TRUE(SameNumber(after[i], anew[i])) << line << ": " << edit.sentence;
        effects += anew != before[plan.results()[0]].data;
      }
    }
    EXPECT_GT(effects, edits.size()) << "most edits change the result";
  }
}

}  // namespace
}  // namespace sextant::oracle
