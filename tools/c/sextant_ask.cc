// The functions of sextant.h that ask an implementation.
#include <memory>
#include <sstream>

#include "fixtures/config/named_list.h"
#include "reference/case/draw.h"
#include "tools/api/case_file.h"
#include "tools/api/identification.h"
#include "tools/api/profile.h"
#include "tools/c/call.h"
#include "tools/c/implementation.h"
#include "tools/c/options.h"
#include "tools/c/result.h"
#include "tools/c/sextant.h"
#include "tools/c/struct_size.h"
#include "tools/report/identification_report.h"
#include "tools/report/profile_report.h"

namespace sextant::tools {
namespace {

std::string TextOrNone(const char* text) { return text ? text : ""; }

// The lines of a text that are not empty, as cases with their inputs.
std::vector<AskedCase> CasesOf(const std::string& lines) {
  std::istringstream in(lines);
  std::vector<AskedCase> cases;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    Case c = ParseLine(line, {}, fixtures::FoldersOfLists());
    Tensors inputs = DrawInputs(c);
    cases.push_back({std::move(c), std::move(inputs)});
  }
  if (cases.empty()) throw Error("there is no case line");
  return cases;
}

ProfileOptions ProfileOptionsOf(const SextantProfileOptions* given, const SextantOptions& options) {
  const JudgeOptions judge = JudgeOptionsOf(options);
  ProfileOptions profile{
      .recipe = TextOrNone(options.recipe), .budget = judge.budget, .prove = judge.prove};
  if (!given) return profile;
  const auto known = KnownMembers(*given, "the profile options", "SextantProfileOptions");
  profile.by = TextOrNone(known.by);
  profile.below = known.below;
  profile.worst_questions = known.worst;
  profile.seed = known.worst_seed;
  return profile;
}

IdentifyRequest RequestOf(const char* question, const SextantIdentifyOptions* given,
                          const SextantOptions& options) {
  IdentifyRequest request{.line = question,
                          .recipe = TextOrNone(options.recipe),
                          .prove = JudgeOptionsOf(options).prove};
  if (!given) return request;
  const auto known = KnownMembers(*given, "the identify options", "SextantIdentifyOptions");
  request.against = {.path = TextOrNone(known.against),
                     .part = TextOrNone(known.part),
                     .layer = TextOrNone(known.layer)};
  if (request.against.path.empty() && !(request.against.part + request.against.layer).empty())
    throw Error("the identify options have part or layer, expected `against`, too");
  return request;
}

}  // namespace
}  // namespace sextant::tools

int sextant_identify(const char* question, const SextantImplementation* implementation,
                     const SextantIdentifyOptions* how, const SextantOptions* options,
                     SextantResult** result) {
  using namespace sextant::tools;
  return Guarded([&](const std::fenv_t& environment) {
    RequirePointer(result, "result");
    *result = nullptr;
    RequirePointer(question, "question");
    const IdentifyRequest request = RequestOf(question, how, OptionsOf(options));
    const auto subjects = SubjectsOf(implementation, 1, environment, ToldAttributesOf(request));
    const Identification found = IdentifySubject(request, subjects.front());
    auto made = std::make_unique<SextantResult>();
    made->status = found.IsAsExpected() ? 0 : 1;
    made->json = sextant::PrintJson(ToJson(found));
    *result = made.release();
  });
}

int sextant_profile(const char* cases, const SextantImplementation* implementations, size_t count,
                    const SextantProfileOptions* how, const SextantOptions* options,
                    SextantResult** result) {
  using namespace sextant::tools;
  return Guarded([&](const std::fenv_t& environment) {
    RequirePointer(result, "result");
    *result = nullptr;
    RequirePointer(cases, "cases");
    const ProfileOptions given = ProfileOptionsOf(how, OptionsOf(options));
    const auto subjects = SubjectsOf(implementations, count, environment);
    const Profile profile = ProfileOf(CasesOf(cases), subjects, given);
    auto made = std::make_unique<SextantResult>();
    made->json = sextant::PrintJson(ToJson(profile));
    for (const SubjectProfile& subject : profile.subjects) {
      for (auto& [name, values] : TableOf(subject, profile.by).columns) {
        const sextant::Shape shape = {values.size()};
        made->Add(subject.name + "/" + name, sextant::DType::kF64, {shape, std::move(values)});
      }
    }
    *result = made.release();
  });
}
