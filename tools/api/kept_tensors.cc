#include "tools/api/kept_tensors.h"

#include <cstdio>
#include <filesystem>

#include "reference/base/hash.h"
#include "reference/number/tensor/safetensors.h"
#include "tools/api/replace.h"

namespace sextant::tools {

std::string KeepTensors(const Question& question, const std::string& folder) {
  Tensors tensors = question.inputs;
  tensors.insert(tensors.end(), question.outputs.begin(), question.outputs.end());
  const std::string bytes = EncodeSafetensors({{"question", question.Text()}}, tensors);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(folder, ": ", error.message());
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(HashOf(bytes)));
  const std::string name = std::string(question.c.name()) + "-" + hash + ".safetensors";
  const std::string path = std::filesystem::path(folder) / name;
  if (std::filesystem::is_regular_file(path, error)) return path;  // with the same content
  OutputFile(path).Write([&](std::ostream& out) { out << bytes; });
  return path;
}

}  // namespace sextant::tools
