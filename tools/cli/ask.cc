// sextant ask
#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>

#include "fixtures/store/record_file.h"
#include "oracle/subject/attributes_json.h"
#include "reference/base/printable.h"
#include "reference/case/out_of_memory.h"
#include "tools/api/answer_of.h"
#include "tools/api/exit_status.h"
#include "tools/api/selection.h"
#include "tools/api/subjects.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/eval_table.h"
#include "tools/report/json.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Subject;

struct AskArguments {
  std::string line, subject, output;
  ConfigChoice config;
  oracle::SubjectLimits limits;
  bool json = false;
};

// One question and its answer.
struct Exchange {
  Case c;
  Tensors inputs;
  Answer answer;
  double seconds = 0;
};

// The word of the protocol.
const char* WordOf(Answer::Status status) {
  switch (status) {
    case Answer::Status::kAnswered:
      return "ok";
    case Answer::Status::kUnsupported:
      return "unsupported";
    case Answer::Status::kFailed:
      break;
  }
  return "error";
}

int StatusOfAnswer(Answer::Status status) {
  switch (status) {
    case Answer::Status::kAnswered:
      return kVerified;
    case Answer::Status::kUnsupported:
      return kIncomplete;
    case Answer::Status::kFailed:
      break;
  }
  return kNotRun;
}

Case OneCase(const AskArguments& options) {
  const std::vector<std::string> arguments = {options.line};
  const std::vector<Selected> selected = Select({.arguments = arguments, .config = options.config});
  if (selected.size() != 1)
    throw Error(options.line, " has ", selected.size(), " cases, expected one");
  return selected.front().c;
}

Exchange Ask(const Case& c, const Subject& subject) {
  Exchange exchange{.c = c, .inputs = DrawInputs(c, NpyReader()), .answer = {}};
  const auto start = std::chrono::steady_clock::now();
  exchange.answer = AnswerOf(subject, c, exchange.inputs);
  exchange.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return exchange;
}

void PrintExchange(const Exchange& exchange, const Subject& subject) {
  const Case& c = exchange.c;
  std::cout << c.ToString()
            << "\nattributes and dimensions: " << PrintJson(oracle::AttributesJson(c));
  std::cout << "\ninputs:\n";
  for (const NamedTensor& input : exchange.inputs) PrintTensor(input, std::cout << "  ");
  std::cout << "expected outputs:";
  for (const TensorSpec& output : c.info().signature.outputs) {
    std::cout << " " << output.name << (output.optional ? "?" : "") << " "
              << NameOf(c.DTypeOf(output)) << ToString(c.ShapeOf(output));
  }
  const Answer& answer = exchange.answer;
  std::cout << "\nanswer of " << Marked(subject.name) << " by recipe " << subject.recipe << ": "
            << WordOf(answer.status) << ", " << std::setprecision(3) << exchange.seconds * 1e3
            << " ms\n";
  if (!answer.message.empty()) std::cout << "  " << answer.message << "\n";
  for (const NamedTensor& output : answer.outputs) PrintTensor(output, std::cout << "  ");
}

void PrintJsonExchange(const Exchange& exchange, const Subject& subject) {
  Json json = {{"case", exchange.c.ToString()},
               {"subject", Marked(subject.name)},
               {"recipe", subject.recipe},
               {"status", WordOf(exchange.answer.status)},
               {"message", exchange.answer.message},
               {"seconds", exchange.seconds},
               {"attributes", oracle::AttributesJson(exchange.c)},
               {"inputs", Json::object()},
               {"outputs", Json::object()}};
  for (const NamedTensor& input : exchange.inputs) json["inputs"][input.name] = ToJson(input);
  for (const NamedTensor& output : exchange.answer.outputs)
    json["outputs"][output.name] = ToJson(output);
  std::cout << PrintJson(json) << "\n";
}

int AskOne(const AskArguments& options) {
  const Case c = OneCase(options);
  std::unique_ptr<fixtures::RecordFile> file;
  if (!options.output.empty()) file = fixtures::CreateRecordFile(options.output);
  const Subject subject = MakeSubject(options.subject, options.limits);
  const Exchange exchange = WithinMemory(c, [&] { return Ask(c, subject); });
  (options.json ? PrintJsonExchange : PrintExchange)(exchange, subject);
  const std::string broken = subject.close ? subject.close() : "";
  if (!broken.empty()) {
    std::cerr << "sextant: after its answer, " << Marked(subject.name) << " misbehaved: " << broken
              << "\n";
    return kNotRun;
  }
  if (file && exchange.answer.status == Answer::Status::kAnswered) {
    file->Append({c.ToString(), exchange.inputs, {}, exchange.answer.outputs}, subject.recipe);
    file->Finish();
  }
  return StatusOfAnswer(exchange.answer.status);
}

}  // namespace

Action BindAsk(CLI::App& app) {
  const auto options = std::make_shared<AskArguments>();
  AddOption(app, "case", options->line, "a case line", {.required = true});
  AddSubject(app, options->subject, options->limits);
  AddConfig(app, options->config);
  AddStore(app, options->output,
           "store the inputs and the outputs, if it answers: .h5, .npz or .safetensors");
  AddFlag(app, "--json", options->json, "print every number as JSON");
  return [options] { return AskOne(*options); };
}

}  // namespace sextant::tools
