// Steps and recipes. A recipe gives the format in which an implementation computes each step of a
// formula.
//
// A formula marks its steps: { const ScopedStep at(Step::kAngle); angle = position * frequency; }
// A recipe is a line:  *=f32 frequency=f32:exp_log table=T rotate=T      (T = the tensor's dtype)
//   step=format[:form][/ulps]   format: f64 f32 f16 bf16, T, or exact; of dot also tf32
// Every operation inside a step first converts its operands to the step's format, then rounds its
// result to that format. With dot=tf32 that format is f32, but the factors have fewer bits. `store`
// is the last rounding. With the word `flush` subnormal numbers may count as 0. `ulps` is the
// claimed accuracy of the step's elementary functions (cos, exp, pow
// ...), in ulps of its format; the default is 1.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number/tensor/dtype.h"

namespace sextant {

enum class Step {
  kExponent,    // 2k / R
  kFrequency,   // base^-(2k/R), and its scaling
  kAngle,       // position * frequency
  kTrig,        // cos and sin of the angle, times the attention factor
  kFactor,      // a factor that depends on a position: decay, temperature
  kTable,       // cos, sin and factors as stored in a table
  kRotate,      // x cos - y sin
  kSquare,      // x^2
  kSum,         // the sum over a row
  kRsqrt,       // division by the count, + eps, square root
  kCenter,      // the mean of a row, and x minus the mean
  kScale,       // x / root; a score times its scale
  kWeigh,       // times a weight or a factor; softmax weights and the weighted mean, as stored
  kDot,         // the products and the sum of a dot product
  kScore,       // a score of a query and a key, as stored before and after scaling
  kCap,         // cap tanh(score / cap)
  kSoftmax,     // e^(score - largest score) divided by their sum
  kSlope,       // 2^-(b k/n), the slope of a linear bias
  kDistance,    // the difference of two positions
  kBias,        // slope * distance; adding a bias
  kActivation,  // a sigmoid, tanh or erf, and the rest of the activation
  kQuantize,    // the scale of a block, and its numbers divided by it
  kGate,        // the activated gate, as stored, times the other half
  kKeep,        // intermediates of composite operations, as stored, and their sums
  kStore,       // the last rounding of an output
};
inline constexpr std::array<std::string_view, 25> kStepNames = {
    "exponent", "frequency", "angle",   "trig",   "factor",   "table", "rotate",
    "square",   "sum",       "rsqrt",   "center", "scale",    "weigh", "dot",
    "score",    "cap",       "softmax", "slope",  "distance", "bias",  "activation",
    "quantize", "gate",      "keep",    "store"};
constexpr std::array<std::string_view, 25> NamesOf(Step) { return kStepNames; }

// The method by which a step is computed, if the accuracy depends on it.
enum class Form {
  kDefault,      // frequency, slope: pow; sum, dot, softmax: any order; activation: erf;
                 // quantize: any of its three; scale, of blocks: either
  kPow,          // 1 / pow(base, 2k/R)
  kExpLog,       // exp(-2k * (ln(base) / R))
  kPowerChain,   // pow(pow(base, 2/R), -k), the inner power rounded
  kIterated,     // the previous frequency times pow(base, -2/R)
  kAny,          // a sum in any order
  kSequential,   // left to right
  kPairwise,     // by halves
  kTensorCore,   // exact products; four at a time are aligned with the sum so far and cut off
  kErf,          // 1 + erf(x / sqrt 2): its absolute error is that of numbers near 1
  kErfc,         // erfc(-x / sqrt 2)
  kErfAbsolute,  // as erf, with an absolute error of erf: Abramowitz and Stegun 7.1.26 and similar
  kCudaIntrinsic,  // __cosf and __sinf
  kDivide,         // x / scale
  kReciprocal,     // x * (1 / scale)
  kInverse,        // x * (limit / amax)
  kBlocks,         // the sum of the products of a block by its scales
  kOperands,       // the operands of the products by their scales
};
inline constexpr std::array<std::string_view, 18> kFormNames = {
    "default",        "pow",      "exp_log",     "power_chain", "iterated", "any",
    "sequential",     "pairwise", "tensor_core", "erf",         "erfc",     "erf_absolute",
    "cuda_intrinsic", "divide",   "reciprocal",  "inverse",     "blocks",   "operands"};
constexpr std::array<std::string_view, 18> NamesOf(Form) { return kFormNames; }

// How a dot product in f32 reads its factors (reference/number/recipe/tf32.h).
enum class Factors { kWhole, kTf32, kTf32Truncated };
inline constexpr std::array<std::string_view, 3> kFactorsNames = {"f32", "tf32", "tf32_truncated"};
constexpr std::array<std::string_view, 3> NamesOf(Factors) { return kFactorsNames; }

struct StepRule {
  bool exact = false;      // exact real arithmetic
  bool of_tensor = false;  // T: the dtype of the case (for store: of the output)
  DType format = DType::kF32;
  Form form = Form::kDefault;
  double ulps = 1;
  bool flushes = false;  // subnormal operands and results may count as 0
  Factors factors = Factors::kWhole;
  bool operator==(const StepRule&) const = default;
};

// The rule as a recipe says it, "tf32:tensor_core".
std::string TextOf(const StepRule& rule);

struct Recipe {
  std::string name;  // the text of the recipe
  std::array<StepRule, kStepNames.size()> steps;
};

// Parses the name of a standard recipe, a line, or both ("native store=bf16"). `dtype` is the dtype
// of the case: standard recipes depend on it. Throws Error with the steps, formats and forms that
// exist.
Recipe ParseRecipe(std::string_view text, DType dtype);

// Name and meaning of the standard recipes.
struct StandardRecipe {
  std::string_view name;
  std::string_view line;     // for f32 and f64
  std::string_view line_16;  // for f16 and bf16
  std::string_view meaning;
};
std::vector<StandardRecipe> StandardRecipes();

}  // namespace sextant
