// One question in the form of tools/c/sextant_subject.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reference/number/tensor/safetensors.h"
#include "tools/c/asked_attributes.h"
#include "tools/c/guarded_tensor.h"
#include "tools/c/sextant_subject.h"

namespace sextant::tools {

// What became of a question.
struct HostReply {
  std::string status, message;  // words of oracle/subject/PROTOCOL.md
  std::vector<std::pair<std::string, const GuardedTensor*>> outputs{};
};

class AskedQuestion {
 public:
  // `read` fills a buffer with the next bytes of the message. Throws Error if the message is not a
  // question, and std::bad_alloc. If the question says it (`memory` in PROTOCOL.md), its tensors
  // take the memory of those of `former`, the question before it.
  AskedQuestion(const SafetensorsHeader& header, const std::function<void(std::span<char>)>& read,
                AskedQuestion* former = nullptr);

  // Calls `answer` and checks what it did. The outputs are valid as long as this object.
  HostReply Ask(const std::function<int(const SextantQuestion*)>& answer);

  // What `answer` has written since it returned: empty if nothing.
  std::string WrittenLate() const;

 private:
  struct Functions;
  struct Output {
    DType dtype;
    Shape shape;
    bool optional = false, answered = false;
    std::unique_ptr<GuardedTensor> former{};  // whose memory it may take
    std::unique_ptr<GuardedTensor> tensor{};  // once it has been asked for
    uint64_t hash = 0;                        // of its bytes, when `answer` returned
  };
  struct Input {
    std::unique_ptr<GuardedTensor> tensor;
    uint64_t hash = 0;  // of its bytes, which `answer` must not change
    bool read = false;
  };
  // The struct that `answer` gets; `owner` leads back to this object.
  struct Table : SextantQuestion {
    AskedQuestion* owner;
  };

  HostReply Checked(int status);
  std::string Damage() const;
  std::vector<std::string> Unread() const;
  void Misused(const std::string& why);  // keeps the first reason
  Output& OutputNamed(const char* name);

  Metadata words_;
  AskedAttributes attributes_;
  std::map<std::string, Input, std::less<>> inputs_;
  std::set<std::string> absent_;  // optional inputs that the case does not have
  std::map<std::string, Output, std::less<>> outputs_;
  std::string json_;                   // of all of it (sextant_subject.h)
  std::optional<unsigned char> fill_;  // each byte of an output before the answer
  Table table_{};
  std::mutex mutex_;  // of all that the functions of the table change
  std::string misuse_, message_;
};

}  // namespace sextant::tools
