// Sextant for C++17 and later, header only: the functions of libsextant.so (sextant.h) with
// exceptions and owned results, and the subjects of sextant_subject.hpp.
#pragma once

#include <deque>
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
  std::string recipe{};  // empty: "native", or what an implementation declares
  bool strict = false;
  int threads = 0;
  std::string keep{};            // a folder for the tensors of a failure
  uint64_t budget_elements = 0;  // about this many elements are judged at most; 0: all
  uint64_t budget_seed = 0;      // chooses them
  // Gets the finished part, 0 .. 1; false cancels. What it throws reaches the caller.
  std::function<bool(double)> progress{};
};

// A verdict, a golden, inputs, what was identified, or a profile.
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

// An implementation that can be asked: a function, which may throw Unsupported; what else it throws
// ends the call and reaches its caller. Without a function, a name such as "recipe:native".
struct Implementation {
  std::string name;
  std::function<void(const Question&)> answer{};
  std::string recipe{};  // how it computes; empty: "native", or that of the name
};

struct IdentifyOptions {
  std::string against{}, part{}, layer{};  // a config.json, and what in it; empty: none
};

struct ProfileOptions {
  std::string by{};         // groups of elements; empty: the usual ones
  double below = 0;         // ulps, for the cheapest recipe; 0: is not looked for
  uint64_t worst = 0;       // more questions, in search of the largest errors
  uint64_t worst_seed = 1;  // of that search
};

namespace internal {

inline const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// The options of C. What a function of the caller throws is kept.
class Call {
 public:
  explicit Call(const Options& options) : progress_(options.progress) {
    c_.struct_size = sizeof c_;
    c_.recipe = OrNull(options.recipe);
    c_.strict = options.strict;
    c_.threads = options.threads;
    c_.user = this;
    c_.keep = OrNull(options.keep);
    c_.budget_elements = options.budget_elements;
    c_.budget_seed = options.budget_seed;
    if (progress_) c_.progress = Progress;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const SextantOptions* options() const { return &c_; }

  SextantImplementation C(const Implementation& given) {
    answers_.push_back({&given.answer, this});
    return {sizeof(SextantImplementation), given.name.c_str(), OrNull(given.recipe),
            given.answer ? Answer : nullptr, &answers_.back()};
  }

  // The result of a call that returned `status`.
  Result Checked(int status, SextantResult* result) const {
    Result owned(result);
    if (thrown_) std::rethrow_exception(thrown_);
    if (status != SEXTANT_OK) throw Error(sextant_last_error());
    return owned;
  }

 private:
  struct Asked {
    const std::function<void(const Question&)>* answer;
    Call* call;
  };
  static int Progress(double done, void* user) {
    Call& call = *static_cast<Call*>(user);
    try {
      return call.progress_(done) ? 0 : 1;
    } catch (...) {
      call.thrown_ = std::current_exception();
      return 1;
    }
  }
  static int Answer(const SextantQuestion* question, void* user) {
    const Asked& asked = *static_cast<Asked*>(user);
    try {
      (*asked.answer)(Question(question));
      return SEXTANT_ANSWER_OK;
    } catch (const Unsupported& e) {
      return question->fail(question, SEXTANT_ANSWER_UNSUPPORTED, e.what());
    } catch (...) {
      asked.call->thrown_ = std::current_exception();
      return question->fail(question, SEXTANT_ANSWER_ERROR, "an exception");
    }
  }

  const std::function<bool(double)>& progress_;
  SextantOptions c_{};
  std::deque<Asked> answers_;
  std::exception_ptr thrown_;
};

// Calls a function of sextant.h with tensors and options.
template <class Function>
Result CallWithTensors(Function function, const std::string& question, NamedTensors tensors,
                       const Options& options) {
  Call call(options);
  std::vector<SextantTensor> all;
  for (NamedTensor& tensor : tensors) all.push_back(tensor.C());
  SextantResult* result = nullptr;
  const int status = function(question.c_str(), all.data(), all.size(), call.options(), &result);
  return call.Checked(status, result);
}

}  // namespace internal

// The functions of sextant.h. They throw Error.
inline Result Judge(const std::string& question, NamedTensors tensors,
                    const Options& options = {}) {
  return internal::CallWithTensors(sextant_judge, question, std::move(tensors), options);
}
inline Result Prove(const std::string& question, NamedTensors inputs, const Options& options = {}) {
  return internal::CallWithTensors(sextant_prove, question, std::move(inputs), options);
}
inline Result GradeTolerance(const std::string& question, NamedTensors inputs, double atol,
                             double rtol, const Options& options = {}) {
  const auto grade = [&](const char* asked, const SextantTensor* tensors, size_t count,
                         const SextantOptions* given, SextantResult** result) {
    return sextant_tolerance(asked, tensors, count, atol, rtol, given, result);
  };
  return internal::CallWithTensors(grade, question, std::move(inputs), options);
}
inline Result Draw(const std::string& case_line) {
  SextantResult* result = nullptr;
  const int status = sextant_draw(case_line.c_str(), &result);
  if (status != SEXTANT_OK) throw Error(sextant_last_error());
  return Result(result);
}

inline Result Identify(const std::string& question, const Implementation& implementation,
                       const IdentifyOptions& how = {}, const Options& options = {}) {
  internal::Call call(options);
  const SextantImplementation asked = call.C(implementation);
  const SextantIdentifyOptions c{sizeof c, internal::OrNull(how.against),
                                 internal::OrNull(how.part), internal::OrNull(how.layer)};
  SextantResult* result = nullptr;
  const int status = sextant_identify(question.c_str(), &asked, &c, call.options(), &result);
  return call.Checked(status, result);
}
inline Result Profile(const std::string& cases, const std::vector<Implementation>& implementations,
                      const ProfileOptions& how = {}, const Options& options = {}) {
  internal::Call call(options);
  std::vector<SextantImplementation> asked;
  for (const Implementation& implementation : implementations)
    asked.push_back(call.C(implementation));
  const SextantProfileOptions c{sizeof c, internal::OrNull(how.by), how.below, how.worst,
                                how.worst_seed};
  SextantResult* result = nullptr;
  const int status =
      sextant_profile(cases.c_str(), asked.data(), asked.size(), &c, call.options(), &result);
  return call.Checked(status, result);
}

}  // namespace sextant::cpp
