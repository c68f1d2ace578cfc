// A subject in a shared library, in C++17 or later: typed access to the questions of
// sextant_subject.h. Header only, and nothing to link.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sextant_subject.h"

namespace sextant::cpp {

// Thrown for attributes and tensors that a question does not have, and by sextant.hpp.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throw it from your answer for a case that your implementation does not have.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The bits of 16-bit floats.
struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};
// The bits of an 8-bit float, by its DLPack type code (DLPack 1.1).
template <uint8_t code>
struct F8 {
  uint8_t bits;
};
using F8E4M3FN = F8<10>;
using F8E4M3FNUZ = F8<11>;
using F8E5M2 = F8<12>;
using F8E5M2FNUZ = F8<13>;
using E8M0 = F8<14>;
using I8 = int8_t;
// The bits of an element of 4 bits are the low ones of a byte.
struct F4E2M1 {
  uint8_t bits;
};
struct I4 {
  uint8_t bits;
};

// The DLPack type of T. For a type of your own:
//   template <> struct sextant::cpp::Element<my_bf16> : sextant::cpp::Element<sextant::cpp::BF16>
//   {};
template <class T>
struct Element;
template <>
struct Element<double> {
  static constexpr DLDataType kType{kDLFloat, 64, 1};
};
template <>
struct Element<float> {
  static constexpr DLDataType kType{kDLFloat, 32, 1};
};
template <>
struct Element<F16> {
  static constexpr DLDataType kType{kDLFloat, 16, 1};
};
template <>
struct Element<BF16> {
  static constexpr DLDataType kType{kDLBfloat, 16, 1};
};
template <uint8_t code>
struct Element<F8<code>> {
  static constexpr DLDataType kType{code, 8, 1};
};
template <>
struct Element<F4E2M1> {
  static constexpr DLDataType kType{17, 4, 1};
};
template <>
struct Element<I4> {
  static constexpr DLDataType kType{kDLInt, 4, 1};
};
template <>
struct Element<I8> {
  static constexpr DLDataType kType{kDLInt, 8, 1};
};
template <>
struct Element<int64_t> {
  static constexpr DLDataType kType{kDLInt, 64, 1};
};
template <>
struct Element<int32_t> {
  static constexpr DLDataType kType{kDLInt, 32, 1};
};

template <class T>
bool Holds(const DLTensor& tensor) {
  constexpr DLDataType kType = Element<std::remove_const_t<T>>::kType;
  return tensor.dtype.code == kType.code && tensor.dtype.bits == kType.bits &&
         tensor.dtype.lanes == 1;
}

// A view of dense numbers; converts to std::span.
template <class T>
class View {
 public:
  View(T* data, size_t size) : data_(data), size_(size) {}
  T* data() const { return data_; }
  size_t size() const { return size_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_;
  size_t size_;
};

// A view of a dense row-major tensor of T.
template <class T>
class Tensor : public View<T> {
 public:
  explicit Tensor(const DLTensor& tensor)
      : View<T>(static_cast<T*>(tensor.data), CountOf(tensor)), tensor_(&tensor) {}
  View<const int64_t> shape() const { return {tensor_->shape, static_cast<size_t>(tensor_->ndim)}; }
  size_t extent(size_t axis) const { return static_cast<size_t>(tensor_->shape[axis]); }

 private:
  static size_t CountOf(const DLTensor& tensor) {
    size_t count = 1;
    for (int axis = 0; axis < tensor.ndim; ++axis) count *= static_cast<size_t>(tensor.shape[axis]);
    return count;
  }
  const DLTensor* tensor_;
};

// A question to your implementation (sextant_subject.h). Each function throws Error if there is
// nothing of that name and type; those without Optional also if the attribute is not set.
class Question {
 public:
  explicit Question(const SextantQuestion* question) : question_(question) {}

  std::string_view operation() const { return question_->operation; }
  std::string_view case_line() const { return question_->case_line; }
  std::string_view dtype() const { return question_->dtype; }
  const SextantQuestion* c() const { return question_; }

  std::optional<double> OptionalNumber(const char* name) const {
    return Get<double>(question_->number, name);
  }
  std::optional<int64_t> OptionalInteger(const char* name) const {
    return Get<int64_t>(question_->integer, name);
  }
  std::optional<bool> OptionalBoolean(const char* name) const {
    const std::optional<int> value = Get<int>(question_->boolean, name);
    return value ? std::optional<bool>(*value != 0) : std::nullopt;
  }
  std::optional<std::string_view> OptionalText(const char* name) const {
    const std::optional<const char*> value = Get<const char*>(question_->text, name);
    return value ? std::optional<std::string_view>(*value) : std::nullopt;
  }
  std::optional<View<const double>> OptionalList(const char* name) const {
    const double* values = nullptr;
    size_t count = 0;
    const int found = question_->list(question_, name, &values, &count);
    if (!IsSet(found, name)) return std::nullopt;
    return View<const double>(values, count);
  }
  double Number(const char* name) const { return Set(OptionalNumber(name), name, "Number"); }
  int64_t Integer(const char* name) const { return Set(OptionalInteger(name), name, "Integer"); }
  bool Boolean(const char* name) const { return Set(OptionalBoolean(name), name, "Boolean"); }
  std::string_view Text(const char* name) const { return Set(OptionalText(name), name, "Text"); }
  View<const double> List(const char* name) const { return Set(OptionalList(name), name, "List"); }

  // Throws Unsupported unless the attribute has this value: Require("offset", 0).
  void Require(const char* name, double value) const {
    if (OptionalNumber(name) == value) return;
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    Refuse(name, text);
  }
  void Require(const char* name, int value) const { Require(name, static_cast<double>(value)); }
  void Require(const char* name, bool value) const {
    if (OptionalBoolean(name) != value) Refuse(name, value ? "true" : "false");
  }
  void Require(const char* name, const char* value) const {
    if (OptionalText(name) != value) Refuse(name, value);
  }
  // Throws Unsupported if the attribute is set.
  void RequireUnset(const char* name) const {
    if (question_->type(question_, name) != SEXTANT_NOT_SET) Refuse(name, "(unset)");
  }

  // True if the elements of the input are T.
  template <class T>
  bool Has(const char* input) const {
    return Holds<T>(Found(question_->input(question_, input), input));
  }
  // Throws Unsupported if the elements are not T.
  template <class T>
  Tensor<const T> Input(const char* name) const {
    return Typed<const T>(question_->input(question_, name), name);
  }
  // Nothing if the case does not have this optional input.
  template <class T>
  std::optional<Tensor<const T>> OptionalInput(const char* name) const {
    const DLTensor* input = question_->input(question_, name);
    return input ? std::optional(Typed<const T>(input, name)) : std::nullopt;
  }
  // Write every element.
  template <class T>
  Tensor<T> Output(const char* name) const {
    return Typed<T>(question_->output(question_, name), name);
  }
  // Only if you compute it.
  template <class T>
  Tensor<T> OptionalOutput(const char* name) const {
    const Tensor<T> output = Output<T>(name);
    question_->answered(question_, name);
    return output;
  }

 private:
  static bool IsSet(int found, const char* name) {
    if (found == SEXTANT_WRONG) throw Error("attribute " + std::string(name));
    return found == SEXTANT_SET;
  }
  template <class Value, class Getter>
  std::optional<Value> Get(Getter getter, const char* name) const {
    Value value{};
    if (!IsSet(getter(question_, name, &value), name)) return std::nullopt;
    return value;
  }
  template <class Value>
  static Value Set(const std::optional<Value>& value, const char* name, const char* getter) {
    if (!value) {
      throw Error("attribute " + std::string(name) +
                  " is not set in this case: read it with Optional" + getter +
                  ", which then returns no value");
    }
    return *value;
  }
  static const DLTensor& Found(const DLTensor* tensor, const char* name) {
    if (!tensor) throw Error("tensor " + std::string(name));
    return *tensor;
  }
  template <class T>
  static Tensor<T> Typed(const DLTensor* tensor, const char* name) {
    if (!Holds<T>(Found(tensor, name)))
      throw Unsupported("does not support the element type of " + std::string(name));
    return Tensor<T>(*tensor);
  }
  [[noreturn]] static void Refuse(const char* name, const std::string& supported) {
    throw Unsupported("supports only " + std::string(name) + "=" + supported);
  }

  const SextantQuestion* question_;
};

// A subject whose answers are computed by the function `answer`:
//   const SextantSubject* sextant_subject(uint32_t abi) {
//     static const sextant::cpp::Subject<Answer> subject("my kernels", "1", "native", {"rope"});
//     return subject.For(abi);
//   }
template <void (*answer)(const Question&)>
class Subject {
 public:
  // The texts must live as long as the library: literals. `bitwise`: promises (sextant_subject.h).
  Subject(const char* name, const char* version, const char* recipe,
          std::initializer_list<const char*> operations,
          std::initializer_list<const char*> bitwise = {})
      : operations_(operations), bitwise_(bitwise) {
    operations_.push_back(nullptr);
    bitwise_.push_back(nullptr);
    subject_ = {sizeof(SextantSubject), name,   version,        recipe,
                operations_.data(),     Answer, bitwise_.data()};
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const SextantSubject* For(uint32_t abi) const {
    return abi == SEXTANT_SUBJECT_ABI ? &subject_ : nullptr;
  }

 private:
  static int Answer(const SextantQuestion* question) {
    try {
      answer(Question(question));
      return SEXTANT_ANSWER_OK;
    } catch (const Unsupported& e) {
      return question->fail(question, SEXTANT_ANSWER_UNSUPPORTED, e.what());
    } catch (const std::exception& e) {
      return question->fail(question, SEXTANT_ANSWER_ERROR, e.what());
    }
  }

  std::vector<const char*> operations_, bitwise_;
  SextantSubject subject_{};
};

}  // namespace sextant::cpp
