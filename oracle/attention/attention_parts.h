// Parts of attention cases, and the keys that their queries see, for properties.
#pragma once

#include <string>
#include <vector>

#include "oracle/attention/attention_properties.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

inline constexpr size_t kAttended = 0, kLse = 1;  // the outputs y and lse

// The extents of a case, and the first key row that a query row reads.
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

// The keys that a query row sees.
class VisibleKeys {
 public:
  explicit VisibleKeys(const Case& c) : op_(AttentionOf(c)), sizes_(c) {}
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

// The part of a case that `slice` selects: its extents and inputs, with further words changed.
struct PartOfCase {
  Case c;
  Tensors inputs;
};
PartOfCase PartOf(const Case& c, const Tensors& inputs, const Slice& slice,
                  const std::vector<std::string>& words = {});

// Compares the answer for a part with the same slice of the answer for the whole, for queries that
// see a key. ExpectEqualVisible compares two whole answers.
void ExpectEqualSlice(const Case& c, const Response& whole, const Slice& slice,
                      const Response& part, Comparisons& comparisons);

void ExpectEqualVisible(const Case& c, const Response& a, const Response& b,
                        Comparisons& comparisons);

// Properties of parts of a case: segments, caches, heads and batches; and keys in two parts.
std::vector<Property> AttentionPartProperties();

}  // namespace sextant::oracle
