// A case: one line of text that specifies an operation and its inputs completely.
//   rope pairing=half base=500000 B=1 H=2 S=3 D=8 dtype=bf16 seed=1 @position=0,1,255..258
//   @x=one_hot
//   attention with=bias,sink H=8 K=2 S=3 T=5 D=4
// A lower-case key is an attribute, a capital letter a dimension. dtype.NAME= overrides the dtype
// of one tensor. @NAME=SPEC overrides the default distribution of an input (reference/case/draw.h).
// The canonical line has every attribute and dimension, so a golden stays valid if a default
// changes. It is the key in golden files and the name in reports.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/operation.h"
#include "reference/case/signature.h"

namespace sextant {

class Case {
 public:
  // Throws Error for unknown names (with the names that exist), missing words and impossible
  // shapes.
  static Case Parse(std::string_view line);
  Case(const Case& other);
  Case& operator=(const Case& other);
  Case(Case&&) = default;
  Case& operator=(Case&&) = default;

  // True if cases of the operation have an attribute or dimension of that name.
  static bool Has(const Operation& operation, std::string_view key);

  std::string ToString() const;  // canonical; Parse(ToString()) is the same case

  const Operation& operation() const { return *operation_; }
  const OperationInfo& info() const { return operation_->info(); }
  // The signature of the operation, without the optional inputs that this case does not have.
  const Signature& signature() const { return own_signature_ ? *own_signature_ : info().signature; }
  const std::string& name() const { return name_; }
  const Dimensions& dimensions() const { return dimensions_; }
  DType dtype() const { return dtype_; }
  uint64_t seed() const { return seed_; }
  // The spec in the case line, or else the operation's default.
  std::string SpecOf(const TensorSpec& input) const;
  DType DTypeOf(const TensorSpec& tensor) const;
  Shape ShapeOf(const TensorSpec& tensor) const;

  // The same case with one word changed or added ("base=10", "S=4", "@position=hard").
  Case With(std::string_view word) const;
  // With several, which may fit only together.
  Case With(const std::vector<std::string>& words) const;
  // With all inputs drawn from the operation's own distributions: without "@position=0,1".
  Case WithDrawnInputs() const;

 private:
  Case() = default;
  void SetWord(const std::string& key, const std::string& text);
  void BindInputs();
  void Bind();

  std::string name_;
  std::unique_ptr<Operation> operation_;
  std::shared_ptr<const Signature> own_signature_;  // null: that of the operation
  Dimensions dimensions_;
  DType dtype_ = DType::kF32;
  std::map<std::string, DType> dtypes_;
  uint64_t seed_ = 1;
  std::map<std::string, std::string> specs_;
};

// A line of a .cases file; `why` is its comment.
struct CaseLine {
  size_t number;
  std::string text, why;
};
// The lines of a file that contain a case. Throws Error if the file cannot be read.
std::vector<CaseLine> ReadCaseLines(const std::string& path);

}  // namespace sextant
