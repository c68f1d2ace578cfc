// sextant judge
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>

#include "fixtures/store/tensor_file.h"
#include "reference/case/aliases.h"
#include "reference/case/operations.h"
#include "reference/case/out_of_memory.h"
#include "tools/api/judgement.h"
#include "tools/api/own_question.h"
#include "tools/api/shell_quoted.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/json.h"
#include "tools/report/judgement_text.h"
#include "tools/report/progress.h"
#include "tools/report/report_json.h"

namespace sextant::tools {
namespace {

struct JudgeArguments {
  std::string question, recipe = JudgeOptions().recipe, json;
  std::vector<std::string> tensors;
  ConfigChoice config;
  ProveOptions prove;
  bool strict = false;
  Budget budget{};
};

// "tensors.safetensors": a file with all tensors. Other files have one tensor of the question each.
bool IsWholeFile(const std::string& argument) {
  std::error_code none;
  return argument.ends_with(".safetensors") &&
         (argument.find('=') == argument.npos || std::filesystem::exists(argument, none));
}

// Reads "x=x.npy", "x (B S H D)=FILE.safetensors:q" or "FILE.safetensors". `memory` keeps what the
// tensors point into.
void ReadOwn(const std::string& argument, std::vector<fixtures::FileTensor>& memory,
             std::vector<OwnTensor>& tensors) {
  const auto add = [&](const std::string& name, const std::string& location) {
    memory.push_back(fixtures::ReadTensor(location));
    tensors.push_back({name, memory.back().view, memory.back().dtype});
  };
  if (IsWholeFile(argument)) {
    for (const std::string& name : fixtures::NamesInSafetensors(argument))
      add(name, argument + ":" + name);
    return;
  }
  const size_t equals = argument.find('=');
  if (equals == argument.npos || equals == 0) {
    throw Error("'", argument, "': expected NAME=FILE, for example x=x.npy, or FILE.safetensors ",
                "with all tensors");
  }
  add(argument.substr(0, equals), argument.substr(equals + 1));
}

Question ReadQuestion(const JudgeArguments& options) {
  std::vector<OwnTensor> tensors;
  std::vector<fixtures::FileTensor> memory;
  try {
    for (const std::string& argument : options.tensors) ReadOwn(argument, memory, tensors);
    return OwnQuestion(options.question, std::move(tensors), options.config);
  } catch (const std::bad_alloc&) {
    throw Error("out of memory when the tensors were read: ", options.question);
  }
}

std::string RepeatText(const JudgeArguments& options, const Judgement& judgement) {
  std::string text = "sextant judge " + PrintableWord(options.question);
  for (const std::string& tensor : options.tensors) text += " " + PrintableWord(tensor);
  if (!options.config.path.empty()) text += " --config " + PrintableWord(options.config.path);
  if (!options.config.part.empty()) text += " --part " + PrintableWord(options.config.part);
  if (!options.config.layer.empty()) text += " --layer " + PrintableWord(options.config.layer);
  return text + RepeatOptions(judgement);
}

// Words of the question without quotes stand before the tensors: pairing=half is no file.
JudgeArguments WithWholeQuestion(JudgeArguments options) {
  const std::string ours = InOurWords(options.question).line;
  const std::string name = ours.substr(0, ours.find(' '));
  if (std::ranges::count(OperationNames(), name) == 0) return options;
  const auto operation = MakeOperationNamed(name);
  std::erase_if(options.tensors, [&](const std::string& word) {
    const std::string key = word.substr(0, word.find('='));
    const bool is_word = key == "dtype" || key.starts_with("dtype.") || key == "config" ||
                         Case::Has(*operation, key) || !InOurWords(name + " " + word).notes.empty();
    if (key == word || IsWholeFile(word) || !is_word) return false;
    options.question += " " + word;
    return true;
  });
  return options;
}

int Judge(const JudgeArguments& given) {
  const JudgeArguments options = WithWholeQuestion(given);
  RequireNoInput(options.json, options.tensors);
  RequireNoInput(options.json, {options.config.path});
  OutputFile json(options.json);
  ParseRecipe(options.recipe, DType::kF32);  // throws Error for a wrong recipe before any work
  Judgement judgement = [&] {
    Progress progress(
        "judging", options.budget.elements > 0 ? "" : "--budget-elements N judges a random part");
    Question question = ReadQuestion(options);
    const Case c = question.c;
    ProveOptions prove = options.prove;
    prove.progress = std::ref(progress);
    return WithinMemory(c, [&] {
      return JudgeQuestion(std::move(question), {.recipe = options.recipe,
                                                 .strict = options.strict,
                                                 .budget = options.budget,
                                                 .prove = prove});
    });
  }();
  judgement.repeat = RepeatText(options, judgement);
  const Report report = ReportOf(judgement);
  std::cout << TextOf(judgement);
  if (json) WriteJsonFile(ToJson(judgement), json);
  return report.Status() == kNothing ? NothingToDo(kNoElement) : report.Status();
}

}  // namespace

Action BindJudge(CLI::App& app) {
  const auto options = std::make_shared<JudgeArguments>();
  AddOption(app, "question", options->question,
            "operation and attributes, without what the tensors say: 'rope pairing=half'",
            {.required = true});
  AddOption(app, "tensors", options->tensors,
            "inputs and outputs: NAME=FILE.npy, NAME=FILE.safetensors:NAME or NAME=FILE.h5:/PATH; "
            "'x (B S H D)=x.npy' if its axes are in another order than in the signature; "
            "FILE.safetensors for all tensors of a file, with their names",
            {.required = true});
  AddOption(app, "--recipe", options->recipe, "the recipe of the permitted errors",
            {.shows_default = true});
  AddConfig(app, options->config);
  AddFlag(app, "--strict", options->strict, "the grade `unlikely` fails");
  AddOption(app, "--budget-elements", options->budget.elements,
            "judge about this many elements at most, chosen at random; 0: all", {});
  AddOption(app, "--seed", options->budget.seed, "chooses the elements of --budget-elements",
            {.needs = "--budget-elements"});
  AddReport(app, "--json", options->json, "write a report in JSON");
  AddProof(app, options->prove);
  return [options] { return Judge(*options); };
}

}  // namespace sextant::tools
