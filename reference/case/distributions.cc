#include "reference/case/distributions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "reference/base/error.h"
#include "reference/base/hash.h"
#include "reference/base/parallel.h"
#include "reference/base/splitmix64.h"
#include "reference/case/attribute.h"
#include "reference/case/normal_numbers.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {

// The random words of one element. `stream` is a hash of the seed and the name of the stream.
class RandomWords : public SplitMix64 {
 public:
  RandomWords(uint64_t stream, uint64_t index) : SplitMix64(Mix(stream + index)) {}
  // In [0, 1), a multiple of 2^-32.
  double Uniform() { return static_cast<double>(Bits() >> 32) * 0x1p-32; }
};

// The state from which one element is drawn.
struct DrawState {
  RandomWords words;
  DType dtype;
  size_t index;  // in the tensor
  size_t width;  // of the last axis
  std::span<const double> arguments;

  size_t Column() const { return index % width; }
  size_t Row() const { return index / width; }
  double Argument(size_t i, double otherwise) const {
    return i < arguments.size() ? arguments[i] : otherwise;
  }
};

namespace {

// The sum of 12 uniform numbers minus 6: exact, a multiple of 2^-32 below 16.
double Normal(DrawState& p) {
  uint64_t sum = 0;
  for (int i = 0; i < 12; ++i) sum += p.words.Bits() >> 32;
  return (static_cast<double>(sum) * 0x1p-32 - 6) * p.Argument(0, 1);
}

double Uniform(DrawState& p) {
  const double low = p.Argument(0, -1), high = p.Argument(1, 1);
  return low + (high - low) * p.words.Uniform();
}

double NearOne(DrawState& p) { return 0.5 + p.words.Uniform(); }

// Piecewise linear between powers of two, because power functions are not correctly rounded.
double Geometric(DrawState& p) {
  const size_t octaves = 13 * p.Column();
  const double fraction = static_cast<double>(octaves % p.width) / static_cast<double>(p.width);
  return std::ldexp(1 - fraction / 2, -static_cast<int>(octaves / p.width));
}

// (1 - t^2, 2t) / (1 + t^2) lies on the first quarter of the unit circle; a random multiple of 90
// degrees covers the whole circle.
std::pair<double, double> Circle(DrawState& p) {
  const double t = p.words.Uniform(), norm = 1 + t * t;
  const double c = (1 - t * t) / norm, s = 2 * t / norm;
  switch (p.words.Below(4)) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}
double CircleCos(DrawState& p) { return Circle(p).first; }
double CircleSin(DrawState& p) { return Circle(p).second; }

double OneHot(DrawState& p) { return p.Row() % p.width == p.Column() ? 1 : 0; }

double PowersOfTwo(DrawState& p) {
  const double sign = p.words.Below(2) ? 1 : -1;
  return std::ldexp(sign, static_cast<int>(p.words.Below(17)) - 8);
}

double Special(DrawState& p) {
  const double largest = MaxFinite(p.dtype), least = MinSubnormal(p.dtype);
  const double normal = MinNormal(p.dtype);
  const std::array<double, 16> values = {0,
                                         -0.0,
                                         1,
                                         -1,
                                         NextUp(p.dtype, 1),
                                         NextDown(p.dtype, 1),
                                         2,
                                         NextDown(p.dtype, 4),
                                         0.5,
                                         least,
                                         -least,
                                         normal,
                                         NextDown(p.dtype, normal),
                                         largest,
                                         -largest,
                                         3};
  return values[p.words.Below(values.size())];
}

double NonFinite(DrawState& p) {
  switch (p.words.Below(8)) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return kInfinity;
    case 2:
      return -kInfinity;
    default:
      return Normal(p);
  }
}

double Payloads(DrawState& p) {
  constexpr uint64_t kOnes = (uint64_t{1} << 51) - 1;
  const uint64_t payloads[] = {kOnes, 0, p.words.Bits() & kOnes};
  if (p.index % 4 == 3) return Normal(p);
  const uint64_t bits = std::bit_cast<uint64_t>(kNaN) | payloads[p.index % 4];
  return std::copysign(std::bit_cast<double>(bits), p.words.Below(2) ? 1.0 : -1.0);
}

double Masked(DrawState& p) { return p.words.Below(3) == 0 ? -kInfinity : Normal(p); }

double Sequence(DrawState& p) { return p.Argument(0, 0) + static_cast<double>(p.Column()); }

double Borders(DrawState& p) {
  constexpr std::array<int, 4> kExponents = {8, 11, 16, 24};
  const size_t i = p.Column() % 12;
  return std::ldexp(1.0, kExponents[i / 3]) + static_cast<double>(i % 3) - 1;
}

// Integers up to 2^20 that come closest to a multiple of pi/2 (the numerators of its continued
// fraction and their neighbours), computed with mpmath; small ones; 2^20.
double Hard(DrawState& p) {
  constexpr std::array<double, 16> kHard = {
      0, 1, 2, 3, 11, 22, 355, 710, 52174, 104348, 208341, 260515, 312689, 573204, 833719, 1048576};
  return kHard[p.Column() % kHard.size()];
}

double RandomPositions(DrawState& p) {
  return static_cast<double>(p.words.Below(static_cast<size_t>(p.Argument(0, 0x1p20))));
}

double Blocks(DrawState& p) {
  const auto rows = static_cast<size_t>(p.Argument(0, 16));
  return p.Row() / rows % p.width == p.Column() ? NearOne(p) : 0;
}

double LargeLast(DrawState& p) {
  const double last = p.Argument(0, 100);
  p.arguments = {};
  return p.Column() + 1 == p.width ? last : Normal(p);
}

double Codes(DrawState& p) {
  const size_t bits = 8 * SizeOf(p.dtype);
  return DecodeBits(p.dtype, bits < 64 ? p.index & ((uint64_t{1} << bits) - 1) : p.index);
}

// Six numbers for each midpoint: the midpoint and both neighbours of it, and the same negated. The
// midpoints come from both ends in turn: the smallest, the largest, the second smallest ...
double Midpoints(DrawState& p) {
  const auto type = static_cast<DType>(static_cast<size_t>(p.arguments[0]));
  const uint64_t count = EncodeBits(type, MaxFinite(type)) + 1;
  const uint64_t i = p.index / 6 % count, code = i % 2 == 0 ? i / 2 : count - 1 - i / 2;
  const double low = DecodeBits(type, code), middle = low + UlpOf(type, low) / 2;
  const double numbers[] = {NextDown(p.dtype, middle), middle, NextUp(p.dtype, middle)};
  return p.index % 6 < 3 ? numbers[p.index % 3] : -numbers[p.index % 3];
}

// Numbers at which codes of the type are decided, if a row has a scale: the first one of a row is
// the largest number of the type, or its negative, and the others are midpoints and their
// neighbours; all times a power of two, so that the quotients are exact.
double Ties(DrawState& p) {
  const auto type = static_cast<DType>(static_cast<size_t>(p.arguments[0]));
  const double power = PowerOfTwo(-static_cast<int>(p.Row() % 5));
  const uint64_t bits = p.words.Bits();
  const double sign = bits % 2 == 0 ? power : -power;
  if (p.Column() == 0) return sign * MaxFinite(type);
  const double low = DecodeBits(type, bits / 8 % EncodeBits(type, MaxFinite(type)));
  const double middle = low + UlpOf(type, low) / 2;
  const double numbers[] = {NextDown(p.dtype, middle), middle, middle, NextUp(p.dtype, middle)};
  return sign * numbers[bits / 2 % 4];
}

bool Anything(const std::vector<double>&) { return true; }
bool IsSpread(const std::vector<double>& a) { return a[0] > 0; }
bool AreBounds(const std::vector<double>& a) { return a[0] < a[1] && std::isfinite(a[1] - a[0]); }
bool IsLimit(const std::vector<double>& a) {
  return a[0] >= 1 && a[0] <= 0x1p53 && a[0] == std::floor(a[0]);
}

std::vector<double> ParseArguments(std::string_view text) {
  std::vector<double> arguments;
  for (size_t end = 0; end != text.npos; text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find(',');
    arguments.push_back(ParseNumber(std::string(text.substr(0, end))));
  }
  return arguments;
}

}  // namespace

struct Distribution::Row {
  std::string_view name;
  double (*draw)(DrawState&);
  bool integers = false;        // can draw integers
  size_t arguments = 0;         // a spec gives all of them or none
  std::string_view usage = "";  // describes the arguments in error messages
  bool (*accepts)(const std::vector<double>&) = Anything;
  std::string_view stream = "";  // name of the random stream; empty: the name of the input
};

const Distribution::Row Distribution::kRows[] = {
    {"normal", Normal, false, 1, "(s) with s > 0", IsSpread},
    {"uniform", Uniform, true, 2, "(a,b) with a < b", AreBounds},
    {"near_one", NearOne},
    {"geometric", Geometric},
    {"circle_cos", CircleCos, false, 0, "", Anything, "circle"},
    {"circle_sin", CircleSin, false, 0, "", Anything, "circle"},
    {"one_hot", OneHot, true},
    {"powers_of_two", PowersOfTwo},
    {"special", Special},
    {"nonfinite", NonFinite},
    {"payloads", Payloads},
    {"masked", Masked, false, 1, "(s) with s > 0", IsSpread},
    {"sequence", Sequence, true, 1, "(p)"},
    {"borders", Borders, true},
    {"hard", Hard, true},
    {"random_positions", RandomPositions, true, 1, "(n) with an integer n of 1 to 2^53", IsLimit},
    {"blocks", Blocks, false, 1, "(n) with an integer n of 1 to 2^53", IsLimit},
    {"large_last", LargeLast, false, 1, "(s) with s > 0", IsSpread},
    {"codes", Codes},
    {"midpoints", Midpoints},
    {"ties", Ties},
};

namespace {

// The type in "midpoints(TYPE)" or "ties(TYPE)" for an input of type `dtype`, which must have all
// midpoints.
DType TypeOfMidpoints(std::string_view name, const std::string& spec, const std::string& input,
                      DType dtype) {
  const auto narrower = [dtype](DType type) {
    return GridOf(type).precision < GridOf(dtype).precision && Contains(dtype, type);
  };
  constexpr std::span kTypes = TypesIn(DType::kF64, DType::kE8M0);
  for (const DType type : kTypes) {
    if (spec == std::string(name) + "(" + std::string(NameOf(type)) + ")" && narrower(type))
      return type;
  }
  std::vector<DType> types;
  std::ranges::copy_if(kTypes, std::back_inserter(types), narrower);
  throw Error("@", input, "='", spec, "': expected ", name, "(TYPE), for ", NameOf(dtype),
              " with a TYPE of:", NamesText(types, NameOf));
}

}  // namespace

Distribution::Distribution(const std::string& spec, const std::string& input, DType dtype)
    : text_("@" + input + "='" + spec + "'"), input_(input), dtype_(dtype) {
  const size_t open = spec.find('(');
  row_ = std::ranges::find(kRows, std::string_view(spec).substr(0, open), &Row::name);
  if (row_ == std::end(kRows)) {
    throw Error(text_, " is neither a list of numbers, nor FILE.npy#SHA256, nor one of:", Names());
  }
  if (dtype == DType::kI64 && !row_->integers) {
    throw Error(text_, ": ", input, " holds integers, expected a list of them, or one of:",
                Names([](const Row& row) { return row.integers; }));
  }
  if (row_->draw == Midpoints || row_->draw == Ties) {
    arguments_ = {static_cast<double>(TypeOfMidpoints(row_->name, spec, input, dtype))};
    return;
  }
  if (row_->draw == Masked && !HasInfinity(dtype))
    throw Error(text_, " draws infinities, which ", NameOf(dtype), " does not have");
  if (open == spec.npos) return;
  if (!spec.ends_with(')')) throw Error(text_, " has no closing ')'");
  try {
    arguments_ = ParseArguments(std::string_view(spec).substr(open + 1, spec.size() - open - 2));
  } catch (const Error& e) {
    throw Error(text_, ": ", e.what());
  }
  const auto fits = [&](double x) {
    return dtype == DType::kI64 ? IsRepresentable(dtype, x) : std::isfinite(x);
  };
  if (row_->arguments > 0 && arguments_.size() == row_->arguments &&
      std::ranges::all_of(arguments_, fits) && row_->accepts(arguments_)) {
    return;
  }
  throw Error(text_, ": expected ", row_->name, row_->usage.empty() ? "" : " or ",
              row_->usage.empty() ? "" : row_->name, row_->usage,
              dtype == DType::kI64 ? ", of integers of at most 2^53" : "");
}

namespace {

// Rounds to nearest; for integers, to those below. Codes without NaN end at the largest one.
void RoundEach(DType type, std::span<double> numbers) {
  if (type == DType::kF32) {  // as the processor rounds
    for (double& x : numbers) x = static_cast<double>(static_cast<float>(x));
  } else if (type == DType::kI64) {
    for (double& x : numbers) x = std::floor(x);
  } else if (!HasNaN(type)) {
    for (double& x : numbers) x = RoundTo(type, std::clamp(x, Lowest(type), MaxFinite(type)));
  } else {
    for (double& x : numbers) x = RoundTo(type, x);
  }
}

}  // namespace

std::optional<Error> Distribution::Draw(uint64_t seed, const Shape& shape, size_t first,
                                        std::span<double> to) const {
  const std::string_view name = row_->stream.empty() ? std::string_view(input_) : row_->stream;
  const uint64_t stream = Mix(Mix(seed) + HashOf(name));
  const auto draw = [&](size_t i) {
    DrawState place{RandomWords(stream, i), dtype_, i, RowWidth(shape), arguments_};
    return row_->draw(place);
  };
  if (row_->draw == Normal) {
    SetNormalNumbers(stream, first, to);
    for (const double spread : arguments_)
      std::ranges::for_each(to, [=](double& x) { x *= spread; });
  } else {
    for (size_t k = 0; k < to.size(); ++k) to[k] = draw(first + k);
  }
  RoundEach(dtype_, to);
  for (const auto may_be_nonfinite : {NonFinite, Payloads, Masked, Codes})
    if (row_->draw == may_be_nonfinite) return {};
  const auto beyond = std::ranges::find_if_not(to, [](double x) { return std::isfinite(x); });
  if (beyond == to.end()) return {};
  const size_t i = first + static_cast<size_t>(beyond - to.begin());
  return Error(text_, ": element ", i, " is ", draw(i), ", beyond the largest ", NameOf(dtype_));
}

template <class Work>
void Distribution::ForEachPart(const Shape& shape, Work work) const {
  constexpr size_t kPart = size_t{1} << 14;  // elements drawn by one task
  const size_t count = CountOf(shape);
  std::vector<std::optional<Error>> errors((count + kPart - 1) / kPart);
  InParallel(errors.size(), 0, [&](size_t part) {
    const size_t first = part * kPart;
    errors[part] = work(first, std::min(kPart, count - first));
  });
  for (const std::optional<Error>& error : errors) {
    if (error) throw *error;
  }
}

void Distribution::Fill(uint64_t seed, Tensor<double>& tensor) const {
  ForEachPart(tensor.shape, [&](size_t first, size_t count) {
    return Draw(seed, tensor.shape, first, std::span(tensor.data).subspan(first, count));
  });
}

void Distribution::Fill(uint64_t seed, StoredTensor& tensor) const {
  ForEachPart(tensor.shape(), [&](size_t first, size_t count) {
    std::vector<double> numbers(count);
    auto error = Draw(seed, tensor.shape(), first, numbers);
    tensor.Write(first, numbers);
    return error;
  });
}

void Distribution::FillPart(uint64_t seed, const Shape& shape, size_t first,
                            std::span<double> to) const {
  if (const auto error = Draw(seed, shape, first, to)) throw *error;
}

std::string Distribution::Names(bool (*wanted)(const Row&)) {
  std::string names;
  for (const Row& row : kRows) {
    if (wanted && !wanted(row)) continue;
    names += " ";
    names += row.name;
  }
  return names;
}

double ParseNumber(const std::string& text) {
  double x = 0;
  ParseValue(text, x);
  const bool integer = text.find_first_not_of("-0123456789") == text.npos;
  if (integer && std::abs(x) >= kLargestInteger &&
      PrintValue(static_cast<int64_t>(std::clamp(x, -0x1p62, 0x1p62))) != text) {
    throw Error("'", text, "' is not exactly representable in 53 bits");
  }
  return x;
}

}  // namespace sextant
