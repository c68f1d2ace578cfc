#include "oracle/rope/angle_defects.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "oracle/defect/input_defects.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

// The change of one position; `index` counts along the sequence.
using Change = double (*)(double position, size_t index);

struct PositionMutation {
  std::string_view name, why;
  Change change;
};

Defect Positions(const std::string& input, const PositionMutation& mutation) {
  const auto apply = [input, change = mutation.change](const Case&, Tensors& inputs) {
    Tensor<double>& position = In(inputs, input);
    const Tensor<double> before = position;
    const size_t length = std::max<size_t>(1, position.shape.back());
    for (size_t i = 0; i < position.data.size(); ++i) {
      position.data[i] = change(position.data[i], i % length);
    }
    return position.data != before.data;
  };
  return ChangedInputs(std::string(mutation.name), std::string(mutation.why), apply);
}

constexpr double kTableLength = 4096;  // of the tables in the bugs below; any length is wrong

constexpr PositionMutation kPositionMutations[] = {
    {"position_off_by_one",
     "the length after appending is taken for the position "
     "(fla-org/flash-linear-attention#766)",
     [](double p, size_t) { return p + 1; }},
    {"position_zero", "every token is at position 0 (Blaizzy/mlx-vlm#1983)",
     [](double, size_t) { return 0.0; }},
    {"positions_counted_from_zero",
     "0, 1, 2 ... whatever positions are given (NVIDIA/Megatron-LM#453)",
     [](double, size_t i) { return static_cast<double>(i); }},
    {"positions_in_bf16", "bf16 rounds positions beyond 256 (huggingface/candle#3515)",
     [](double p, size_t) { return RoundTo(DType::kBF16, p); }},
    {"positions_in_f16", "f16 rounds positions beyond 2048 (EleutherAI/gpt-neox#1016)",
     [](double p, size_t) { return std::clamp(RoundTo(DType::kF16, p), -65504.0, 65504.0); }},
    {"positions_in_f32", "f32 rounds positions beyond 2^24",
     [](double p, size_t) { return RoundTo(DType::kF32, p); }},
    {"positions_in_16_bits", "positions wrap at 2^16",
     [](double p, size_t) { return p - std::floor(p / 0x1p16) * 0x1p16; }},
    {"negative_position_wraps",
     "a negative position counts from the end of a table "
     "(fla-org/flash-linear-attention#902)",
     [](double p, size_t) { return p < 0 ? p + kTableLength : p; }},
    {"negative_position_clamped", "a negative position is taken for 0",
     [](double p, size_t) { return std::max(p, 0.0); }},
    {"table_too_short",
     "positions beyond the table read its last row (PaddlePaddle/FastDeploy#8012)",
     [](double p, size_t) { return std::min(p, kTableLength - 1); }},
    {"table_wraps", "positions beyond the table begin again",
     [](double p, size_t) { return p < 0 ? p : std::fmod(p, kTableLength); }},
};

struct Precision {
  std::string_view steps, name, why;
};
constexpr Precision kPrecisions[] = {
    {"angle=bf16", "angle_in_bf16",
     "autocast multiplies position and frequency in bf16 (huggingface/transformers#29285)"},
    {"angle=f16", "angle_in_f16", "position and frequency are multiplied in f16"},
    {"angle=f32", "angle_in_f32", "position and frequency are multiplied in f32 where f64 is due"},
    {"exponent=T frequency=T angle=T trig=T", "all_in_the_dtype",
     "a fallback computes everything in the dtype of x, 16-bit angles included "
     "(ml-explore/mlx@f46877bc0)"},
    {"table=bf16", "table_in_bf16",
     "the table of cos and sin is kept in bf16 whatever the dtype "
     "(huggingface/transformers#25681)"},
    {"table=f16", "table_in_f16",
     "the table of cos and sin is kept in f16 whatever the dtype (vllm-project/vllm#1004)"},
    {"frequency=f32:iterated", "frequencies_iterated",
     "each frequency is computed from the one before (flashinfer-ai/flashinfer@4af30c2b4)"},
    {"frequency=f32:exp_log", "frequencies_by_exp_log",
     "frequencies are exp(-2k ln(base)/R), less accurate than powers in f32"},
    {"frequency=f32:power_chain", "frequencies_by_power_chain",
     "frequencies are powers of a rounded base^(2/R)"},
    {"rotate=bf16", "rotation_in_bf16", "the rotation is computed in bf16 whatever the dtype"},
    {"rotate=f16", "rotation_in_f16", "the rotation is computed in f16 whatever the dtype"},
};

}  // namespace

std::vector<Defect> PositionDefects(const std::string& input) {
  std::vector<Defect> defects;
  for (const PositionMutation& mutation : kPositionMutations) {
    defects.push_back(Positions(input, mutation));
  }
  return defects;
}

std::vector<Defect> PrecisionDefects(std::string_view steps) {
  std::vector<Defect> defects;
  for (const Precision& p : kPrecisions) {
    std::istringstream words{std::string(p.steps)};
    std::string kept;
    for (std::string word; words >> word;) {
      std::istringstream own{std::string(steps)};
      for (std::string step; own >> step;) {
        if (word.starts_with(step + "=")) kept += (kept.empty() ? "" : " ") + word;
      }
    }
    if (kept.empty()) continue;
    defects.push_back(ChangedRecipe(std::string(p.name), std::string(p.why), kept));
  }
  return defects;
}

std::vector<Defect> GivenFrequencyDefects() {
  return {
      RoundedInput("frequencies_in_bf16",
                   "a cast of the module casts its frequencies too "
                   "(huggingface/transformers#29496)",
                   "inv_freq", DType::kBF16),
      RoundedInput("frequencies_in_f16",
                   "a cast of the module casts its frequencies too (sgl-project/sglang-jax#1472)",
                   "inv_freq", DType::kF16),
      RoundedInput("frequencies_in_f32", "frequencies are kept in f32 where f64 is due", "inv_freq",
                   DType::kF32),
      ChangedInput("periods_for_frequencies", "the frequencies are taken for periods", "inv_freq",
                   [](Tensor<double>& frequencies) {
                     for (double& f : frequencies.data) f = 1 / f;
                   }),
  };
}

}  // namespace sextant::oracle
