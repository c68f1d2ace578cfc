// Sextant for C++17 and later, header only: the functions of libsextant.so (sextant.h) with
// exceptions and owned results, and the subjects of sextant_subject.hpp.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sextant.h"
#include "sextant_subject.hpp"

namespace sextant::cpp {

// A tensor of the caller with its name in the signature: {"x", data, {B, H, S, D}}. Dense and
// row-major; for other layouts, fill in a DLTensor and a SextantTensor.
class NamedTensor {
 public:
  template <class T>
  NamedTensor(std::string name, T* data, std::vector<int64_t> shape)
      : name_(std::move(name)), shape_(std::move(shape)), tensor_{} {
    tensor_.data = const_cast<std::remove_const_t<T>*>(data);  // Sextant only reads
    tensor_.device = {kDLCPU, 0};
    tensor_.dtype = Element<std::remove_const_t<T>>::kType;
  }
  SextantTensor C() {
    tensor_.ndim = static_cast<int32_t>(shape_.size());
    tensor_.shape = shape_.data();
    return {name_.c_str(), &tensor_};
  }

 private:
  std::string name_;
  std::vector<int64_t> shape_;
  DLTensor tensor_;
};
using NamedTensors = std::vector<NamedTensor>;

struct Options {
  std::string recipe = "native";
  bool strict = false;
  int threads = 0;
  std::string keep{};            // a folder for the tensors of a failure
  uint64_t budget_elements = 0;  // about this many elements are judged at most; 0: all
  uint64_t budget_seed = 0;      // chooses them
  // Gets the finished part, 0 .. 1; false cancels. What it throws reaches the caller.
  std::function<bool(double)> progress{};
};

// A verdict, a golden, or inputs.
class Result {
 public:
  explicit Result(SextantResult* result) : result_(result) {}
  int status() const { return sextant_status(result_.get()); }  // 0: conforms
  std::string json() const { return sextant_json(result_.get()); }
  const SextantResult* c() const { return result_.get(); }
  // Valid as long as this object.
  SextantArray Array(const char* name) const {
    SextantArray array{};
    const int status = sextant_array(result_.get(), name, &array);
    if (status != SEXTANT_OK) throw Error(sextant_last_error());
    return array;
  }

 private:
  struct Free {
    void operator()(SextantResult* result) const { sextant_free(result); }
  };
  std::unique_ptr<SextantResult, Free> result_;
};

namespace internal {

// Calls a function of sextant.h with tensors and options.
template <class Function>
Result Call(Function function, const std::string& question, NamedTensors tensors,
            const Options& options) {
  struct Progress {
    const std::function<bool(double)>& function;
    std::exception_ptr thrown;
  } progress{options.progress, nullptr};
  SextantOptions c{};
  c.struct_size = sizeof c;
  c.recipe = options.recipe.c_str();
  c.strict = options.strict;
  c.threads = options.threads;
  c.user = &progress;
  c.keep = options.keep.empty() ? nullptr : options.keep.c_str();
  c.budget_elements = options.budget_elements;
  c.budget_seed = options.budget_seed;
  if (options.progress) {
    c.progress = [](double done, void* user) {
      auto* given = static_cast<Progress*>(user);
      try {
        return given->function(done) ? 0 : 1;
      } catch (...) {
        given->thrown = std::current_exception();
        return 1;
      }
    };
  }
  std::vector<SextantTensor> all;
  for (NamedTensor& tensor : tensors) all.push_back(tensor.C());
  SextantResult* result = nullptr;
  const int status = function(question.c_str(), all.data(), all.size(), &c, &result);
  if (progress.thrown) std::rethrow_exception(progress.thrown);
  if (status != SEXTANT_OK) throw Error(sextant_last_error());
  return Result(result);
}

}  // namespace internal

// sextant_judge, sextant_prove and sextant_draw of sextant.h. They throw Error.
inline Result Judge(const std::string& question, NamedTensors tensors,
                    const Options& options = {}) {
  return internal::Call(sextant_judge, question, std::move(tensors), options);
}
inline Result Prove(const std::string& question, NamedTensors inputs, const Options& options = {}) {
  return internal::Call(sextant_prove, question, std::move(inputs), options);
}
inline Result Draw(const std::string& case_line) {
  SextantResult* result = nullptr;
  const int status = sextant_draw(case_line.c_str(), &result);
  if (status != SEXTANT_OK) throw Error(sextant_last_error());
  return Result(result);
}

}  // namespace sextant::cpp
