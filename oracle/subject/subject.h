// Subjects: whatever answers a case. The judge treats them alike.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "reference/case/case.h"
#include "reference/number/tensor.h"

namespace sextant::oracle {

struct Answer {
  enum class Status {
    kAnswered,
    kUnsupported,  // the subject says that it cannot do this case
    kFailed        // it could not be run: crash, time limit, bad protocol
  };
  Status status = Status::kAnswered;
  std::string message;  // why not
  Tensors outputs;      // those of the case's signature; optional ones may be missing
};

struct Subject {
  std::string name;    // as on the command line: "fast", "exec:./mine"
  std::string recipe;  // how it claims to compute: a standard recipe's name or a line
  std::function<Answer(const Case&, const Tensors& inputs)> answer;
  // After the last case: empty, or what was wrong with how it left. Not set: nothing to leave.
  std::function<std::string()> leave = nullptr;
};

// An implementation that follows a recipe to the letter (number type Rounded).
Subject RecipeSubject(const std::string& recipe);

// What is wrong with the shapes, dtypes or names of an answer; empty if nothing.
std::string Misfit(const Case& c, const Tensors& outputs);

}  // namespace sextant::oracle
