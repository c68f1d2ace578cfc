// Parts of cases of attention, and what their queries see: what its properties are made of.
#pragma once

#include <string>
#include <vector>

#include "oracle/attention/attention_properties.h"
#include "oracle/property/common_properties.h"
#include "oracle/property/property.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

inline constexpr size_t kAttended = 0, kLse = 1;  // the outputs y and lse

// The extents of a case, and which key row a query row reads.
struct AttentionSizes {
  explicit AttentionSizes(const Case& c)
      : B(ExtentOf(c, "B")),
        H(ExtentOf(c, "H")),
        K(ExtentOf(c, "K")),
        S(ExtentOf(c, "S")),
        T(ExtentOf(c, "T")),
        E(ExtentOf(c, "E")) {}
  size_t B, H, K, S, T, E;
  size_t rows() const { return B * H * S; }
  size_t KeyRow(size_t row) const { return (row / (H * S) * K + row / S % H / (H / K)) * T; }
};

// The keys that query row i sees.
class SeenKeys {
 public:
  explicit SeenKeys(const Case& c) : op_(AttentionOf(c)), sizes_(c) {}
  KeyRange operator()(size_t row) const {
    return op_.KeysOf(row / (sizes_.H * sizes_.S), row % sizes_.S);
  }

 private:
  AttentionAttributes op_;
  AttentionSizes sizes_;
};

inline bool IsSet(const Case& c, const std::string& attribute) {
  return !TextOf(c, attribute).empty();
}

// The case with the extents and the parts of its tensors that `slice` names, and other words.
struct PartOfCase {
  Case c;
  Tensors inputs;
};
PartOfCase PartOf(const Case& c, const Tensors& inputs, const Slice& slice,
                  const std::vector<std::string>& words = {});

// What an answer to the part says of queries that see a key is what the whole says at the slice.
void SameAt(const Case& c, const Response& whole, const Slice& slice, const Response& part,
            Findings& findings);

void SameSeen(const Case& c, const Response& a, const Response& b, Findings& findings);

// Properties about parts of a case: segments, caches, heads, batches, keys in two parts.
std::vector<Property> AttentionPartProperties();
Property AttentionPartsMerge();

}  // namespace sextant::oracle
