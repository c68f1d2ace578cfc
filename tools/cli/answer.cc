// sextant answer
#include <iostream>
#include <memory>

#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "reference/case/out_of_memory.h"
#include "reference/number/recipe/recipe.h"
#include "tools/api/answer_of.h"
#include "tools/api/subjects.h"
#include "tools/cli/cases_to_store.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/progress.h"
#include "tools/report/report.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Subject;
using oracle::Verdict;

struct AnswerArguments : StoreOptions {
  std::string subject;
  oracle::SubjectLimits limits;
};

struct Answered {
  size_t answered = 0, unsupported = 0, not_run = 0;  // numbers of cases

  size_t cases() const { return answered + unsupported + not_run; }
  ExitStatus Status() const {
    if (not_run > 0) return kNotRun;
    return unsupported > 0 ? kIncomplete : kVerified;
  }
};

void StoreAnswer(const Selected& selected, const Subject& subject, fixtures::RecordFile& file,
                 Answered& all) {
  const Case& c = selected.c;
  const Answer answer = WithinMemory(c, [&] { return AnswerOf(subject, c, InputsOf(selected)); });
  if (answer.status == Answer::Status::kAnswered) {
    file.Append({c.ToString(), {}, {}, answer.outputs}, subject.recipe);
    ++all.answered;
    return;
  }
  const bool unsupported = answer.status == Answer::Status::kUnsupported;
  ++(unsupported ? all.unsupported : all.not_run);
  const auto status = unsupported ? Verdict::Status::kUnsupported : Verdict::Status::kCouldNotRun;
  std::cout << NameOf(status) << " " << c.ToString() << "\n  " << answer.message << "\n";
}

void PrintSummary(const AnswerArguments& options, const Subject& subject, const Answered& all) {
  std::cout << Marked(options.output) << ": " << all.answered << " of "
            << CountText(all.cases(), "case") << " answered by " << Marked(subject.name)
            << ", recipe " << subject.recipe;
  if (all.unsupported > 0)
    std::cout << "; " << all.unsupported << " " << NameOf(Verdict::Status::kUnsupported);
  if (all.not_run > 0)
    std::cout << "; " << all.not_run << " " << NameOf(Verdict::Status::kCouldNotRun);
  std::cout << "\n";
}

int StoreAnswers(const AnswerArguments& options) {
  const std::vector<Selected> selected = CasesToStore(options);
  const auto file = CreateStore(options, Content::kAnswers, selected);
  const Subject subject = MakeSubject(options.subject, options.limits);
  ParseRecipe(subject.recipe, DType::kF32);  // throws Error if the subject declares a wrong recipe
  Answered all;
  {
    Progress progress("answering");
    for (const Selected& s : selected) {
      StoreAnswer(s, subject, *file, all);
      progress(static_cast<double>(all.cases()) / static_cast<double>(selected.size()));
    }
  }
  const std::string broken = subject.close ? subject.close() : "";
  if (!broken.empty())
    std::cout << "after the last case, " << Marked(subject.name) << " misbehaved: " << broken
              << "\n";
  if (all.answered == 0) {
    std::cerr << "sextant: " << Marked(options.output) << " is not written: no case was answered\n";
    return all.Status();
  }
  file->Finish();
  PrintSummary(options, subject, all);
  return broken.empty() ? all.Status() : kNotRun;
}

}  // namespace

Action BindAnswer(CLI::App& app) {
  const auto options = std::make_shared<AnswerArguments>();
  AddStoreOptions(app, *options, Content::kAnswers);
  AddSubject(app, options->subject, options->limits);
  return [options] { return StoreAnswers(*options); };
}

}  // namespace sextant::tools
