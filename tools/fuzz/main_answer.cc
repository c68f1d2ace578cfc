// The messages of a subject's program: an input is its answer to hello, and, after a right hello,
// its answer to a question. The program is played by the functions of ChildProcess below, which the
// linker takes instead of those of the library.
#include <optional>

#include "oracle/subject/exec_client.h"
#include "tools/fuzz/input.h"
#include "tools/fuzz/mutated_header.h"

namespace sextant::oracle {
namespace {

std::string_view program_output;

}  // namespace

ChildProcess::ChildProcess(const std::string&, const ProcessLimits&) {}
void ChildProcess::Kill() {}
void ChildProcess::Send(std::string bytes) { unsent_ = std::move(bytes); }
Event ChildProcess::Flush(Clock::time_point) {
  unsent_.clear();
  return Event::kDone;
}
Event ChildProcess::Receive(std::span<char> bytes, Clock::time_point) {
  received_ = program_output.copy(bytes.data(), bytes.size());
  program_output.remove_prefix(received_);
  if (received_ == bytes.size()) return Event::kDone;
  exit_ = Exit{.status = 1};
  return Event::kEnded;
}
std::string ChildProcess::TakeWaiting(std::chrono::milliseconds) { return ""; }
Event ChildProcess::CloseAndWait(Clock::time_point, std::string* surplus) {
  *surplus = program_output.substr(0, 64);
  return Event::kDone;
}

}  // namespace sextant::oracle

namespace {

using namespace sextant;

oracle::Question Asked() {
  return {.operation = "sum",
          .case_line = "sum N=2",
          .attributes_json = "{}",
          .inputs = {},
          .expected = {{"y", DType::kBF16, {2}}, {"i", DType::kI64, {1, 2}, true}}};
}

void MayFail(std::string_view output, const auto& talk) {
  oracle::program_output = output;
  try {
    oracle::ExecClient client("", 1);
    talk(client);
    client.Close();
  } catch (const oracle::Failure&) {
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::MutateParts(data, size, most, seed, {.at = 0, .bytes = kPrefixSize});
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view message = fuzz::TextOf(data, size);
  MayFail(message, [](oracle::ExecClient& client) { client.hello(); });
  static const std::string hello = EncodeSafetensors({{"id", "1"},
                                                      {"status", "ok"},
                                                      {"sextant", "2"},
                                                      {"name", "fuzz"},
                                                      {"version", "1"},
                                                      {"recipe", "native"},
                                                      {"operations", "[\"sum\"]"}},
                                                     {});
  const std::string output = hello + std::string(message);
  MayFail(output, [](oracle::ExecClient& client) {
    client.hello();
    client.Ask(Asked());
  });
  return 0;
}
