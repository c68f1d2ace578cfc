#include "tools/c/options.h"

#include <cstddef>
#include <cstdlib>

#include "tools/api/kept_tensors.h"
#include "tools/api/shell_quoted.h"
#include "tools/c/struct_size.h"
#include "tools/report/judgement_text.h"
#include "tools/report/report.h"

namespace sextant::tools {
namespace {

constexpr size_t kLeastOptions = offsetof(SextantOptions, keep);  // of the first callers
constexpr int kMostThreads = 1024;

}  // namespace

SextantOptions OptionsOf(const SextantOptions* given) {
  if (!given) return {};
  const SextantOptions options =
      KnownMembers(*given, "the options", "SextantOptions", kLeastOptions);
  if (options.threads < 0 || options.threads > kMostThreads)
    throw Error("threads is ", options.threads, ", expected 0 to ", kMostThreads);
  return options;
}

JudgeOptions JudgeOptionsOf(const SextantOptions& given) {
  JudgeOptions options{.recipe = given.recipe ? given.recipe : JudgeOptions().recipe,
                       .strict = given.strict != 0,
                       .budget = {.elements = given.budget_elements, .seed = given.budget_seed},
                       .prove = {.threads = given.threads}};
  if (given.progress) {
    options.prove.progress = [given](double done) {
      if (given.progress(done, given.user) != 0) throw Cancelled();
    };
  }
  return options;
}

void Keep(const SextantOptions& options, Judgement& judgement) {
  const char* folder = options.keep ? options.keep : std::getenv("SEXTANT_KEEP");
  if (!folder || !*folder) {
    judgement.repeat = "with SEXTANT_KEEP=FOLDER the tensors are kept, and this line is a command";
    return;
  }
  try {
    judgement.kept = KeepTensors(judgement.question, folder);
    judgement.repeat = "sextant judge " + PrintableWord(judgement.question.Text()) + " " +
                       PrintableWord(judgement.kept) + RepeatOptions(judgement);
  } catch (const Error& e) {  // the verdict is worth more than the file
    judgement.repeat = std::string("the tensors could not be kept: ") + e.what();
  }
}

}  // namespace sextant::tools
