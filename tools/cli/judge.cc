// sextant judge
#include <iostream>
#include <memory>

#include "fixtures/store/tensor_file.h"
#include "reference/case/memory.h"
#include "reference/case/question.h"
#include "tools/api/config_for.h"
#include "tools/api/judgement.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/json.h"
#include "tools/report/judgement_text.h"
#include "tools/report/progress.h"
#include "tools/report/report_json.h"

namespace sextant::tools {
namespace {

struct Options {
  std::string question, recipe = JudgeOptions().recipe, json;
  std::vector<std::string> tensors;
  ConfigChoice config;
  int threads = 0;
  bool strict = false;
};

// Reads "x=x.npy" or "x (B S H D)=FILE.safetensors:q". `memory` keeps what the tensor points into.
OwnTensor ReadOwn(const std::string& argument, std::vector<fixtures::FileTensor>& memory) {
  const size_t equals = argument.find('=');
  if (equals == argument.npos || equals == 0)
    throw Error("'", argument, "': expected NAME=FILE, for example x=x.npy");
  memory.push_back(fixtures::ReadTensor(argument.substr(equals + 1)));
  return {argument.substr(0, equals), memory.back().view, memory.back().dtype};
}

Question ReadQuestion(const Options& options) {
  const std::string line = CompleteLine(options.question, options.config);
  std::vector<OwnTensor> tensors;
  std::vector<fixtures::FileTensor> memory;
  try {
    for (const std::string& argument : options.tensors)
      tensors.push_back(ReadOwn(argument, memory));
    return ParseQuestion(line, tensors);
  } catch (const std::bad_alloc&) {
    throw Error("out of memory when the tensors were read: ", line);
  } catch (const Error& e) {
    const bool all_read = tensors.size() == options.tensors.size();
    if (options.config.path.empty() || !all_read) throw;
    throw Error(e.what(), "; with ", options.config.path, " the question is '", line, "'");
  }
}

std::string RepeatText(const Options& options) {
  std::string text = "sextant judge " + ShellQuoted(options.question);
  for (const std::string& tensor : options.tensors) text += " " + ShellQuoted(tensor);
  if (options.recipe != Options().recipe) text += " --recipe " + ShellQuoted(options.recipe);
  if (!options.config.path.empty()) text += " --config " + ShellQuoted(options.config.path);
  if (!options.config.part.empty()) text += " --part " + ShellQuoted(options.config.part);
  if (!options.config.layer.empty()) text += " --layer " + ShellQuoted(options.config.layer);
  return text + (options.strict ? " --strict" : "");
}

int Judge(const Options& options) {
  ParseRecipe(options.recipe, DType::kF32);  // throws Error for a wrong recipe before any work
  OutputFile json(options.json);
  const Judgement judgement = [&] {
    Progress progress("judging");
    Question question = ReadQuestion(options);
    const Case c = question.c;
    return WithinMemory(c, [&] {
      return JudgeQuestion(std::move(question),
                           {.recipe = options.recipe,
                            .strict = options.strict,
                            .prove = {.threads = options.threads, .progress = std::ref(progress)}});
    });
  }();
  const Report report = ReportOf(judgement);
  std::cout << TextOf(judgement);
  if (report.Fails(judgement.verdict)) std::cout << "repeat: " << RepeatText(options) << "\n";
  if (json) WriteJsonFile(ToJson(judgement), json);
  return report.Status() == kNothing ? NothingToDo(kNoElement) : report.Status();
}

}  // namespace

Action BindJudge(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  AddOption(app, "question", options->question,
            "operation and attributes, without what the tensors say: 'rope pairing=half'",
            {.required = true});
  AddOption(app, "tensors", options->tensors,
            "inputs and outputs: NAME=FILE.npy, NAME=FILE.safetensors:NAME or NAME=FILE.h5:/PATH; "
            "'x (B S H D)=x.npy' if its axes are in another order than in the signature",
            {.required = true});
  AddOption(app, "--recipe", options->recipe, "the recipe of the permitted errors",
            {.shows_default = true});
  AddConfig(app, options->config);
  AddFlag(app, "--strict", options->strict, "the grade `unlikely` fails");
  AddOutput(app, "--json", options->json, "write a report in JSON");
  AddThreads(app, options->threads);
  return [options] { return Judge(*options); };
}

}  // namespace sextant::tools
