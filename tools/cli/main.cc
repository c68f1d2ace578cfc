// The `sextant` program: a table of commands. Exit statuses: tools/api/exit_status.h.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>

#include "fixtures/store/replacement.h"
#include "oracle/subject/exec_client.h"
#include "reference/base/did_you_mean.h"
#include "reference/base/error.h"
#include "reference/base/printable.h"
#include "reference/base/value_text.h"
#include "tools/api/exit_status.h"
#include "tools/api/host_command.h"
#include "tools/api/line_stream.h"
#include "tools/api/selection.h"
#include "tools/cli/commands.h"
#include "tools/cli/completion.h"
#include "tools/cli/options.h"
#include "tools/cli/output.h"
#include "tools/host/host.h"
#include "tools/report/printable_stream.h"
#include "tools/report/report.h"
#include "tools/report/wrapped.h"

namespace sextant::tools {
namespace {

struct Command {
  const char* group;
  const char* name;
  const char* summary;
  Action (*bind)(CLI::App&);
  const char* examples;
};

// The groups of `sextant --help`.
constexpr char kJudge[] = "Judge an implementation";
constexpr char kGoldens[] = "Exact values";
constexpr char kLookUp[] = "Look up";
constexpr char kSuite[] = "Test the cases";

constexpr Command kCommands[] = {
    {kJudge, "judge", "judge tensors of your own: an answer that you already have", BindJudge,
     "sextant judge 'rope pairing=half base=500000' x=x.npy position=p.npy y=y.npy\n"
     "  sextant judge rms_norm x=t.safetensors:x weight=t.safetensors:w y=out.h5:/y"},
    {kJudge, "check", "judge an implementation on cases: it is asked, and its answers are judged",
     BindCheck,
     "sextant check fixtures/cases/rope.cases --subject fast\n"
     "  sextant check rope.h5 --subject 'exec:python3 my_adapter.py' --junit report.xml\n"
     "  sextant check 'rope pairing=half S=3 H=2 D=8 @position=0,1,8191' --subject recipe:native"},
    {kJudge, "answer", "store the answers of a subject, to be judged later or elsewhere",
     BindAnswer,
     "sextant answer fixtures/cases/rope.cases --subject 'exec:python3 my_adapter.py' -o "
     "answers.h5\n"
     "  sextant check fixtures/cases/rope.cases --subject files:answers.h5"},
    {kJudge, "ask", "show one question to a subject and its answer", BindAsk,
     "sextant ask 'rms_norm N=1 M=4' --subject 'exec:python3 my_adapter.py'"},
    {kJudge, "identify", "find out what a subject computes: attributes, constants, recipe",
     BindIdentify,
     "sextant identify 'rope D=128' --subject 'exec:python3 my_adapter.py'\n"
     "  sextant identify 'attention dtype=bf16' --subject lib:./mine.so --against config.json"},
    {kJudge, "recipe", "infer the recipe that an implementation follows from its answers",
     BindRecipe, "sextant recipe fixtures/cases/rope.cases --subject lib:./kernels.so"},
    {kJudge, "profile", "measure the numerical error of implementations, by position, pair or step",
     BindProfile,
     "sextant profile 'rope pairing=half H=1 D=128 dtype=bf16 @position=log(1..131072)' --subject "
     "fast --subject recipe:native -o profile.html"},
    {kJudge, "properties", "check the properties of operations on a subject, with random cases",
     BindProperties, "sextant properties rope --subject fast --count 1000"},
    {kJudge, "tolerance",
     "grade the atol and rtol of a test: what they wrongly reject, and let pass", BindTolerance,
     "sextant tolerance 'rms_norm N=64 M=4096 dtype=bf16' --atol 1e-2 --rtol 1e-2 --recipe "
     "f32_compute"},
    {kJudge, "compare", "compare two files in bits and ulps; nothing is proven or judged",
     BindCompare, "sextant compare a.h5 b.h5"},
    {kJudge, "merge", "make one report of the shards of a check, or one file of a golden in parts",
     BindMerge,
     "sextant merge shard-*.jsonl --expect known.toml --junit report.xml\n"
     "  sextant merge llama.golden/ -o llama.h5"},
    {kGoldens, "golden", "prove the outputs of cases and store them", BindGolden,
     "sextant golden fixtures/cases/rope.cases -o rope.h5\n"
     "  sextant golden fixtures/models/llama3_1_8b.cases -o llama.safetensors\n"
     "  sextant golden fixtures/cases/rms_norm.cases -o onnx:node_tests"},
    {kGoldens, "verify", "prove a golden file again; no implementation takes part", BindVerify,
     "sextant verify rope.h5 --confirm"},
    {kGoldens, "inputs", "store the inputs of cases, for another program to compute the outputs",
     BindInputs, "sextant inputs fixtures/cases/rope.cases -o questions.h5"},
    {kGoldens, "eval", "prove the outputs of one case and print them", BindEval,
     "sextant eval rope_frequencies R=128 base=500000 dtype=f64 --json\n"
     "  sextant eval rope --config config.json S=2 H=1 @position=0,8191"},
    {kLookUp, "list", "list the operations", BindList, "sextant list --json"},
    {kLookUp, "describe",
     "print formula, shapes, attributes, dimensions, steps, source and files of an operation",
     BindDescribe, "sextant describe rope"},
    {kLookUp, "models", "list the supported model types, or print the facts of a configuration",
     BindModels, "sextant models --json\n  sextant models fixtures/models/gemma3_4b.json"},
    {kSuite, "audit-suite", "test that the cases catch every known defect", BindAuditSuite,
     "sextant audit-suite fixtures/cases/rope.cases --minimal"},
};

void EndBy(int number) {
  fixtures::RemovePartialFiles();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// The limit of `ulimit -t`, after which the system kills the program, is at most a second away.
void EndByProcessorTime(int) {
  constexpr char kText[] = "sextant: the limit of processor time (ulimit -t) is reached\n";
  const ssize_t ignored = write(STDERR_FILENO, kText, sizeof kText - 1);
  static_cast<void>(ignored);
  EndBy(SIGXCPU);
}

// A limit that the shell sets is soft and hard at once: without a second between them there is no
// signal before the end.
void LeaveASecondOfProcessorTime() {
  std::signal(SIGXCPU, EndByProcessorTime);
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (limit.rlim_cur == limit.rlim_max && limit.rlim_cur > 1) --limit.rlim_cur;
  setrlimit(RLIMIT_CPU, &limit);
}

void SetSignalActions() {
  // A write to a closed pipe or beyond the file size limit then fails with EPIPE or EFBIG instead
  // of ending the program.
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
  LeaveASecondOfProcessorTime();
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    const auto before = std::signal(number, EndBy);
    if (before == SIG_IGN) std::signal(number, SIG_IGN);  // by nohup, or in the background
  }
}

// Memory that the work on a slice frees is used again for the next one. glibc would give it back to
// the system, and each page of it would be mapped and cleared again.
void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // bytes; glibc accepts no more
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

// "there is no option '--filtr' (did you mean '--filter'?)" for the first of the `unknown` words
// that begins as an option; else what CLI11 says.
std::string WhyWrong(const CLI::App& command, const std::vector<std::string>& unknown,
                     const std::string& what) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& word : unknown) {
    const std::string name = word.substr(0, word.find('='));
    if (name.starts_with("--"))
      return "there is no option '" + name + "'" + DidYouMean(name, names);
  }
  return what;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Sextant checks whether an implementation of rotary position embedding, or of another\n"
      "component of a LLaMA-style decoder, is correct, how large its errors are, and what may\n"
      "cause them.",
      "sextant");
  app.set_version_flag("--version", "sextant " SEXTANT_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 verified, 1 something does not conform, 2 the call or its input was wrong "
      "or\n"
      "an output could not be written, 3 the subject could not be run, 4 there was nothing to do, "
      "5 incomplete,\n"
      "141 nobody reads standard output any longer.");
  // `sextant help check` is `sextant check --help`, and `sextant version` is `sextant --version`.
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "help") {
    std::erase(words, "help");
    words.emplace_back("--help");
  }
  if (!words.empty() && words[0] == "version") words[0] = "--version";
  Action action;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->group(command.group);
    sub->footer(std::string("Examples:\n  ") + command.examples);
    sub->callback([&action, run = command.bind(*sub)] { action = run; });
  }
  CLI::App* const completion = app.add_subcommand(
      "completion", "print the completion for a shell: eval \"$(sextant completion bash)\"");
  std::string shell;
  completion->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kShells), std::end(kShells))));
  completion->group(kLookUp);
  completion->callback([&] {
    action = [&] {
      std::cout << CompletionFor(shell, app);
      return kVerified;
    };
  });
  std::vector<std::string> commands = {"help", "version"};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  const bool has_command = !words.empty() && !words[0].starts_with('-');
  if (has_command && std::ranges::count(commands, words[0]) == 0) {
    throw Error("there is no command '", words[0], "'", DidYouMean(words[0], commands),
                "; there are:", NamesText(commands));
  }
  const std::string help = "sextant " + (has_command ? words[0] + " " : "") + "--help";
  try {
    app.parse(std::vector(words.rbegin(), words.rend()));  // as CLI11 takes them
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    RemoveOldReports(app);
    const CLI::App& command = has_command ? *app.get_subcommand(words[0]) : app;
    std::cerr << "sextant: " << Marked(WhyWrong(command, app.remaining(true), e.what())) << "\nrun "
              << help << " for help\n";
    return kUsage;
  }
  return action();
}

// The status of the work, or of the exception that it throws, which is printed.
int StatusOf(const auto& work) try { return work(); } catch (const oracle::Failure& e) {
  std::cerr << "sextant: " << kNotStarted << e.what() << "\n";
  return kNotRun;
} catch (const ClosedOutput&) {
  return kClosedOutput;
} catch (const NoCase& e) {
  return NothingToDo(e.what());
} catch (const std::bad_alloc&) {
  std::cerr << "sextant: out of memory\n";
  return kUsage;
} catch (const std::exception& e) {
  std::cerr << "sextant: " << Marked(e.what()) << "\n";
  return kUsage;
}

}  // namespace
}  // namespace sextant::tools

int main(int argc, char** argv) {
  using namespace sextant::tools;
  // The libraries of subjects get the signals and the streams as they are.
  if (argc == 3 && std::string_view(argv[1]) == kHostCommand)
    return StatusOf([argv] { return RunHost(argv[2]); });
  const auto width = [](int stream) { return isatty(stream) == 1 ? kTerminalWidth : 0; };
  const PrintableStream out(std::cout, width(STDOUT_FILENO));
  const PrintableStream err(std::cerr, width(STDERR_FILENO));
  return StatusOf([argc, argv] {
    SetSignalActions();
    KeepFreedMemory();
    const int status = Main(argc, argv);
    FlushOutput();
    return status;
  });
}
