#include "reference/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators": the finalizer.
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The random words of one element.
class Words {
 public:
  Words(uint64_t seed, std::string_view stream, uint64_t index) {
    uint64_t name = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : stream) name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    state_ = Mix(Mix(Mix(seed) + name) + index);
  }
  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15); }
  // In [0, 1), a multiple of 2^-32.
  double Uniform() { return static_cast<double>(Next() >> 32) * 0x1p-32; }
  size_t Below(size_t n) { return static_cast<size_t>(Next() % n); }

 private:
  uint64_t state_;
};

// What one element is drawn from.
struct Place {
  Words words;
  DType dtype;
  size_t index;  // in the tensor
  size_t width;  // of the last axis
  std::vector<double> arguments;

  size_t Column() const { return index % width; }
  size_t Row() const { return index / width; }
  double Argument(size_t i, double otherwise) const {
    return i < arguments.size() ? arguments[i] : otherwise;
  }
};

double Normal(Place& p) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += p.words.Uniform();  // exact: multiples of 2^-32 below 16
  return sum * p.Argument(0, 1);
}

double Uniform(Place& p) {
  const double low = p.Argument(0, -1), high = p.Argument(1, 1);
  return low + (high - low) * p.words.Uniform();
}

double NearOne(Place& p) { return 0.5 + p.words.Uniform(); }

// Piecewise linear between powers of two: no power function is exactly rounded everywhere.
double Geometric(Place& p) {
  const size_t octaves = 13 * p.Column();
  const double fraction = static_cast<double>(octaves % p.width) / static_cast<double>(p.width);
  return std::ldexp(1 - fraction / 2, -static_cast<int>(octaves / p.width));
}

// (1 - t^2, 2t) / (1 + t^2) lies on the unit circle; a random quarter turn covers all of it.
std::pair<double, double> Circle(Place& p) {
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
double CircleCos(Place& p) { return Circle(p).first; }
double CircleSin(Place& p) { return Circle(p).second; }

double OneHot(Place& p) { return p.Row() % p.width == p.Column() ? 1 : 0; }

double PowersOfTwo(Place& p) {
  const double sign = p.words.Below(2) ? 1 : -1;
  return std::ldexp(sign, static_cast<int>(p.words.Below(17)) - 8);
}

double Special(Place& p) {
  const double largest = MaxFinite(p.dtype), least = MinSubnormal(p.dtype);
  const double normal = std::ldexp(1.0, GridOf(p.dtype).min_exponent);
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

double NonFinite(Place& p) {
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

double Sequence(Place& p) { return p.Argument(0, 0) + static_cast<double>(p.Column()); }

double Borders(Place& p) {
  constexpr std::array<int, 4> kExponents = {8, 11, 16, 24};
  const size_t i = p.Column() % 12;
  return std::ldexp(1.0, kExponents[i / 3]) + static_cast<double>(i % 3) - 1;
}

// Integers up to 2^20 that come closest to a multiple of pi/2 (the numerators of its continued
// fraction and their neighbours), computed with mpmath; small ones; 2^20.
double Hard(Place& p) {
  constexpr std::array<double, 16> kHard = {
      0, 1, 2, 3, 11, 22, 355, 710, 52174, 104348, 208341, 260515, 312689, 573204, 833719, 1048576};
  return kHard[p.Column() % kHard.size()];
}

double RandomPositions(Place& p) {
  return static_cast<double>(p.words.Below(static_cast<size_t>(p.Argument(0, 0x1p20))));
}

struct Distribution {
  std::string_view name;
  size_t most_arguments;
  double (*draw)(Place&);
  std::string_view stream = "";  // of random words, if not the input's own
};
constexpr Distribution kDistributions[] = {
    {"normal", 1, Normal},
    {"uniform", 2, Uniform},
    {"near_one", 0, NearOne},
    {"geometric", 0, Geometric},
    {"circle_cos", 0, CircleCos, "circle"},
    {"circle_sin", 0, CircleSin, "circle"},
    {"one_hot", 0, OneHot},
    {"powers_of_two", 0, PowersOfTwo},
    {"special", 0, Special},
    {"nonfinite", 0, NonFinite},
    {"sequence", 1, Sequence},
    {"borders", 0, Borders},
    {"hard", 0, Hard},
    {"random_positions", 1, RandomPositions},
};

bool IsList(std::string_view spec) {
  return !spec.empty() && (spec[0] == '-' || (spec[0] >= '0' && spec[0] <= '9')) &&
         spec.find(".npy") == spec.npos;
}
bool IsFile(std::string_view spec) { return spec.find(".npy#") != spec.npos; }

// Numbers and inclusive ranges of a list, handed to `take` one by one.
template <class Take>
void ForEachNumber(std::string_view spec, Take take) {
  constexpr double kLongest = 0x1p24;  // numbers in one range
  constexpr double kLargest = 0x1p53;  // beyond, integers are not all doubles
  if (spec.ends_with(',')) throw Error("'", spec, "' ends with a comma");
  std::istringstream items{std::string(spec)};
  for (std::string item; std::getline(items, item, ',');) {
    const size_t dots = item.find("..");
    double first = 0, last = 0;
    ParseValue(item.substr(0, dots), first);
    if (dots == item.npos) {
      const bool integer = item.find_first_not_of("-0123456789") == item.npos;
      if (integer && std::abs(first) >= kLargest &&
          PrintValue(static_cast<int64_t>(std::clamp(first, -0x1p62, 0x1p62))) != item) {
        throw Error("'", item, "' is not exactly a number of 53 bits");
      }
      take(first);
      continue;
    }
    ParseValue(item.substr(dots + 2), last);
    if (first != std::floor(first) || last != std::floor(last) || last < first ||
        last - first >= kLongest || std::abs(first) > kLargest || std::abs(last) > kLargest) {
      throw Error("'", item, "' is no range of integers, first to last, of at most 2^53");
    }
    const auto count = static_cast<int64_t>(last - first) + 1;
    for (int64_t i = 0; i < count; ++i) take(first + static_cast<double>(i));
  }
}

struct Drawing {
  const Distribution* distribution;
  std::vector<double> arguments;
};

Drawing ParseDistribution(const std::string& spec, const std::string& input) {
  const size_t open = spec.find('(');
  for (const Distribution& distribution : kDistributions) {
    if (distribution.name != spec.substr(0, open)) continue;
    Drawing drawing{&distribution, {}};
    if (open != spec.npos) {
      if (!spec.ends_with(')')) throw Error("@", input, "='", spec, "' has no closing ')'");
      ForEachNumber(std::string_view(spec).substr(open + 1, spec.size() - open - 2),
                    [&](double x) { drawing.arguments.push_back(x); });
    }
    if (drawing.arguments.size() > distribution.most_arguments) {
      throw Error("@", input, "='", spec, "': ", distribution.name, " takes at most ",
                  distribution.most_arguments, " numbers");
    }
    if (distribution.name == "random_positions" && !drawing.arguments.empty() &&
        !(drawing.arguments[0] >= 1 && drawing.arguments[0] <= 0x1p53)) {
      throw Error("@", input, "='", spec, "': expected a limit of 1 to 2^53");
    }
    return drawing;
  }
  throw Error(
      "@", input, "='", spec,
      "' is neither a list of numbers, nor FILE.npy#SHA256, nor one of:", DistributionNames());
}

Tensor<double> DrawTensor(const Case& c, const TensorSpec& input, const std::string& spec) {
  const DType dtype = c.DTypeOf(input);
  Tensor<double> tensor(c.ShapeOf(input));
  const size_t width = tensor.shape.empty() ? 1 : std::max<size_t>(1, tensor.shape.back());
  if (IsList(spec)) {
    std::vector<double> numbers;
    ForEachNumber(spec, [&](double x) { numbers.push_back(x); });
    for (size_t i = 0; i < tensor.data.size(); ++i) tensor.data[i] = numbers[i % numbers.size()];
    return tensor;
  }
  const Drawing drawing = ParseDistribution(spec, input.name);
  const std::string_view stream = drawing.distribution->stream.empty()
                                      ? std::string_view(input.name)
                                      : drawing.distribution->stream;
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    Place place{Words(c.seed(), stream, i), dtype, i, width, drawing.arguments};
    const double x = drawing.distribution->draw(place);
    tensor.data[i] = dtype == DType::kI64 ? std::floor(x) : RoundTo(dtype, x);
  }
  return tensor;
}

// Numbers that somebody typed or stored must be values of the dtype as they are.
void CheckValues(const NamedTensor& tensor, const std::string& spec) {
  for (size_t i = 0; i < tensor.values.data.size(); ++i) {
    const double x = tensor.values.data[i];
    if (IsRepresentable(tensor.dtype, x)) continue;
    throw Error(
        "@", tensor.name, "=", spec, ": element ", i, " is ", x, ", expected ",
        tensor.dtype == DType::kI64 ? "an integer of at most 2^53 in magnitude" : "a value of ",
        tensor.dtype == DType::kI64 ? "" : NameOf(tensor.dtype));
  }
}

}  // namespace

std::string DistributionNames() {
  std::string names;
  for (const Distribution& distribution : kDistributions) {
    names += " ";
    names += distribution.name;
  }
  return names;
}

std::optional<size_t> CountOfSpec(std::string_view spec) {
  if (!IsList(spec)) return std::nullopt;
  size_t count = 0;
  ForEachNumber(spec, [&count](double) { ++count; });
  return count;
}

void CheckSpec(const std::string& spec, const Shape& shape, const std::string& input) {
  if (IsFile(spec)) return;
  if (const auto count = CountOfSpec(spec)) {
    const size_t last = shape.empty() ? 1 : shape.back();
    if (*count == last || *count == CountOf(shape)) return;
    throw Error("@", input, " lists ", *count, " numbers, expected ", last, " (its last axis) or ",
                CountOf(shape), " (all of ", ToString(shape), ")");
  }
  ParseDistribution(spec, input);
}

Tensors DrawInputs(const Case& c, const FileReader& read_file) {
  Tensors tensors;
  for (const TensorSpec& input : c.info().signature.inputs) {
    const std::string spec = c.SpecOf(input);
    NamedTensor tensor{input.name, c.DTypeOf(input), {}};
    if (IsFile(spec)) {
      if (!read_file) throw Error("@", input.name, "=", spec, ": files cannot be read here");
      const size_t hash = spec.rfind('#');
      tensor.values = read_file(spec.substr(0, hash), spec.substr(hash + 1));
      if (tensor.values.shape != c.ShapeOf(input)) {
        throw Error("@", input.name, "=", spec, " has shape ", ToString(tensor.values.shape),
                    ", expected ", ToString(c.ShapeOf(input)));
      }
    } else {
      tensor.values = DrawTensor(c, input, spec);
    }
    CheckValues(tensor, spec);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace sextant
