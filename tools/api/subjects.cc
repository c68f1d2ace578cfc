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

// Describes the first recorded input that differs from the input of the case; empty if there is
// none. Inputs that are not recorded, and recorded inputs that the operation does not have, are
// ignored.
std::string InputMismatch(const Record& recorded, const Tensors& inputs) {
  for (const NamedTensor& input : inputs) {
    const auto at = std::ranges::find(recorded.inputs, input.name, &NamedTensor::name);
    if (at == recorded.inputs.end()) continue;
    const std::string difference = Difference("inputs/" + input.name, at->values, input.values);
    if (!difference.empty()) return "the answer has other inputs: " + difference;
  }
  return "";
}

// The recorded outputs, in the dtypes that the case declares.
Answer RecordedAnswer(const Record& recorded, const Case& c, const Tensors& inputs) {
  Answer answer;
  answer.message = InputMismatch(recorded, inputs);
  if (!answer.message.empty()) return {Answer::Status::kFailed, answer.message, {}};
  for (const TensorSpec& spec : c.info().signature.outputs) {
    for (const NamedTensor& tensor : recorded.outputs) {
      if (tensor.name != spec.name) continue;
      try {
        fixtures::RequireExact(tensor, c.DTypeOf(spec));
      } catch (const Error& e) {
        return {Answer::Status::kFailed, e.what(), {}};
      }
      answer.outputs.push_back({tensor.name, c.DTypeOf(spec), tensor.values});
    }
  }
  return answer;
}

// The recipe of all answers in a file. `sextant answer` stores that of the subject.
std::string RecipeOf(const std::string& path, const std::vector<fixtures::StoredRecord>& records) {
  std::string recipe = fixtures::kUsualRecipe;
  if (!records.empty()) recipe = records.front().recipe;
  ParseRecipe(recipe, DType::kF32);  // throws Error
  for (const fixtures::StoredRecord& record : records) {
    if (record.recipe == recipe) continue;
    throw Error(path, " has answers by the recipes '", recipe, "' and '", record.recipe,
                "', expected one recipe in a file");
  }
  return recipe;
}

std::vector<fixtures::StoredRecord> ReadAnswers(const std::string& path) try {
  return fixtures::ReadRecords(path, {.exact = false});
} catch (const Error& e) {
  std::error_code ignored;
  if (IsHdf5(path) || !std::filesystem::is_regular_file(path, ignored)) throw;
  throw Error(e.what(),
              "; files: expects an .h5 file, of `sextant answer` or of `sextant inputs` with the "
              "outputs added; `sextant judge` judges tensors of .npy, .safetensors and .h5 files");
}

// The dtypes of values are checked when a case is answered, so that one wrong value fails one case.
Subject FilesSubject(const std::string& path) try {
  const auto answers = std::make_shared<std::map<std::string, Record>>();
  std::vector<fixtures::StoredRecord> records = ReadAnswers(path);
  const std::string recipe = RecipeOf(path, records);
  for (fixtures::StoredRecord& record : records) {
    std::string key;
    try {
      key = Case::Parse(record.case_line).ToString();
    } catch (const Error& e) {
      throw Error(path, ": case '", record.case_line, "': ", e.what());
    }
    if (!answers->emplace(key, std::move(record)).second) {
      throw Error(path, " answers the same case twice: ", key);
    }
  }
  return {"files:" + path, recipe, [path, answers](const Case& c, const Tensors& inputs) {
            const auto at = answers->find(c.ToString());
            if (at == answers->end() || at->second.outputs.empty()) {
              return Answer{
                  Answer::Status::kUnsupported, Marked(path) + " has no output for this case", {}};
            }
            return RecordedAnswer(at->second, c, inputs);
          }};
} catch (const Error& e) {
  throw oracle::Failure(oracle::Failure::Cause::kEnded, e.what(), "");
}

Subject SupervisedSubject(const std::string& command, double seconds_per_case,
                          const oracle::ToldAttributes& told) {
  const std::string limit = oracle::LimitOfSupervisor();
  if (!limit.empty()) std::cerr << "sextant: " << limit << "\n";
  Subject subject = oracle::ExecSubject(command, seconds_per_case, told);
  subject.may_vary = true;
  return subject;
}

Subject LibrarySubject(const std::string& path, double seconds_per_case,
                       const oracle::ToldAttributes& told) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw oracle::Failure(oracle::Failure::Cause::kEnded,
                          "there is no file '" + path + "'" + DidYouMeanFile(path), "");
  }
  Subject subject = SupervisedSubject(HostCommandOf(path), seconds_per_case, told);
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

Subject MakeSubject(const std::string& text, double seconds_per_case,
                    const oracle::ToldAttributes& told) {
  if (auto computed = ComputedSubject(text)) return *std::move(computed);
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon),
                    rest = colon == text.npos ? "" : text.substr(colon + 1);
  if (!rest.empty()) {
    if (kind == "files") return FilesSubject(rest);
    if (kind == "lib") return LibrarySubject(rest, seconds_per_case, told);
    if (kind == "exec") return SupervisedSubject(rest, seconds_per_case, told);
  }
  throw Error("'", text, "' is not a subject", LikelySubject(text, rest),
              "; expected one of: ", SubjectHelp());
}

bool IsInProcess(const std::string& text) {
  return !text.starts_with("lib:") && !text.starts_with("exec:");
}

}  // namespace sextant::tools
