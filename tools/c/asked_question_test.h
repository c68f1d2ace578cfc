// For tests: a question as the host gets it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tools/c/asked_question.h"

namespace sextant::tools {

// A question with the input x = [1, 2] in f32, without the optional input bias, and with the
// outputs y (required) and z (optional).
inline std::unique_ptr<AskedQuestion> MakeQuestion(const std::string& attributes = "{}",
                                                   const Metadata& more = {},
                                                   AskedQuestion* former = nullptr) {
  Metadata words = {
      {"operation", "op"},
      {"case", "op D=2"},
      {"dtype", "f32"},
      {"attributes", attributes},
      {"absent", R"(["bias"])"},
      {"outputs",
       R"({"y":{"dtype":"F32","shape":[2]},"z":{"dtype":"BF16","shape":[],"optional":true}})"}};
  words.insert(more.begin(), more.end());
  const std::string message =
      EncodeSafetensors(words, {{"x", DType::kF32, Tensor<double>({2}, {1, 2})}});
  const size_t size = HeaderSize(std::string_view(message).substr(0, kPrefixSize));
  const std::string body = message.substr(kPrefixSize + size);
  size_t done = 0;
  return std::make_unique<AskedQuestion>(
      ParseSafetensorsHeader(std::string_view(message).substr(kPrefixSize, size)),
      [&](std::span<char> buffer) { done += body.copy(buffer.data(), buffer.size(), done); },
      former);
}

}  // namespace sextant::tools
