#include "oracle/block/measured/stage_question.h"

#include <algorithm>

#include "oracle/property/changed_inputs.h"
#include "reference/prove/block_parts.h"

namespace sextant::oracle {
namespace {

// Tensors of the whole that are tensors of the stage: their names there, as in ParseQuestion.
using Renamed = std::vector<std::pair<std::string, std::string>>;

class Stages {
 public:
  explicit Stages(const Observation& seen) : seen_(seen) {}

  std::optional<Question> Of(const std::string& output) const {
    const std::string& whole = seen_.c.name();
    const bool has_norm = TextOf(seen_.c, "placement") != "branch";
    if (whole.starts_with("decoder_block") && output == "normed" && has_norm) {
      return Asked("rms_norm", {"eps", "unit_offset"}, {{"x", "x"}, {"attn_norm", "weight"}},
                   TensorOf(output));
    }
    if (whole != "cross_attention") return std::nullopt;
    if (output == "mean") return Attention();
    if (output == "y")
      return Asked("linear", {}, {{"mean", "x"}, {"wo", "weight"}, {"bo", "bias"}},
                   TensorOf(output));
    return Projection(output);
  }

 private:
  // mean [S,H*D] is y without a batch.
  std::optional<Question> Attention() const {
    NamedTensor y = *TensorOf("mean");
    y.values = SplitHeads(y.values, ExtentOf(seen_.c, "H"));
    y.values.shape.erase(y.values.shape.begin());
    return Asked("attention align=top_left", {"scale", "soft_cap", "key_length", "empty_rows"},
                 {{"q", "q (H S D)"}, {"k", "k (K T D)"}, {"v", "v (K T E)"}}, &y, "y (H S E)");
  }
  // Queries, keys or values [heads,rows,D], projected from x or memory.
  std::optional<Question> Projection(const std::string& output) const {
    NamedTensor y = *TensorOf(output);
    y.values.shape.insert(y.values.shape.begin(), 1);
    y.values = MergeHeads(y.values);
    return Asked(
        "linear", {},
        {{output == "q" ? "x" : "memory", "x"}, {"w" + output, "weight"}, {"b" + output, "bias"}},
        &y);
  }

  // An input, or an output that was answered; null if it is neither.
  const NamedTensor* TensorOf(const std::string& name) const {
    for (const Tensors* all : {&seen_.inputs, &seen_.answer}) {
      const auto at = std::ranges::find(*all, name, &NamedTensor::name);
      if (at != all->end()) return &*at;
    }
    return nullptr;
  }
  static OwnTensor Given(const std::string& name, const NamedTensor& tensor) {
    const Shape& shape = tensor.values.shape;
    return {name,
            {tensor.values.data.data(), ElementType::kF64, shape, RowMajorStrides(shape)},
            tensor.dtype};
  }
  // The question in `words`, with these attributes of the whole.
  std::optional<Question> Asked(std::string words, const std::vector<std::string>& attributes,
                                const Renamed& inputs, const NamedTensor* answer,
                                const std::string& output = "y") const {
    std::vector<OwnTensor> tensors = {Given(output, *answer)};
    for (const auto& [from, name] : inputs) {
      const NamedTensor* const tensor = TensorOf(from);
      if (!tensor) return std::nullopt;
      tensors.push_back(Given(name, *tensor));
    }
    for (const std::string& attribute : attributes) {
      if (const std::string text = TextOf(seen_.c, attribute); !text.empty())
        words += " " + attribute + "=" + text;
    }
    return ParseQuestion(words, tensors);
  }

  const Observation& seen_;
};

}  // namespace

std::optional<Question> StageQuestionOf(const Observation& seen, const std::string& output) {
  return Stages(seen).Of(output);
}

}  // namespace sextant::oracle
