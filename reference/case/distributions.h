// The named distributions of inputs. reference/case/draw.h describes each one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/base/error.h"
#include "reference/number/tensor/stored_tensor.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// A distribution such as "uniform(-1,2)", for the elements of one input.
class Distribution {
 public:
  // Throws Error if there is no such distribution, if it does not accept the arguments, or if it
  // cannot draw values of the dtype.
  Distribution(const std::string& spec, const std::string& input, DType dtype);

  // Fills the tensor with values of the dtype. Throws Error if one exceeds the largest finite
  // number.
  void Fill(uint64_t seed, Tensor<double>& tensor) const;
  void Fill(uint64_t seed, StoredTensor& tensor) const;
  // The same for the elements of a tensor of that shape from element `first` on, by this thread.
  void FillPart(uint64_t seed, const Shape& shape, size_t first, std::span<double> to) const;

 private:
  struct Row;
  static const Row kRows[];
  static std::string Names(bool (*wanted)(const Row&) = nullptr);  // for messages
  // Calls work(first, count) for parts of the elements of a tensor, on all cores.
  template <class Work>
  void ForEachPart(const Shape& shape, Work work) const;
  // Draws the elements of a tensor of that shape from element `first` on.
  std::optional<Error> Draw(uint64_t seed, const Shape& shape, size_t first,
                            std::span<double> to) const;

  const Row* row_;
  std::vector<double> arguments_;
  std::string text_, input_;
  DType dtype_;
};

// Parses a number of a spec. Throws Error if it is an integer that is not exactly a double.
double ParseNumber(const std::string& text);

}  // namespace sextant
