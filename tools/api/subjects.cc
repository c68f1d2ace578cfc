#include "tools/api/subjects.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "fixtures/store/reader.h"
#include "fixtures/store/writer.h"
#include "oracle/subject/exec_client.h"
#include "oracle/subject/exec_subject.h"
#include "oracle/subject/supervisor.h"
#include "reference/base/did_you_mean.h"
#include "reference/base/printable.h"
#include "tools/api/computed_subject.h"
#include "tools/api/difference.h"
#include "tools/api/host_command.h"
#include "tools/api/selection.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Subject;

using Answers = std::map<std::string, fixtures::LargeRecord>;  // by the line of the case

// Throws InvalidAnswer if a recorded input differs from that of the case. Inputs that are not
// recorded, and recorded inputs that the operation does not have, are ignored.
void RequireInputs(const fixtures::LargeRecord& recorded, const TensorReaders& inputs) {
  constexpr size_t kAtOnce = size_t{1} << 20;  // elements
  for (const TensorReader& input : inputs) {
    const auto at = std::ranges::find_if(
        recorded.inputs, [&](const auto& stored) { return stored->name() == input.name(); });
    if (at == recorded.inputs.end()) continue;
    const std::string path = "inputs/" + input.name(), other = "the answer has other inputs: ";
    if ((*at)->shape() != input.shape())
      throw oracle::InvalidAnswer(other, path, " has shape ", ToString((*at)->shape()),
                                  ", expected ", ToString(input.shape()));
    std::vector<double> stored, drawn;
    for (size_t first = 0; first < CountOf(input.shape()); first += kAtOnce) {
      stored.resize(std::min(kAtOnce, CountOf(input.shape()) - first));
      drawn.resize(stored.size());
      (*at)->Read(first, stored);
      input.Read(first, drawn);
      const std::string difference =
          Difference(path, input.shape(), stored, drawn, [first](size_t i) { return first + i; });
      if (!difference.empty()) throw oracle::InvalidAnswer(other, difference);
    }
  }
}

// A recorded output in the dtype that the case declares. The dtypes of values are checked when they
// are read, so that one wrong value fails one case.
class RecordedOutput : public TensorSource {
 public:
  RecordedOutput(std::shared_ptr<const Answers> answers, const TensorSource& output, DType dtype)
      : TensorSource(output.name(), dtype, output.shape()),
        answers_(std::move(answers)),
        output_(output) {}
  void Read(size_t first, std::span<double> to) const override {
    output_.Read(first, to);
    try {
      fixtures::RequireExact(name(), shape(), first, to, dtype());
    } catch (const Error& e) {
      throw oracle::InvalidAnswer(e.what());
    }
  }

 private:
  const std::shared_ptr<const Answers> answers_;  // owns the output
  const TensorSource& output_;
};

// Empty if there is no answer.
std::optional<oracle::OutputSources> RecordedOutputs(const std::shared_ptr<const Answers>& answers,
                                                     const Case& c, const TensorReaders& inputs) {
  const auto at = answers->find(c.ToString());
  if (at == answers->end() || at->second.outputs.empty()) return std::nullopt;
  RequireInputs(at->second, inputs);
  oracle::OutputSources outputs;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    for (const auto& output : at->second.outputs) {
      if (output->name() == spec.name)
        outputs.push_back(std::make_shared<RecordedOutput>(answers, *output, c.DTypeOf(spec)));
    }
  }
  return outputs;
}

// The recipe of all answers in a file. `sextant answer` stores that of the subject.
std::string RecipeOf(const std::string& path, const std::vector<fixtures::LargeRecord>& records) {
  std::string recipe = fixtures::kUsualRecipe;
  if (!records.empty()) recipe = records.front().recipe;
  ParseRecipe(recipe, DType::kF32);  // throws Error
  for (const fixtures::LargeRecord& record : records) {
    if (record.recipe == recipe) continue;
    throw Error(path, " has answers by the recipes '", recipe, "' and '", record.recipe,
                "', expected one recipe in a file");
  }
  return recipe;
}

std::vector<fixtures::LargeRecord> ReadAnswers(const std::string& path) try {
  return fixtures::ReadLargeRecords(path, {.exact = false});
} catch (const Error& e) {
  std::error_code ignored;
  if (IsHdf5(path) || !std::filesystem::is_regular_file(path, ignored)) throw;
  throw Error(e.what(),
              "; files: expects an .h5 file, of `sextant answer` or of `sextant inputs` with the "
              "outputs added; `sextant judge` judges tensors of .npy, .safetensors and .h5 files");
}

Subject FilesSubject(const std::string& path) try {
  const auto answers = std::make_shared<Answers>();
  std::vector<fixtures::LargeRecord> records = ReadAnswers(path);
  const std::string recipe = RecipeOf(path, records);
  for (fixtures::LargeRecord& record : records) {
    std::string key;
    try {
      key = Case::Parse(record.case_line).ToString();
    } catch (const Error& e) {
      throw Error(path, ": case '", record.case_line, "': ", e.what());
    }
    if (!record.slice.empty())
      throw Error(path, ": case '", record.case_line, "' has only the slice ", record.slice,
                  ", expected whole answers");
    if (!answers->emplace(key, std::move(record)).second) {
      throw Error(path, " answers the same case twice: ", key);
    }
  }
  Subject subject{"files:" + path, recipe, nullptr};
  subject.answer_in_file = [answers](const Case& c, const TensorReaders& inputs) {
    return RecordedOutputs(answers, c, inputs);
  };
  subject.answer = [answers, path](const Case& c, const Tensors& inputs) {
    try {
      const auto outputs = RecordedOutputs(answers, c, ReadersOf(inputs));
      if (!outputs)
        return Answer{
            Answer::Status::kUnsupported, Marked(path) + " has no output for this case", {}};
      Answer answer;
      for (const auto& output : *outputs) answer.outputs.push_back(TensorReader(*output).Values());
      return answer;
    } catch (const oracle::InvalidAnswer& e) {
      return Answer{Answer::Status::kFailed, e.what(), {}};
    }
  };
  return subject;
} catch (const Error& e) {
  throw oracle::Failure(oracle::Failure::Cause::kEnded, e.what(), "");
}

Subject SupervisedSubject(const std::string& command, const oracle::SubjectLimits& limits,
                          const oracle::ToldAttributes& told) {
  const std::string limit = oracle::LimitOfSupervisor();
  if (!limit.empty()) std::cerr << "sextant: " << limit << "\n";
  Subject subject = oracle::ExecSubject(command, limits, told);
  subject.may_vary = true;
  return subject;
}

Subject LibrarySubject(const std::string& path, const oracle::SubjectLimits& limits,
                       const oracle::ToldAttributes& told) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw oracle::Failure(oracle::Failure::Cause::kEnded,
                          "there is no file '" + path + "'" + DidYouMeanFile(path), "");
  }
  Subject subject = SupervisedSubject(HostCommandOf(path), limits, told);
  subject.name = "lib:" + path;
  return subject;
}

// " (did you mean 'lib:./mine.so'?)" for "./mine.so", 'defect:rope/x' for "defct:rope/x".
std::string LikelySubject(const std::string& text, const std::string& rest) {
  for (const auto& [ending, kind] : {std::pair(".so", "lib:"), {".h5", "files:"}}) {
    if (text.ends_with(ending) && rest.empty()) return " (did you mean '" + (kind + text) + "'?)";
  }
  std::vector<std::string> subjects = KindsOfSubjects();
  for (std::string& subject : subjects) subject += subject.ends_with(':') ? rest : "";
  return DidYouMean(text, subjects);
}

}  // namespace

Subject MakeSubject(const std::string& text, const oracle::SubjectLimits& limits,
                    const oracle::ToldAttributes& told) {
  if (auto computed = ComputedSubject(text)) return *std::move(computed);
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon),
                    rest = colon == text.npos ? "" : text.substr(colon + 1);
  if (!rest.empty()) {
    if (kind == "files") return FilesSubject(rest);
    if (kind == "lib") return LibrarySubject(rest, limits, told);
    if (kind == "exec") return SupervisedSubject(rest, limits, told);
  }
  throw Error("'", text, "' is not a subject", LikelySubject(text, rest),
              "; expected one of: ", SubjectHelp());
}

bool IsInProcess(const std::string& text) {
  return !text.starts_with("lib:") && !text.starts_with("exec:");
}

}  // namespace sextant::tools
