// A question in the form of a library in C: the message, its JSON documents, and the functions that
// a library calls. The question is asked twice, the second time perhaps in the memory of the first.
#include "reference/base/json.h"
#include "tools/c/asked_question.h"
#include "tools/fuzz/input.h"
#include "tools/fuzz/mutated_header.h"

namespace {

using namespace sextant;

// A question may claim any sizes: whoever asks has memory for them. Here they are small.
bool IsSmall(const SafetensorsHeader& header) {
  if (header.body_size > fuzz::kMostElements) return false;
  const auto text = header.metadata.find("outputs");
  if (text == header.metadata.end()) return true;
  try {
    for (const Json& output : Json::parse(text->second))
      if (!fuzz::IsSmall(output.at("shape").get<Shape>())) return false;
  } catch (const Json::exception&) {  // it will be refused
  }
  return true;
}

// Asks for everything that the question has, and for its attributes by each type.
int Answer(const SextantQuestion* question) {
  constexpr int kMostLevels = 8;
  const Json all = ParseJson(question->json(question), kMostLevels);
  for (const auto& [name, value] : all.at("attributes").items()) {
    double number = 0;
    int64_t integer = 0;
    int boolean = 0;
    const char* text = nullptr;
    const double* list = nullptr;
    size_t count = 0;
    question->type(question, name.c_str());
    question->number(question, name.c_str(), &number);
    question->integer(question, name.c_str(), &integer);
    question->boolean(question, name.c_str(), &boolean);
    question->text(question, name.c_str(), &text);
    question->list(question, name.c_str(), &list, &count);
  }
  for (const auto& [name, input] : all.at("inputs").items())
    question->input(question, name.c_str());
  for (const auto& [name, output] : all.at("outputs").items()) {
    question->output(question, name.c_str());
    question->answered(question, name.c_str());
  }
  return SEXTANT_ANSWER_OK;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::MutateParts(data, size, most, seed, {.at = 0, .bytes = kPrefixSize});
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view message = fuzz::TextOf(data, size);
  if (size < kPrefixSize) return 0;
  const uint64_t header_size = HeaderSize(message.substr(0, kPrefixSize));
  if (header_size > size - kPrefixSize) return 0;
  fuzz::MayRefuse([&] {
    const SafetensorsHeader header =
        ParseSafetensorsHeader(message.substr(kPrefixSize, header_size));
    if (!IsSmall(header)) return;
    const auto ask = [&](tools::AskedQuestion* former) {
      std::string_view body = message.substr(kPrefixSize + header_size);
      const auto read = [&body](std::span<char> bytes) {
        if (body.size() < bytes.size()) throw Error("ends too early");
        body.remove_prefix(body.copy(bytes.data(), bytes.size()));
      };
      auto question = std::make_unique<tools::AskedQuestion>(header, read, former);
      const tools::HostReply reply = question->Ask(Answer);
      fuzz::Require(!reply.status.empty() && question->WrittenLate().empty());
      return question;
    };
    const auto former = ask(nullptr);
    ask(former.get());
  });
  return 0;
}
