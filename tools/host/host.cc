#include "tools/host/host.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "oracle/subject/reply_words.h"
#include "reference/base/descriptor.h"
#include "reference/base/json.h"
#include "reference/base/printable.h"
#include "tools/api/host_command.h"
#include "tools/c/asked_question.h"
#include "tools/c/scoped_floating_point.h"
#include "tools/host/subject_library.h"

namespace sextant::tools {
namespace {

constexpr uint64_t kMostHeaderBytes = 1 << 28;
constexpr size_t kMostMessageBytes = 4000;

// The pipes of the conversation, on descriptors of their own. The library then finds an empty
// standard input, and what it prints goes to standard error.
class Pipes {
 public:
  Pipes() : source_(Copied(STDIN_FILENO)), sink_(Copied(STDOUT_FILENO)) {
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (::dup2(nothing.get(), STDIN_FILENO) < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      throw Error("cannot redirect standard input and output: ", std::strerror(errno));
  }

  // Fills the buffer; returns the number of bytes, less if the input ends.
  size_t Read(std::span<char> buffer) {
    size_t count = 0;
    while (count < buffer.size()) {
      const ssize_t got = ::read(source_.get(), buffer.data() + count, buffer.size() - count);
      if (got == 0) break;
      if (got < 0 && errno != EINTR) throw Error("cannot read: ", std::strerror(errno));
      if (got > 0) count += static_cast<size_t>(got);
    }
    return count;
  }
  void ReadAll(std::span<char> buffer) {
    const size_t count = Read(buffer);
    if (count < buffer.size()) {
      throw Error("the question ends after ", count, " of ", buffer.size(),
                  " bytes of one of its parts");
    }
  }
  void Write(std::span<const char> bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(sink_.get(), bytes.data(), bytes.size());
      if (put < 0 && errno != EINTR) throw Error("cannot write: ", std::strerror(errno));
      if (put > 0) bytes = bytes.subspan(static_cast<size_t>(put));
    }
  }

 private:
  static Descriptor Copied(int from) {
    Descriptor copy(::fcntl(from, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!copy.open()) throw Error("cannot use descriptor ", from, ": ", std::strerror(errno));
    return copy;
  }
  Descriptor source_, sink_;
};

// The header of the next question; nothing at the end of the input.
std::optional<SafetensorsHeader> NextHeader(Pipes& pipes) {
  std::string prefix(kPrefixSize, '\0');
  const size_t count = pipes.Read(prefix);
  if (count == 0) return std::nullopt;
  if (count < kPrefixSize || HeaderSize(prefix) > kMostHeaderBytes)
    throw Error("standard input is not a question: Sextant starts this program for lib: subjects");
  std::string header(HeaderSize(prefix), '\0');
  pipes.ReadAll(header);
  return ParseSafetensorsHeader(header);
}

void Send(Pipes& pipes, Metadata words, const HostReply& reply) {
  words["status"] = reply.status;
  if (!reply.message.empty())
    words["message"] = Printable(std::string_view(reply.message).substr(0, kMostMessageBytes));
  std::vector<SafetensorsTensor> declared;
  for (const auto& [name, tensor] : reply.outputs)
    declared.push_back({name, tensor->dtype(), tensor->shape()});
  pipes.Write(EncodeSafetensorsHeader(words, declared));
  for (const auto& [name, tensor] : reply.outputs) pipes.Write(tensor->bytes());
}

void SayHello(Pipes& pipes, Metadata words, const LoadedSubject& subject) {
  words["sextant"] = oracle::kProtocolVersion;
  words["name"] = subject.name;
  words["version"] = subject.version;
  words["recipe"] = subject.recipe;
  words["operations"] = PrintJson(subject.operations);
  if (!subject.bitwise.empty()) words["bitwise"] = PrintJson(subject.bitwise);
  Send(pipes, words, {.status = "ok", .message = ""});
}

void RefuseOtherVersions(const Metadata& words) {
  const auto version = words.find("sextant");
  if (version != words.end() && version->second == oracle::kProtocolVersion) return;
  throw Error(kHostProgram, " speaks version ", oracle::kProtocolVersion,
              " of the protocol, the question has ",
              version == words.end() ? "none" : version->second);
}

}  // namespace

int RunHost(const std::string& library) {
  Pipes pipes;
  std::optional<LoadedSubject> subject;
  std::unique_ptr<AskedQuestion> former;  // only if questions say what becomes of its memory
  while (true) {
    std::unique_ptr<AskedQuestion> question;
    Metadata words;
    bool keeps_memory = false;
    std::string written_late;
    try {
      const ScopedFloatingPoint standard;  // the library may have set another one
      const std::optional<SafetensorsHeader> header = NextHeader(pipes);
      if (!header) return 0;
      words["id"] = header->metadata.at("id");
      RefuseOtherVersions(header->metadata);
      keeps_memory = header->metadata.contains("memory");
      if (former) written_late = former->WrittenLate();
      if (header->metadata.at("operation") != "hello") {
        question = std::make_unique<AskedQuestion>(
            *header, [&pipes](std::span<char> bytes) { pipes.ReadAll(bytes); }, former.get());
      }
    } catch (const Error& e) {
      if (words.empty()) throw;
      Send(pipes, words, {.status = "error", .message = e.what()});
      return 1;
    }
    try {
      if (!subject) subject = LoadSubject(library);
      if (!written_late.empty()) throw Error("of the question before: ", written_late);
      if (question) {
        Send(pipes, words, question->Ask(subject->answer));
      } else {
        SayHello(pipes, words, *subject);
      }
    } catch (const Error& e) {
      Send(pipes, words, {.status = "error", .message = e.what()});
    }
    former = keeps_memory ? std::move(question) : nullptr;
    std::fflush(stdout);
  }
}

}  // namespace sextant::tools
