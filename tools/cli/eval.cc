// sextant eval
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <set>

#include "fixtures/config/named_list.h"
#include "fixtures/store/record_file.h"
#include "reference/case/out_of_memory.h"
#include "reference/prove/prove.h"
#include "tools/api/case_file.h"
#include "tools/api/exit_status.h"
#include "tools/api/proof_count.h"
#include "tools/api/selection.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/eval_table.h"
#include "tools/report/json.h"

namespace sextant::tools {
namespace {

struct EvalArguments {
  std::string operation, output, recipe = "native";
  ConfigChoice config;
  std::vector<std::string> words;
  ProveOptions prove;
  bool json = false;
};

Case CaseOf(const EvalArguments& options) {
  std::string line = options.operation;
  for (const std::string& word : options.words) line += " " + word;
  std::set<std::string> noted;
  NoteAliases(line, noted);
  return ParseLine(line, options.config, fixtures::FoldersOfLists());
}

bool AreFinite(const Tensors& tensors) {
  return std::ranges::all_of(tensors, [](const NamedTensor& tensor) {
    return std::ranges::all_of(tensor.values.data, [](double x) { return std::isfinite(x); });
  });
}

// Prints every number as JSON on one line.
void PrintNumbers(const Case& c, const Tensors& inputs, const std::vector<GoldenTensor>& golden) {
  const bool enclosed = CountProofs(golden).enclosed > 0;
  Json result = {{"case", c.ToString()}, {"inputs", Json::object()}, {"outputs", Json::object()}};
  for (const NamedTensor& input : inputs) result["inputs"][input.name] = ToJson(input);
  for (const GoldenTensor& g : golden) {
    Json& json = result["outputs"][g.name] = ToJson(NamedTensor{g.name, g.dtype, g.value});
    json["high"] = ToJson(g.high.data);
    json["low"] = ToJson(g.low.data);
    json["permitted"] = ToJson(g.permitted.data);
    if (enclosed) json["radius"] = ToJson(g.radius.data);
  }
  std::cout << PrintJson(result) << "\n";
}

int Eval(const EvalArguments& options) {
  const Case c = CaseOf(options);
  std::unique_ptr<fixtures::RecordFile> file;
  if (!options.output.empty()) file = fixtures::CreateRecordFile(options.output);
  const Recipe recipe = ParseRecipe(options.recipe, c.dtype());
  const Tensors inputs = WithinMemory(c, [&] { return DrawInputs(c, NpyReader()); });
  const auto golden = WithinMemory(c, [&] { return Prove({c, inputs, recipe}, options.prove); });
  const ProofCount count = CountProofs(golden);
  if (file) {
    file->Append({c.ToString(), inputs, golden, {}}, options.recipe);
    file->Finish();
  } else if (options.json) {
    PrintNumbers(c, inputs, golden);
  } else {
    PrintTable(c, inputs, golden, std::cout);
  }
  if (count.enclosed > 0) {
    std::cerr << "sextant: " << count.enclosed << " elements are enclosed, not proven\n";
  } else if (!count.IsComplete()) {
    std::cerr << "sextant: nothing is proven: "
              << (AreFinite(inputs)
                      ? "the operation specifies no element of this case; see "
                        "sextant describe\n"
                      : "every element depends on a NaN or an infinity in the inputs\n");
  }
  if (count.elements() == 0) return NothingToDo(kNoElement);
  return count.IsComplete() ? kVerified : kIncomplete;
}

}  // namespace

Action BindEval(CLI::App& app) {
  const auto options = std::make_shared<EvalArguments>();
  AddOption(app, "operation", options->operation, "name of the operation (sextant list)",
            {.required = true});
  AddOption(app, "words", options->words,
            "key=value for attributes and dimensions, @NAME=SPEC for inputs");
  AddConfig(app, options->config);
  AddStore(app, options->output,
           "write a golden file instead of a table: .h5, .npz or .safetensors");
  AddFlag(app, "--json", options->json, "print every number as JSON instead of a table",
          {.excludes = "--output"});
  AddOption(app, "--recipe", options->recipe, "recipe that determines the permitted errors",
            {.shows_default = true});
  AddProof(app, options->prove);
  return [options] { return Eval(*options); };
}

}  // namespace sextant::tools
