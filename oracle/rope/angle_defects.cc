#include "oracle/rope/angle_defects.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "oracle/defect/input_defects.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

// The change of one position; `index` counts along the sequence.
using Change = double (*)(double position, size_t index);

struct PositionMutation {
  std::string_view name, why;
  Change change;
};

Defect PositionDefect(const std::string& input, const PositionMutation& mutation) {
  const auto apply = [input, change = mutation.change](const Case&, Tensors& inputs) {
    Tensor<double>& position = InputNamed(inputs, input);
    const Tensor<double> before = position;
    const size_t length = std::max<size_t>(1, position.shape.back());
    for (size_t i = 0; i < position.data.size(); ++i) {
      position.data[i] = change(position.data[i], i % length);
    }
    return position.data != before.data;
  };
  return ChangedInputs(std::string(mutation.name), std::string(mutation.why), apply);
}

// Rows of the tables in the defects below; any fixed number is wrong.
constexpr double kTableLength = 4096;

constexpr PositionMutation kPositionMutations[] = {
    {"position_off_by_one",
     "the sequence length after appending is used as the position "
     "(fla-org/flash-linear-attention#766)",
     [](double p, size_t) { return p + 1; }},
    {"position_zero", "every token is at position 0 (Blaizzy/mlx-vlm#1983)",
     [](double, size_t) { return 0.0; }},
    {"positions_counted_from_zero",
     "positions are counted 0, 1, 2 ...; the given ones are ignored (NVIDIA/Megatron-LM#453)",
     [](double, size_t i) { return static_cast<double>(i); }},
    {"positions_in_bf16",
     "positions are rounded to bf16, which is exact only up to 256 (huggingface/candle#3515)",
     [](double p, size_t) { return RoundTo(DType::kBF16, p); }},
    {"positions_in_f16",
     "positions are rounded to f16, which is exact only up to 2048 (EleutherAI/gpt-neox#1016)",
     [](double p, size_t) { return std::clamp(RoundTo(DType::kF16, p), -65504.0, 65504.0); }},
    {"positions_in_f32", "positions are rounded to f32, which is exact only up to 2^24",
     [](double p, size_t) { return RoundTo(DType::kF32, p); }},
    {"positions_in_16_bits", "positions wrap around at 2^16",
     [](double p, size_t) { return p - std::floor(p / 0x1p16) * 0x1p16; }},
    {"negative_position_wraps",
     "a negative position is an index from the end of the table "
     "(fla-org/flash-linear-attention#902)",
     [](double p, size_t) { return p < 0 ? p + kTableLength : p; }},
    {"negative_position_clamped", "a negative position is replaced by 0",
     [](double p, size_t) { return std::max(p, 0.0); }},
    {"table_too_short",
     "positions beyond the end of the table read its last row (PaddlePaddle/FastDeploy#8012)",
     [](double p, size_t) { return std::min(p, kTableLength - 1); }},
    {"table_wraps", "positions beyond the end of the table start again at its first row",
     [](double p, size_t) { return p < 0 ? p : std::fmod(p, kTableLength); }},
};

struct Precision {
  std::string_view steps, name, why;
};
constexpr Precision kPrecisions[] = {
    {"angle=bf16", "angle_in_bf16",
     "autocast multiplies position and frequency in bf16 (huggingface/transformers#29285)"},
    {"angle=f16", "angle_in_f16", "position and frequency are multiplied in f16"},
    {"angle=f32", "angle_in_f32",
     "position and frequency are multiplied in f32 where f64 is required"},
    {"exponent=T frequency=T angle=T trig=T", "all_in_the_dtype",
     "a fallback computes everything in the dtype of x, even angles in 16 bits "
     "(ml-explore/mlx@f46877bc0)"},
    {"table=bf16", "table_in_bf16",
     "the table of cos and sin is stored in bf16 for every dtype (huggingface/transformers#25681)"},
    {"table=f16", "table_in_f16",
     "the table of cos and sin is stored in f16 for every dtype (vllm-project/vllm#1004)"},
    {"frequency=f32:iterated", "frequencies_iterated",
     "each frequency is computed from the previous one (flashinfer-ai/flashinfer@4af30c2b4)"},
    {"frequency=f32:exp_log", "frequencies_by_exp_log",
     "frequencies are exp(-2k ln(base)/R), which is less accurate in f32 than powers"},
    {"frequency=f32:power_chain", "frequencies_by_power_chain",
     "frequencies are powers of the rounded number base^(2/R)"},
    {"rotate=bf16", "rotation_in_bf16", "the rotation is computed in bf16 for every dtype"},
    {"rotate=f16", "rotation_in_f16", "the rotation is computed in f16 for every dtype"},
};

}  // namespace

std::vector<Defect> PositionDefects(const std::string& input) {
  std::vector<Defect> defects;
  for (const PositionMutation& mutation : kPositionMutations) {
    defects.push_back(PositionDefect(input, mutation));
  }
  return defects;
}

std::vector<Defect> PrecisionDefects(std::string_view steps) {
  std::vector<Defect> defects;
  for (const Precision& p : kPrecisions) {
    std::istringstream words{std::string(p.steps)};
    std::string recipe;  // the words for steps that the operation has
    for (std::string word; words >> word;) {
      std::istringstream known{std::string(steps)};
      for (std::string step; known >> step;) {
        if (word.starts_with(step + "=")) recipe += (recipe.empty() ? "" : " ") + word;
      }
    }
    if (recipe.empty()) continue;
    defects.push_back(ChangedRecipe(std::string(p.name), std::string(p.why), recipe));
  }
  return defects;
}

std::vector<Defect> GivenFrequencyDefects() {
  return {
      RoundedInput("frequencies_in_bf16",
                   "casting the module to bf16 also casts its frequencies "
                   "(huggingface/transformers#29496)",
                   "inv_freq", DType::kBF16),
      RoundedInput(
          "frequencies_in_f16",
          "casting the module to f16 also casts its frequencies (sgl-project/sglang-jax#1472)",
          "inv_freq", DType::kF16),
      RoundedInput("frequencies_in_f32", "frequencies are stored in f32 where f64 is required",
                   "inv_freq", DType::kF32),
      ChangedInput("periods_for_frequencies", "the given frequencies are used as periods",
                   "inv_freq",
                   [](Tensor<double>& frequencies) {
                     for (double& f : frequencies.data) f = 1 / f;
                   }),
  };
}

}  // namespace sextant::oracle
