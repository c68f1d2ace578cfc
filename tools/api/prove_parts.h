// Proves cases part by part, in bounded memory, and writes them.
#pragma once

#include <functional>
#include <optional>

#include "fixtures/store/writer.h"
#include "reference/prove/part.h"
#include "tools/api/proof_count.h"

namespace sextant::tools {

// Output elements that are proven and written at once, in about so many MiB of memory; 0: in 512.
size_t ElementsIn(double mebibytes);

// The parts of a case, or of a slice of it, as they fit into memory.
class PartByPart {
 public:
  explicit PartByPart(const Case& c);
  const Case& c() const { return c_; }
  const DrawnInputs& inputs() const { return inputs_; }
  // Calls `take` with each part of a slice that has at most about `elements` output elements, and
  // about four times as many of the inputs that can be cut, in order, and with its inputs.
  using Take = std::function<void(const Slice& part, const InputsOfPart& inputs)>;
  void ForEach(const Slice& slice, size_t elements, const ProveOptions& options,
               const Take& take) const;

 private:
  const Case c_;
  const DrawnInputs inputs_;
};

// Proves the slice of a case by the recipe `native` and writes it as the next case of a file.
ProofCount WriteProven(const PartByPart& of_case, const Slice& slice, size_t elements,
                       const ProveOptions& options, fixtures::Writer& writer);

}  // namespace sextant::tools
