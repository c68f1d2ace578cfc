// The ONNX operator that computes a case, with its attributes and inputs.
// Operators: https://onnx.ai/onnx/operators/
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::tools {

// An input of a node. A mask has no dtype of a case: its values are 0 and 1.
struct OnnxInput {
  NamedTensor tensor;
  bool is_mask = false;
};

struct OnnxNode {
  std::string type;  // "RMSNormalization"
  int opset = 23;    // the version of the operator set
  // Those that are not the operator's default. Numbers are rounded to f32, as ONNX has them.
  std::vector<std::pair<std::string, std::variant<int64_t, float, std::string>>> attributes{};
  std::vector<OnnxInput> inputs{};  // in the order of the operator
};

// Why no node computes this case; empty if one does.
std::string WhyNoOnnxNode(const Case& c);

// Why no node computes the case with these inputs: attention over a NaN or an infinity, which ONNX
// reads even where it is masked.
std::string WhyNoOnnxNode(const Case& c, const Tensors& inputs);

// The node of a case that has one. It computes the first output of the case.
OnnxNode OnnxNodeOf(const Case& c, const Tensors& inputs);

}  // namespace sextant::tools
