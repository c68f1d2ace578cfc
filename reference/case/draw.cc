#include "reference/case/draw.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <vector>

#include "reference/base/count_text.h"
#include "reference/case/dimensions.h"
#include "reference/case/distributions.h"

namespace sextant {
namespace {

bool IsNonFinite(std::string_view number) {
  std::string letters;
  for (const char c : number.substr(number.find_first_not_of("-+") == 1 ? 1 : 0, 3))
    letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters == "nan" || letters == "inf";
}
// "log(1..131072)", an item of a list.
constexpr std::string_view kLogarithmic = "log(";

bool IsList(std::string_view spec) {
  return !spec.empty() && spec.find(".npy") == spec.npos &&
         (spec[0] == '-' || spec.starts_with(kLogarithmic) || (spec[0] >= '0' && spec[0] <= '9') ||
          IsNonFinite(spec));
}
bool IsFile(std::string_view spec) { return spec.find(".npy#") != spec.npos; }

// Integers first..last.
std::pair<double, double> ParseRange(const std::string& item, size_t dots) {
  constexpr double kLongest = 0x1p24;  // numbers in one range
  const double first = ParseNumber(item.substr(0, dots)), last = ParseNumber(item.substr(dots + 2));
  if (first != std::floor(first) || last != std::floor(last) || last < first ||
      std::abs(first) > kLargestInteger || std::abs(last) > kLargestInteger) {
    throw Error("'", item, "' is not a range of integers, expected first..last of at most 2^53");
  }
  if (last - first >= kLongest) {
    throw Error("'", item, "' is a range of ", last - first + 1, " integers, expected at most ",
                kLongest);
  }
  return {first, last};
}

// Calls `take` with integers first..last, eight per octave, evenly on a logarithmic scale: those
// next to first 2^(i/8), each once, and the last.
template <class Take>
void ForEachLogarithmic(const std::string& item, Take take) {
  constexpr size_t kOctave = 8;
  const std::string range = item.substr(kLogarithmic.size(), item.size() - kLogarithmic.size() - 1);
  const size_t dots = range.find("..");
  if (dots == range.npos || !item.ends_with(')'))
    throw Error("'", item, "', expected log(first..last)");
  const auto [first, last] = ParseRange(range, dots);
  if (first < 1) throw Error("'", item, "' begins with ", first, ", expected at least 1");
  const double ratio = std::sqrt(std::sqrt(std::sqrt(2.0)));
  double before = 0;
  for (double octave = first; octave < last; octave *= 2) {
    double x = octave;
    for (size_t i = 0; i < kOctave && std::nearbyint(x) < last; ++i, x *= ratio) {
      if (std::nearbyint(x) != before) take(before = std::nearbyint(x));
    }
  }
  take(last);
}

// Calls `take` with each number of a list, in which ranges are inclusive.
template <class Take>
void ForEachNumber(std::string_view spec, Take take) {
  if (spec.ends_with(',')) throw Error("the list ends with a comma");
  std::istringstream items{std::string(spec)};
  for (std::string item; std::getline(items, item, ',');) {
    if (item.starts_with(kLogarithmic)) {
      ForEachLogarithmic(item, take);
      continue;
    }
    const size_t dots = item.find("..");
    if (dots == item.npos) {
      take(ParseNumber(item));
      continue;
    }
    const auto [first, last] = ParseRange(item, dots);
    const auto count = static_cast<int64_t>(last - first) + 1;
    for (int64_t i = 0; i < count; ++i) take(first + static_cast<double>(i));
  }
}

Tensor<double> DrawTensor(const Case& c, const TensorSpec& input, const std::string& spec) {
  Tensor<double> tensor(c.ShapeOf(input));
  if (!IsList(spec)) {
    Distribution(spec, input.name, c.DTypeOf(input)).Fill(c.seed(), tensor);
    return tensor;
  }
  std::vector<double> numbers;
  ForEachNumber(spec, [&](double x) { numbers.push_back(x); });
  for (size_t i = 0; i < tensor.data.size(); ++i) tensor.data[i] = numbers[i % numbers.size()];
  return tensor;
}

// Numbers of lists and files must be exact values of the dtype, and integers at most 2^53, which a
// sequence from p may exceed. All other distributions draw such values.
bool MayNotFit(const std::string& spec, DType dtype) {
  return IsFile(spec) || IsList(spec) || (dtype == DType::kI64 && spec.starts_with("sequence("));
}

// Elements of an input from element `first` on.
struct InputPart {
  const std::string& name;
  DType dtype;
  size_t first;
  std::span<const double> values;
};

void CheckValues(const InputPart& tensor, const std::string& spec) {
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const double x = tensor.values[i];
    if (IsRepresentable(tensor.dtype, x)) continue;
    throw Error(
        "@", tensor.name, "=", spec, ": element ", tensor.first + i, " is ", x, ", expected ",
        tensor.dtype == DType::kI64 ? "an integer of at most 2^53 in magnitude" : "a value of ",
        tensor.dtype == DType::kI64 ? "" : NameOf(tensor.dtype));
  }
}

NamedTensor DrawInput(const Case& c, const TensorSpec& input, const FileReader& read_file) {
  const std::string spec = c.SpecOf(input);
  NamedTensor tensor{input.name, c.DTypeOf(input), {}};
  if (IsFile(spec)) {
    if (!read_file) throw Error("@", input.name, "=", spec, ": files cannot be read here");
    const size_t hash = spec.rfind('#');
    tensor.values = read_file(spec.substr(0, hash), spec.substr(hash + 1), tensor.dtype);
    if (tensor.values.shape != c.ShapeOf(input)) {
      throw Error("@", input.name, "=", spec, " has shape ", ToString(tensor.values.shape),
                  ", expected ", ToString(c.ShapeOf(input)));
    }
  } else {
    tensor.values = DrawTensor(c, input, spec);
  }
  if (MayNotFit(spec, tensor.dtype))
    CheckValues({tensor.name, tensor.dtype, 0, tensor.values.data}, spec);
  return tensor;
}

StoredTensor DrawStoredInput(const Case& c, const TensorSpec& input, const FileReader& read_file) {
  const std::string spec = c.SpecOf(input);
  const DType dtype = c.DTypeOf(input);
  if (MayNotFit(spec, dtype)) return StoredTensor(DrawInput(c, input, read_file));
  StoredTensor tensor(input.name, dtype, c.ShapeOf(input));
  Distribution(spec, input.name, dtype).Fill(c.seed(), tensor);
  return tensor;
}

class DrawnTensor : public TensorSource {
 public:
  DrawnTensor(const Case& c, const TensorSpec& input)
      : TensorSource(input.name, c.DTypeOf(input), c.ShapeOf(input)),
        spec_(c.SpecOf(input)),
        seed_(c.seed()),
        distribution_(spec_, input.name, dtype()) {}
  void Read(size_t first, std::span<double> to) const override {
    distribution_.FillPart(seed_, shape(), first, to);
    if (MayNotFit(spec_, dtype())) CheckValues({name(), dtype(), first, to}, spec_);
  }

 private:
  const std::string spec_;
  const uint64_t seed_;
  const Distribution distribution_;
};

}  // namespace

std::optional<size_t> CountOfSpec(std::string_view spec) {
  if (!IsList(spec)) return std::nullopt;
  size_t count = 0;
  ForEachNumber(spec, [&count](double) { ++count; });
  return count;
}

void CheckSpec(const Case& c, const TensorSpec& input) {
  const std::string spec = c.SpecOf(input);
  if (IsFile(spec)) return;
  if (const auto count = CountOfSpec(spec)) {
    const Shape shape = c.ShapeOf(input);
    const size_t last = shape.empty() ? 1 : shape.back();
    if (*count == last || *count == CountOf(shape)) return;
    throw Error("@", input.name, " lists ", CountText(*count, "number"), ", expected ", last,
                " (its last axis) or ", CountOf(shape), " (all of ", ToString(shape), ")");
  }
  Distribution(spec, input.name, c.DTypeOf(input));
}

bool DependsOnSeed(const Case& c) {
  return std::ranges::any_of(c.signature().inputs, [&c](const TensorSpec& input) {
    const std::string spec = c.SpecOf(input);
    if (IsFile(spec) || IsList(spec) || CountOf(c.ShapeOf(input)) == 0) return false;
    // Enough elements: of numbers that a seed draws some differ. No number is beyond f64.
    const bool is_i64 = c.DTypeOf(input) == DType::kI64;
    const Distribution distribution(spec, input.name, is_i64 ? DType::kI64 : DType::kF64);
    Tensor<double> one({64}), other({64});
    distribution.Fill(0, one);
    distribution.Fill(1, other);
    return one.data != other.data;
  });
}

Tensors DrawInputs(const Case& c, const FileReader& read_file) {
  Tensors tensors;
  for (const TensorSpec& input : c.signature().inputs)
    tensors.push_back(DrawInput(c, input, read_file));
  return tensors;
}

bool IsShared(const Case& c, const TensorSpec& input) {
  return std::ranges::none_of(input.extents, [&c](const std::string& extent) {
    return extent == kKeyHeads ||
           (extent.size() == 1 && c.info().slices.find(extent[0]) != std::string_view::npos);
  });
}

DrawnInputs::DrawnInputs(const Case& c, const FileReader& read_file) {
  for (const TensorSpec& input : c.signature().inputs) {
    const std::string spec = c.SpecOf(input);
    if (IsFile(spec) || IsList(spec) || IsShared(c, input)) {
      kept_.push_back(std::make_unique<StoredTensor>(DrawStoredInput(c, input, read_file)));
      readers_.emplace_back(*kept_.back());
    } else {
      drawn_.push_back(std::make_unique<DrawnTensor>(c, input));
      readers_.emplace_back(*drawn_.back());
    }
  }
}

void CheckFit(const Case& c, const FileReader& read_file) {
  for (const TensorSpec& input : c.signature().inputs) {
    if (MayNotFit(c.SpecOf(input), c.DTypeOf(input))) DrawInput(c, input, read_file);
  }
}

StoredTensors DrawStored(const Case& c, const FileReader& read_file) {
  StoredTensors tensors;
  for (const TensorSpec& input : c.signature().inputs)
    tensors.push_back(DrawStoredInput(c, input, read_file));
  return tensors;
}

}  // namespace sextant
