#include "tools/api/computed_subject.h"

#include <algorithm>
#include <span>

#include "fast/kernel/kernel.h"
#include "oracle/catalog/defect_subject.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Subject;

constexpr char kFast[] = "fast";

constexpr const char* kSubjects[] = {kFast,           "recipe:NAME", "defect:OPERATION/NAME",
                                     "files:FILE.h5", "lib:FILE.so", "exec:COMMAND"};
constexpr size_t kComputed = 3;  // the first ones

std::string HelpOn(std::span<const char* const> subjects) {
  std::string text = subjects.front();
  for (const char* subject : subjects.subspan(1)) text += std::string(" | ") + subject;
  return text;
}

Subject FastSubject() {
  Subject fast{kFast, std::string(fast::kRecipe), [](const Case& c, const Tensors& inputs) {
                 std::string reason = fast::KernelOf(c.name()).declines(c);
                 if (!reason.empty())
                   return Answer{Answer::Status::kUnsupported, std::move(reason), {}};
                 return Answer{.message = "", .outputs = fast::AnswerOf(c, inputs)};
               }};
  fast.answer_stored = [](const Case& c, const StoredTensors& inputs) {
    const fast::CaseKernel& kernel = fast::KernelOf(c.name());
    return kernel.declines(c).empty() ? std::optional(kernel.run(c, inputs)) : std::nullopt;
  };
  return fast;
}

}  // namespace

std::string SubjectHelp() { return HelpOn(kSubjects); }
std::string ComputedSubjectHelp() { return HelpOn(std::span(kSubjects).first(kComputed)); }

std::vector<std::string> KindsOfSubjects() {
  std::vector<std::string> kinds(std::begin(kSubjects), std::end(kSubjects));
  for (std::string& kind : kinds) kind.resize(std::min(kind.find(':'), kind.size() - 1) + 1);
  return kinds;
}

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
  return std::ranges::any_of(KindsOfSubjects(), [&subject](const std::string& kind) {
    return kind.ends_with(':') ? subject.name.starts_with(kind) : subject.name == kind;
  });
}

}  // namespace sextant::tools
