// Questions about tensors: the first line of an input is the question, each further line a tensor
// in memory, its type, its shape and its name, perhaps with a layout: "bf16 2,3,8 x (B S D)".
#include <array>
#include <sstream>

#include "reference/base/value_text.h"
#include "tools/api/own_question.h"
#include "tools/fuzz/input.h"

namespace {

using namespace sextant;

// Numbers for all tensors. Its bytes are small integers, and finite numbers in most types.
const void* Elements() {
  static const auto kElements = [] {
    std::array<uint8_t, 8 * fuzz::kMostElements> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = i % 8 == 0 ? i / 8 % 3 : 0;
    return bytes;
  }();
  return kElements.data();
}

OwnTensor TensorIn(const std::string& line) {
  std::istringstream in(line);
  std::string type, shape;
  OwnTensor tensor;
  in >> type >> shape >> std::ws;
  std::getline(in, tensor.name);
  ParseValue(type, tensor.view.type);
  std::istringstream extents(shape);
  for (std::string extent; std::getline(extents, extent, ',');) {
    int64_t number = 0;
    ParseValue(extent, number);
    if (number < 0) throw Error("no tensor has such an extent");
    tensor.view.shape.push_back(static_cast<size_t>(number));
  }
  if (!fuzz::IsSmall(tensor.view.shape)) throw Error("too large");
  tensor.view.data = Elements();
  tensor.view.strides = RowMajorStrides(tensor.view.shape);
  return tensor;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::MayRefuse([&] {
    std::istringstream in{std::string(fuzz::TextOf(data, size))};
    std::string text, line;
    std::getline(in, text);
    std::vector<OwnTensor> tensors;
    while (std::getline(in, line)) tensors.push_back(TensorIn(line));
    const Question question = tools::OwnQuestion(text, tensors);
    // The case of a question is complete: it can be repeated.
    fuzz::Require(LineOfQuestion(Case::Parse(question.Text())) == question.Text());
  });
  return 0;
}
