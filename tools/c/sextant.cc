#include "tools/c/sextant.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "oracle/subject/attributes_json.h"
#include "oracle/tolerance/tolerance.h"
#include "reference/case/draw.h"
#include "reference/number/tensor/safetensors.h"
#include "tools/api/case_file.h"
#include "tools/api/exit_status.h"
#include "tools/api/expectations.h"
#include "tools/api/judgement.h"
#include "tools/api/own_question.h"
#include "tools/c/call.h"
#include "tools/c/dl_tensor.h"
#include "tools/c/options.h"
#include "tools/c/result.h"
#include "tools/report/report_json.h"
#include "tools/report/tolerance_report.h"

namespace sextant::tools {
namespace {

// The names, dtypes and shapes of one side of the signature.
Json Described(const Case& c, const std::vector<TensorSpec>& specs) {
  Json json = Json::array();
  for (const TensorSpec& spec : specs) {
    json.push_back({{"name", spec.name},
                    {"dtype", NameOf(c.DTypeOf(spec))},
                    {"shape", c.ShapeOf(spec)},
                    {"optional", spec.optional}});
  }
  return json;
}

Json DescribedTypes() {
  Json types = Json::array();
  constexpr auto kNames = NamesOf(ElementType());
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto type = static_cast<ElementType>(i);
    const std::string name(kNames[i]);
    const DLDataType dlpack = DataTypeOf(type);
    Json json = {{"name", name}, {"bits", dlpack.bits}, {"dlpack", dlpack.code}};
    if (type > ElementType::kI64) {
      json["array"] = (name[0] == 'u' ? "uint" : "int") + name.substr(1);
      json["in_numpy"] = true;
    } else {
      json["array"] = RowOf(DTypeOf(type)).arrays;
      json["in_numpy"] = StoredAs(DTypeOf(type)) == type;
      json["in_messages"] = SafetensorsName(DTypeOf(type));
    }
    types.push_back(json);
  }
  return types;
}

Question QuestionOf(const char* text, const SextantTensor* tensors, size_t count) {
  RequirePointer(text, "question");
  if (count > 0) RequirePointer(tensors, "tensors");
  std::vector<OwnTensor> own;
  for (size_t i = 0; i < count; ++i) {
    if (!tensors[i].name) throw Error("the name of tensor ", i, " is a null pointer");
    own.push_back({tensors[i].name, ViewOf(tensors[i].name, tensors[i].tensor)});
  }
  return OwnQuestion(text, std::move(own));
}

// Throws Error unless the result is null or a verdict on a case with these attributes and
// dimensions: its question has neither a seed nor distributions.
void RequireVerdictOn(const Case& c, const SextantResult* result) {
  if (!result) return;
  const std::string judged = result->verdict.case_line;
  if (judged.empty()) throw Error("the verdict is not a result of sextant_judge");
  const std::string line = c.ToString();
  if (!(line + " ").starts_with(judged + " "))
    throw Error("the verdict is on '", judged, "', expected one on '", line, "'");
}

std::string ContradictionOf(const Expectation& entry, Outcome found, const SextantResult* result) {
  if (!result) return Contradiction(entry, found);
  const oracle::Verdict& verdict = result->verdict;
  if (OutcomeOf(verdict, result->strict) != found)
    throw Error("the outcome is '", NameOf(found), "', which is not that of the verdict");
  return Contradiction(entry, verdict, result->strict);
}

}  // namespace
}  // namespace sextant::tools

using sextant::tools::Guarded;

int sextant_judge(const char* question, const SextantTensor* tensors, size_t count,
                  const SextantOptions* options, SextantResult** result) {
  using namespace sextant::tools;
  return Guarded([&] {
    RequirePointer(result, "result");
    *result = nullptr;
    const SextantOptions given = OptionsOf(options);
    Judgement judgement =
        JudgeQuestion(QuestionOf(question, tensors, count), JudgeOptionsOf(given));
    const auto report = ReportOf(judgement);
    if (report.Fails(judgement.verdict)) Keep(given, judgement);
    auto made = std::make_unique<SextantResult>();
    made->status = report.Status();
    made->verdict = judgement.verdict;
    made->strict = judgement.strict;
    made->json = sextant::PrintJson(ToJson(judgement));
    for (ElementErrors& errors : judgement.errors) {
      made->Add(errors.name + "/error", sextant::DType::kF64, std::move(errors.error));
      made->Add(errors.name + "/permitted", sextant::DType::kF64, std::move(errors.permitted));
    }
    *result = made.release();
  });
}

int sextant_prove(const char* question, const SextantTensor* inputs, size_t count,
                  const SextantOptions* options, SextantResult** result) {
  using namespace sextant::tools;
  return Guarded([&] {
    RequirePointer(result, "result");
    *result = nullptr;
    const JudgeOptions how = JudgeOptionsOf(OptionsOf(options));
    const sextant::Question asked = QuestionOf(question, inputs, count);
    const auto recipe = sextant::ParseRecipe(how.recipe, asked.c.dtype());
    if (!asked.outputs.empty())
      throw sextant::Error(asked.outputs[0].name, " is an output, expected inputs only");
    auto golden = sextant::Prove({asked.c, asked.inputs, recipe}, how.prove);
    auto made = std::make_unique<SextantResult>();
    sextant::Json json = {{"version", 0},
                          {"case", asked.Text()},
                          {"recipe", how.recipe},
                          {"defaults", asked.defaults},
                          {"outputs", sextant::Json::array()}};
    for (sextant::GoldenTensor& tensor : golden) {
      const auto& signature = asked.c.info().signature;
      const auto shape = asked.OwnShape(*sextant::FindTensor(signature, tensor.name));
      json["outputs"].push_back(
          {{"name", tensor.name}, {"dtype", NameOf(tensor.dtype)}, {"shape", shape}});
      const auto add = [&](const char* part, sextant::DType dtype, auto& values) {
        values.shape = shape;
        made->Add(tensor.name + "/" + part, dtype, std::move(values));
      };
      add("value", tensor.dtype, tensor.value);
      add("high", sextant::DType::kF64, tensor.high);
      add("low", sextant::DType::kF64, tensor.low);
      add("permitted", sextant::DType::kF64, tensor.permitted);
      add("radius", sextant::DType::kF64, tensor.radius);
    }
    made->json = sextant::PrintJson(json);
    *result = made.release();
  });
}

int sextant_tolerance(const char* question, const SextantTensor* inputs, size_t count, double atol,
                      double rtol, const SextantOptions* options, SextantResult** result) {
  using namespace sextant::tools;
  return Guarded([&] {
    RequirePointer(result, "result");
    *result = nullptr;
    for (const auto& [name, part] : {std::pair("atol", atol), std::pair("rtol", rtol)}) {
      if (!(part >= 0) || std::isinf(part))
        throw sextant::Error(name, " is ", part, ", expected a number from 0 on");
    }
    const JudgeOptions how = JudgeOptionsOf(OptionsOf(options));
    const sextant::Question asked = QuestionOf(question, inputs, count);
    const auto recipe = sextant::ParseRecipe(how.recipe, asked.c.dtype());
    if (!asked.outputs.empty())
      throw sextant::Error(asked.outputs[0].name, " is an output, expected inputs only");
    const sextant::oracle::Tolerance tolerance{atol, rtol};
    const sextant::ScopedBudget within(how.budget);
    const auto grade =
        sextant::oracle::GradeTolerance(asked.c, asked.inputs, recipe, tolerance, how.prove);
    auto made = std::make_unique<SextantResult>();
    made->status = grade.elements == 0 ? kNothing
                   : !grade.IsGood()   ? kNonconforming
                   : grade.sample      ? kIncomplete
                                       : kVerified;
    made->json = sextant::PrintJson(ToJson(grade, tolerance, asked.Text(), how.recipe));
    *result = made.release();
  });
}

int sextant_draw(const char* case_line, SextantResult** result) {
  using namespace sextant::tools;
  return Guarded([&] {
    RequirePointer(result, "result");
    *result = nullptr;
    RequirePointer(case_line, "case_line");
    const sextant::Question asked{
        .c = sextant::Case::Parse(case_line), .inputs = {}, .outputs = {}, .defaults = {}};
    const auto& signature = asked.c.signature();
    auto made = std::make_unique<SextantResult>();
    made->json = sextant::PrintJson({{"version", 0},
                                     {"case", asked.c.ToString()},
                                     {"question", asked.Text()},
                                     {"operation", asked.c.name()},
                                     {"dtype", NameOf(asked.c.dtype())},
                                     {"dimensions", asked.c.dimensions()},
                                     {"attributes", sextant::oracle::AttributesJson(asked.c)},
                                     {"inputs", Described(asked.c, signature.inputs)},
                                     {"outputs", Described(asked.c, signature.outputs)}});
    for (sextant::NamedTensor& input : sextant::DrawInputs(asked.c))
      made->Add(input.name, input.dtype, std::move(input.values));
    *result = made.release();
  });
}

int sextant_cases(const char* path, SextantResult** result) {
  using namespace sextant::tools;
  return Guarded([&] {
    RequirePointer(result, "result");
    *result = nullptr;
    RequirePointer(path, "path");
    sextant::Json json = {{"version", 0}, {"cases", sextant::Json::array()}};
    for (const CaseInFile& read : ReadCases(path, {})) {
      json["cases"].push_back({{"line", read.line.text},
                               {"number", read.line.number},
                               {"why", read.line.why},
                               {"case", read.c.ToString()}});
    }
    auto made = std::make_unique<SextantResult>();
    made->json = sextant::PrintJson(json);
    *result = made.release();
  });
}

int sextant_expect(const char* path, const char* case_line, const char* outcome,
                   const SextantResult* verdict, SextantResult** result) {
  using namespace sextant::tools;
  return Guarded([&] {
    RequirePointer(result, "result");
    *result = nullptr;
    RequirePointer(path, "path");
    const Expectations known = Expectations::Read(path);
    sextant::Json json = ToJson(known);
    if (case_line) {
      RequirePointer(outcome, "outcome");
      const auto c = sextant::Case::Parse(case_line);
      known.RequireNames(c);
      RequireVerdictOn(c, verdict);
      Outcome found{};
      sextant::ParseValue(outcome, found);
      const Expectation* entry = known.For(c.ToString(), found);
      if (entry) json["entry"] = entry - known.entries().data();
      if (entry) json["contradiction"] = ContradictionOf(*entry, found, verdict);
    }
    auto made = std::make_unique<SextantResult>();
    made->json = sextant::PrintJson(json);
    *result = made.release();
  });
}

int sextant_status(const SextantResult* result) { return result ? result->status : 0; }

const char* sextant_json(const SextantResult* result) {
  return result ? result->json.c_str() : "null";
}

int sextant_array(const SextantResult* result, const char* name, SextantArray* array) {
  using namespace sextant::tools;
  return Guarded([&] {
    RequirePointer(result, "result");
    RequirePointer(name, "name");
    RequirePointer(array, "array");
    std::string names;
    for (const SextantResult::Array& a : result->arrays) {
      if (a.name == name) {
        *array = {a.values.data.data(), a.values.shape.data(), a.values.shape.size(),
                  a.values.data.size(), a.dtype.c_str()};
        return;
      }
      names += " " + a.name;
    }
    throw sextant::Error("there is no array '", name, "'; there are:", names);
  });
}

void sextant_free(SextantResult* result) { delete result; }

const char* sextant_last_error() { return sextant::tools::LastError(); }

const char* sextant_version() { return SEXTANT_VERSION; }

const char* sextant_types() {
  static const std::string text = sextant::PrintJson(sextant::tools::DescribedTypes());
  return text.c_str();
}
