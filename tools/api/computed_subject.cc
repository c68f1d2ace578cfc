#include "tools/api/computed_subject.h"

#include <algorithm>
#include <array>

#include "fast/kernel/kernel.h"
#include "oracle/catalog/defect_subject.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Subject;

constexpr char kFast[] = "fast";

Subject FastSubject() {
  Subject fast{kFast, std::string(fast::kRecipe), [](const Case& c, const Tensors& inputs) {
                 const fast::CaseKernel& kernel = fast::KernelOf(c.name());
                 std::string reason = kernel.declines(c);
                 if (!reason.empty())
                   return Answer{Answer::Status::kUnsupported, std::move(reason), {}};
                 return Answer{.message = "", .outputs = kernel.run(c, inputs)};
               }};
  fast.answer_stored = [](const Case& c, const StoredTensors& inputs) {
    const fast::CaseKernel& kernel = fast::KernelOf(c.name());
    const bool answers = kernel.run_stored && kernel.declines(c).empty();
    return answers ? std::optional(kernel.run_stored(c, inputs)) : std::nullopt;
  };
  return fast;
}

}  // namespace

std::optional<Subject> ComputedSubject(const std::string& text) {
  const auto after = [&text](std::string_view kind) {
    return text.starts_with(kind) ? text.substr(kind.size()) : "";
  };
  if (text == kFast) return FastSubject();
  if (const std::string recipe = after("recipe:"); !recipe.empty())
    return oracle::RecipeSubject(recipe);
  if (const std::string defect = after("defect:"); !defect.empty())
    return oracle::DefectSubject(defect);
  return std::nullopt;
}

bool HasCommandName(const Subject& subject) {
  return subject.name == kFast ||
         std::ranges::any_of(std::array{"recipe:", "defect:", "files:", "lib:", "exec:"},
                             [&](const char* kind) { return subject.name.starts_with(kind); });
}

}  // namespace sextant::tools
