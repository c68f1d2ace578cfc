// sextant identify
#include <iostream>
#include <memory>

#include "tools/api/exit_status.h"
#include "tools/api/identification.h"
#include "tools/api/replace.h"
#include "tools/api/subjects.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/identification_report.h"
#include "tools/report/json.h"

namespace sextant::tools {
namespace {

struct IdentifyArguments {
  IdentifyRequest request;
  std::string subject, json;
  oracle::SubjectLimits limits;
};

int RunIdentify(const IdentifyArguments& options) {
  OutputFile json(options.json);  // first, so that no old report stays
  const oracle::Subject subject =
      MakeSubject(options.subject, options.limits, ToldAttributesOf(options.request));
  const Identification found = IdentifySubject(options.request, subject);
  if (subject.close) subject.close();
  std::cout << TextOf(found);
  if (json) WriteJsonFile(ToJson(found), json);
  return found.IsAsExpected() ? kVerified : kNonconforming;
}

}  // namespace

Action BindIdentify(CLI::App& app) {
  const auto options = std::make_shared<IdentifyArguments>();
  AddOption(app, "operation", options->request.line,
            "the operation, and the words that are known: 'rope D=128 dtype=bf16'",
            {.required = true});
  AddSubject(app, options->subject, options->request.recipe, options->limits);
  AddPath(app, "--against", options->request.against.path,
          "a Hugging Face config.json: does the subject compute what this model needs?");
  AddOption(app, "--part", options->request.against.part,
            "JSON object to read instead of the text decoder, for example vision_config",
            {.needs = "--against"});
  AddOption(app, "--layer", options->request.against.layer,
            "layers to use if they differ: the name of their kind or a layer number",
            {.needs = "--against"});
  AddReport(app, "--json", options->json, "write the result in JSON");
  AddProof(app, options->request.prove);
  return [options] { return RunIdentify(*options); };
}

}  // namespace sextant::tools
