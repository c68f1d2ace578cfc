#include "oracle/rope/any_angle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/check_properties.h"
#include "oracle/subject/subject.h"
#include "reference/case/operations.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

// Rotates by wrong angles: positions are clamped at 64.
Subject ClampingSubject() {
  Subject subject = RecipeSubject("native");
  subject.answer = [](const Case& c, Tensors inputs) {
    for (double& p : inputs[1].values.data) p = std::min(p, 64.0);
    return Answer{.message = "",
                  .outputs = EvaluateByRecipe({c, inputs, ParseRecipe("native", c.dtype())})};
  };
  return subject;
}

TEST(AnyAngle, AngleIndependentPropertiesHoldForWrongAngles) {
  const auto verdicts = CheckProperties(
      *MakeOperationNamed("rope"), ClampingSubject(), "native",
      {.only = {"keeps_length", "transpose_rotates_back", "order_does_not_matter"}});
  EXPECT_EQ(verdicts.size(), 3u);
  for (const PropertyVerdict& verdict : verdicts) {
    EXPECT_EQ(verdict.status, PropertyVerdict::Status::kHolds)
        << verdict.name << ": " << verdict.counterexample << ": " << verdict.detail;
  }
}

TEST(AnyAngle, AngleDependentPropertiesAreBroken) {
  for (const auto& verdict : CheckProperties(*MakeOperationNamed("rope"), ClampingSubject(),
                                             "native", {.only = {"angles_add"}})) {
    EXPECT_EQ(verdict.status, PropertyVerdict::Status::kBroken);
  }
}

}  // namespace
}  // namespace sextant::oracle
