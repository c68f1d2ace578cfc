// A subject: the implementation under test. The judge treats all subjects alike.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference/base/error.h"
#include "reference/case/case.h"
#include "reference/number/tensor/stored_tensor.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

struct Answer {
  enum class Status {
    kAnswered,
    kUnsupported,  // the subject declined the case
    kFailed        // the subject could not be run: crash, time limit, protocol error
  };
  Status status = Status::kAnswered;
  std::string message;  // the reason, if not answered
  Tensors outputs;      // the outputs of the signature; optional ones may be missing
};

// An answer cannot be judged: its numbers are not those of its dtypes, or are to another question.
class InvalidAnswer : public Error {
  using Error::Error;
};

// The outputs of an answer, wherever they are.
using OutputSources = std::vector<std::shared_ptr<const TensorSource>>;

// The memory of a question that a program of others gets without the seed and the distributions of
// its inputs.
struct MemoryPlacement {
  // Inputs and outputs are in the memory of those of the last question, if they have its sizes;
  // else in memory that it did not have.
  bool in_same_memory = false;
  unsigned char fill = 0xFF;  // each byte of an output before the answer, where the subject gets it
};

struct Subject {
  std::string name;    // as on the command line: "fast", "exec:./mine"
  std::string recipe;  // how it claims to round: a standard recipe's name or a recipe line
  std::function<Answer(const Case&, const Tensors& inputs)> answer;
  // Ends its process, after the last case or before a question that a new one answers; returns an
  // error or an empty text. Null: it has no process of its own.
  std::function<std::string()> close = nullptr;
  // A defect: the only operation in which the subject may be wrong. Empty: any.
  std::string defective_operation = {};
  // A program of others: the same question may get another answer (threads that race).
  bool may_vary = false;
  // The same answer, from and in tensors that need less memory. Empty if there is none to the case.
  std::function<std::optional<StoredTensors>(const Case&, const StoredTensors& inputs)>
      answer_stored = nullptr;
  // The answer in a file, of which parts are read. Empty if there is none to the case. This and
  // reading it throw InvalidAnswer.
  std::function<std::optional<OutputSources>(const Case&, const TensorReaders& inputs)>
      answer_in_file = nullptr;
  // In memory of that placement. Null: a subject in this program.
  std::function<Answer(const Case&, const Tensors& inputs, const MemoryPlacement&)> answer_placed =
      nullptr;
  std::vector<std::string> bitwise = {};  // what it promises (promises.h)
};

// The reference implementation, with every operation rounded as the recipe says (number type
// Rounded).
Subject RecipeSubject(const std::string& recipe);

// The first missing output, wrong shape or wrong dtype of an answer as a message; else empty.
std::string DescribeMismatch(const Case& c, const Tensors& outputs);

}  // namespace sextant::oracle
