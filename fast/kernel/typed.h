// Converts a case to arguments of a kernel: the struct of its operation, and tensors as typed
// arrays. Divides rows among threads.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fast/simd/any_element.h"
#include "reference/case/case.h"
#include "reference/number/recipe/in_parallel_here.h"
#include "reference/number/tensor/stored_tensor.h"

namespace sextant::fast {

// The struct of the case's operation, which must be Op.
template <class Op>
const Op& StructOf(const Case& c) {
  return dynamic_cast<const TypedOperation<Op>&>(c.operation()).op();
}

inline size_t ExtentOf(const Case& c, const char* letter) {
  return static_cast<size_t>(c.dimensions().at(letter));
}

// The input of that name; null if the case has none.
inline const StoredTensor* FindInput(const StoredTensors& inputs, std::string_view name) {
  const auto at = std::ranges::find(inputs, name, &StoredTensor::name);
  return at == inputs.end() ? nullptr : &*at;
}

// The elements of an input as type T, in which its values must be exact. They are copied only if
// the dtype of the input is another. Without an input there are none: data() is null.
template <Element T>
class Elements {
 public:
  explicit Elements(const StoredTensor& input) : Elements(&input) {}
  Elements(const StoredTensors& inputs, std::string_view name)
      : Elements(FindInput(inputs, name)) {}
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<const T> all() const { return {data_, size_}; }

 private:
  explicit Elements(const StoredTensor* input) {
    if (!input) return;
    size_ = CountOf(input->shape());
    data_ = input->As<T>();
    if (input->dtype() == kDType<T>) return;
    copy_.reserve(size_);
    for (const double x : TensorReader(*input).Values().values.data)
      copy_.push_back(FromDouble<T>(x));
    data_ = copy_.data();
  }

  std::vector<T> copy_;
  const T* data_ = nullptr;
  size_t size_ = 0;
};

// A struct of weights (its Visit: reference/case/operation.h) whose members are spans: the elements
// of the inputs of these names, or part `part` of `parts` of each. Those that are absent must be
// optional. The dtypes must be those of the spans.
template <class Named>
Named NamedElements(const StoredTensors& inputs, size_t part = 0, size_t parts = 1) {
  Named named{};
  named.Visit([&]<class Member>(const char* name, Member& member) {
    const StoredTensor* const input = FindInput(inputs, name);
    const auto set = [&]<Element E>(std::span<const E>& elements) {
      const size_t count = CountOf(input->shape()) / parts;
      elements = {input->As<E>() + part * count, count};
    };
    if constexpr (requires { member.has_value(); }) {
      if (input) set(member.emplace());
    } else {
      set(member);
    }
  });
  return named;
}

// The outputs of the case, without values.
inline StoredTensors OutputsOf(const Case& c) {
  StoredTensors outputs;
  for (const TensorSpec& spec : c.signature().outputs)
    outputs.emplace_back(spec.name, c.DTypeOf(spec), c.ShapeOf(spec));
  return outputs;
}

// Sets an output to these elements, as many as it has.
template <Element T>
void CopyTo(StoredTensor& output, const std::vector<T>& elements) {
  std::ranges::copy(elements, output.As<T>());
}

inline Tensor<double> ValuesOf(const StoredTensor& tensor) {
  return TensorReader(tensor).Values().values;
}
inline std::vector<int64_t> ToIntegers(const StoredTensor& tensor) {
  const std::vector<double> values = ValuesOf(tensor).data;
  return {values.begin(), values.end()};
}

// So many products of a matrix product take about the time of an element of a simple kernel.
inline constexpr size_t kProductsPerElement = 16;

// Calls work(first, count) for parts of `rows` rows of `width` elements, on the threads of
// InParallelHere: two for each thread, or fewer if they would have less than kLeast elements. Each
// begins at a multiple of `unit` rows. With one thread there is one part.
template <class Work>
void InRowParts(size_t rows, size_t width, const Work& work, size_t unit = 1) {
  constexpr size_t kLeast = size_t{1} << 18;
  const auto threads = static_cast<size_t>(ThreadsHere());
  const size_t wanted = threads == 1 ? 1 : std::min(2 * threads, rows * width / kLeast);
  const size_t units = (rows + unit - 1) / unit,
               parts = std::clamp<size_t>(wanted, 1, std::max<size_t>(units, 1));
  if (parts == 1) return work(size_t{0}, rows);
  InParallelHere(parts, [&](size_t i) {
    const size_t first = i * units / parts * unit,
                 end = std::min(rows, (i + 1) * units / parts * unit);
    work(first, end - first);
  });
}
// The same for single elements. The parts have whole vectors: some functions choose their
// operations by all elements of a vector.
template <class Work>
void InElementParts(size_t count, const Work& work) {
  InRowParts(count, 1, work, 1024);
}

// Declines a case with a tensor whose dtype differs from the default of its role, apart from codes,
// their scales, and tensors for which `may_differ` is true. Returns the reason, or an empty string.
template <class MayDiffer>
std::string DeclinesTypesUnless(const MayDiffer& may_differ, const Case& c) {
  for (const auto* side : {&c.signature().inputs, &c.signature().outputs}) {
    for (const TensorSpec& tensor : *side) {
      const bool is_default = c.DTypeOf(tensor) == DTypeOf(tensor.role, c.dtype());
      if (is_default || HasTypesOfCodes(tensor.role) || may_differ(tensor)) continue;
      return "no kernel for " + tensor.name + " of another dtype than the case's";
    }
  }
  return "";
}
inline bool IsFloatType(DType dtype) { return std::ranges::count(kFloatTypes, dtype) > 0; }
inline std::string DeclinesMixedTypes(const Case& c) {
  return DeclinesTypesUnless([](const TensorSpec&) { return false; }, c);
}

}  // namespace sextant::fast
