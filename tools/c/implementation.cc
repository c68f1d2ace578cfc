#include "tools/c/implementation.h"

#include <set>
#include <utility>

#include "oracle/subject/safetensors_message.h"
#include "reference/base/printable.h"
#include "tools/api/computed_subject.h"
#include "tools/c/asked_question.h"
#include "tools/c/call.h"
#include "tools/c/dl_tensor.h"
#include "tools/c/struct_size.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Subject;

// The question as a host gets it (oracle/subject/PROTOCOL.md).
AskedQuestion QuestionAbout(const Case& c, const Tensors& inputs,
                            const oracle::ToldAttributes& told) {
  std::vector<oracle::ExpectedTensor> expected;
  for (const TensorSpec& spec : c.info().signature.outputs)
    expected.push_back({spec.name, c.DTypeOf(spec), c.ShapeOf(spec), spec.optional});
  Metadata words = oracle::GapWords(c, told);
  words.merge(Metadata{{"operation", std::string(c.name())},
                       {"case", c.ToString()},
                       {"dtype", std::string(NameOf(c.dtype()))},
                       {"attributes", PrintJson(oracle::AttributesJson(c, told))},
                       {"outputs", oracle::DescribeOutputs(expected)}});
  const std::string message = EncodeSafetensors(words, inputs);
  const std::string_view header =
      std::string_view(message).substr(kPrefixSize, HeaderSize(message.substr(0, kPrefixSize)));
  std::string_view body = std::string_view(message).substr(kPrefixSize + header.size());
  return {ParseSafetensorsHeader(header), [&body](std::span<char> buffer) {
            body.remove_prefix(body.copy(buffer.data(), buffer.size()));
          }};
}

Answer Ask(const SextantImplementation& given, const std::fenv_t& environment,
           const oracle::ToldAttributes& told, const Case& c, const Tensors& inputs) {
  AskedQuestion question = QuestionAbout(c, inputs, told);
  const HostReply reply = question.Ask([&](const SextantQuestion* asked) {
    const ScopedFloatingPoint callers(environment);
    return given.answer(asked, given.user);
  });
  if (reply.status == "unsupported")
    return {Answer::Status::kUnsupported, Marked(reply.message), {}};
  if (reply.status != "ok") {
    throw NoAnswer(std::string(given.name) + " did not answer " + c.ToString() + ": " +
                   reply.message);
  }
  Answer answer{.message = Marked(reply.message), .outputs = {}};
  for (const auto& [name, tensor] : reply.outputs) {
    try {
      answer.outputs.push_back({name, tensor->dtype(), ValuesOf(ViewOf(name, tensor->dl()))});
    } catch (const Error& e) {
      throw NoAnswer(std::string(given.name) + " gave a wrong answer to " + c.ToString() + ": " +
                     e.what());
    }
  }
  return answer;
}

Subject SubjectOf(const SextantImplementation& given, const std::fenv_t& environment,
                  const oracle::ToldAttributes& told) {
  if (!given.name) throw Error("the name of an implementation is a null pointer");
  const std::string recipe = given.recipe ? given.recipe : "";
  if (!recipe.empty()) ParseRecipe(recipe, DType::kF32);  // throws Error
  if (given.answer) {
    return {.name = given.name,
            .recipe = recipe.empty() ? "native" : recipe,
            .answer = [=](const Case& c, const Tensors& inputs) {
              return Ask(given, environment, told, c, inputs);
            }};
  }
  auto computed = ComputedSubject(given.name);
  if (!computed) {
    throw Error("implementation ", Quoted(given.name),
                " has no function, and is none of: ", ComputedSubjectHelp());
  }
  if (!recipe.empty()) computed->recipe = recipe;
  return *std::move(computed);
}

}  // namespace

std::vector<Subject> SubjectsOf(const SextantImplementation* given, size_t count,
                                const std::fenv_t& environment,
                                const oracle::ToldAttributes& told) {
  if (count == 0) throw Error("there is no implementation, expected at least one");
  RequirePointer(given, "implementation");
  std::vector<Subject> subjects;
  std::set<std::string> names;
  const auto* at = reinterpret_cast<const char*>(given);
  for (size_t i = 0; i < count; ++i, at += given->struct_size) {
    const auto known = KnownMembers(*reinterpret_cast<const SextantImplementation*>(at),
                                    "an implementation", "SextantImplementation");
    subjects.push_back(SubjectOf(known, environment, told));
    if (!names.insert(subjects.back().name).second)
      throw Error("two implementations have the name ", Quoted(subjects.back().name));
  }
  return subjects;
}

}  // namespace sextant::tools
