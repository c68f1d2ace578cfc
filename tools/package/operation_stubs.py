"""The texts of the files that tools/new_operation writes."""


def header(op):
    members = "".join(f"  {kind} {name} = {default};\n" for name, kind, default in op.attributes)
    visits = " ".join(f'v("{name}", {name});' for name, _, _ in op.attributes)
    visit = f"  void Visit(auto&& v) {{ {visits} }}" if visits else "  void Visit(auto&&) {}"
    return f"""// Still to write: one sentence about the operation.
#pragma once

#include <string_view>

#include "reference/number/tensor/tensor.h"

namespace sextant {{

struct {op.struct} {{
  static constexpr std::string_view kName = "{op.name}";
  static constexpr std::string_view kSignature = "{op.signature}";
  // Still to write: kSlices, the letters of axes along which elements are independent.
  static constexpr std::string_view kSlices = "";
  // Still to write: kSteps, the steps that the formula marks (reference/number/recipe/recipe.h).
  static constexpr std::string_view kSteps = "";
  static constexpr std::string_view kDraw = "{op.draw()}";
  // Still to write: kChoices, the values of attributes and dimensions that matter.
  static constexpr std::string_view kChoices = "{op.choices()}";
  static constexpr std::string_view kFormula = "Still to write: the definition, a line per tensor";
  static constexpr std::string_view kSource = "Still to write: paper and equation";

{members}{visit}
  template <class Real>
  void operator()({op.parameters()}) const;
}};

}}  // namespace sextant
"""


def formula(op):
    unused = "".join(f"  static_cast<void>({t.name});\n" for t in op.inputs + op.outputs)
    return f"""#include "reference/{op.family}/{op.name}.h"

#include "reference/case/operation.h"

namespace sextant {{

template <class Real>
void {op.struct}::operator()({op.parameters()}) const {{
{unused}  throw Error("Still to write: the formula, in reference/{op.family}/{op.name}.cc");
}}

template <>
std::unique_ptr<Operation> MakeOperation<{op.struct}>() {{
  return Wrap<{op.struct}>();
}}

}}  // namespace sextant
"""


def formula_test(op):
    return f"""#include "reference/{op.family}/{op.name}.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/prove/proof_test.h"

namespace sextant {{
namespace {{

using testing::ElementsAre;

// Still to write: values that a reader can verify by hand.
TEST({op.struct}, ComputesValuesVerifiedByHand) {{
  EXPECT_THAT(DoublesOf("{op.line("f64")}"), ElementsAre());
}}

}}  // namespace
}}  // namespace sextant
"""


def kernel(op):
    return f"""#include "reference/{op.family}/{op.name}.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {{
namespace {{

std::string Declines{op.struct}(const Case&) {{
  return "Still to write: the kernel, in fast/{op.family}/{op.name}.cc";
}}

}}  // namespace

template <>
CaseKernel MakeKernel<{op.struct}>() {{
  return {{Declines{op.struct}, nullptr}};
}}

}}  // namespace sextant::fast
"""


def oracle(op):
    return f"""#include "reference/{op.family}/{op.name}.h"

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {{

// Still to write: the properties of the operation and the defects that implementations may have.
template <>
CatalogEntry MakeCatalogEntry<{op.struct}>() {{
  return {{.properties = {{}}, .defects = {{}}}};
}}

}}  // namespace sextant::oracle
"""


def cases(op):
    comment = "# Still to write: what the operation computes, and a reason for each case."
    return f"{comment}\n{op.line()}  # small\n"


def mpmath_formula(op):
    names = ", ".join(["case"] + [tensor.name for tensor in op.inputs])
    return f'''"""{op.name} in mpmath, from its definition; rules in formulas.py, example linear.py."""


def {op.name}({names}):
    raise NotImplementedError("Still to write: the formula in mpmath, fixtures/mpmath/{op.name}.py")
'''


def native(op):
    return f'''

def {op.name}(q, at):
    raise NotImplementedError("Still to write: {op.name} in numpy, in stages as steps.py says")
'''


def new_files(op):
    return {
        f"reference/{op.family}/{op.name}.h": header(op),
        f"reference/{op.family}/{op.name}.cc": formula(op),
        f"reference/{op.family}/{op.name}_test.cc": formula_test(op),
        f"fast/{op.family}/{op.name}.cc": kernel(op),
        f"oracle/{op.family}/{op.name}.cc": oracle(op),
        f"fixtures/cases/{op.name}.cases": cases(op),
        f"fixtures/mpmath/{op.name}.py": mpmath_formula(op),
    }
