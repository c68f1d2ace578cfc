#include "reference/prove/slices.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "reference/base/value_text.h"
#include "reference/case/dimensions.h"

namespace sextant {
namespace {

// The first index and the count along every axis of the tensor.
std::vector<std::pair<size_t, size_t>> RangesOf(const Shape& whole, const TensorSpec& spec,
                                                const Slice& slice) {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    const auto at = slice.ranges.find(spec.extents[axis]);
    ranges.push_back(at == slice.ranges.end() ? std::pair<size_t, size_t>{0, whole[axis]}
                                              : at->second);
  }
  return ranges;
}

// Calls visit(first, count) for the runs of consecutive elements of the part, in order: flat
// indices in the whole tensor.
template <class Visit>
void ForEachRun(const Shape& whole, const TensorSpec& spec, const Slice& slice, Visit visit) {
  const auto ranges = RangesOf(whole, spec, slice);
  // The axes from `inner` on are one run; all axes after the first of them are complete.
  size_t inner = whole.size(), count = 1;
  while (inner > 0) {
    --inner;
    count *= ranges[inner].second;
    if (ranges[inner].second != whole[inner]) break;
  }
  const auto is_empty = [](const std::pair<size_t, size_t>& range) { return range.second == 0; };
  if (std::ranges::any_of(ranges, is_empty)) return;
  std::vector<size_t> at(inner);  // position in the outer axes, within their ranges
  for (;;) {
    size_t first = 0;
    for (size_t axis = 0; axis < whole.size(); ++axis)
      first = first * whole[axis] + ranges[axis].first + (axis < inner ? at[axis] : 0);
    visit(first, count);
    size_t axis = inner;
    while (axis > 0 && ++at[axis - 1] == ranges[axis - 1].second) at[--axis] = 0;
    if (axis == 0) return;
  }
}

// A slice of query heads has the key heads that they read, not all
// (AttentionAttributes::KeyHeadOf).
void SetKeyHeads(const Case& c, Slice& slice) {
  const auto heads = slice.ranges.find("H");
  const auto K = c.dimensions().find(kKeyHeads);
  if (heads == slice.ranges.end() || K == c.dimensions().end()) return;
  const auto [first, count] = heads->second;
  const auto shared = static_cast<size_t>(c.dimensions().at("H") / K->second);
  const size_t first_key = first / shared;
  slice.ranges[kKeyHeads] = {first_key, (first + count - 1) / shared - first_key + 1};
}

bool HasLetter(const TensorSpec& spec, const std::string& letter) {
  return std::ranges::find(spec.extents, letter) != spec.extents.end();
}

// The number of elements in the largest part of a tensor with that dimension, if dimensions are cut
// to `sizes`. Inputs count less: reading takes less memory and time than proving.
size_t LargestPart(const Case& c, const std::string& letter,
                   const std::map<std::string, size_t>& sizes) {
  constexpr size_t kReadPerProven = 8;
  size_t largest = 0;
  const auto count = [&](const TensorSpec& spec, size_t per) {
    if (!HasLetter(spec, letter)) return;
    Shape shape = c.ShapeOf(spec);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const auto at = sizes.find(spec.extents[axis]);
      if (at != sizes.end()) shape[axis] = at->second;
    }
    largest = std::max(largest, CountOf(shape) / per);
  };
  for (const TensorSpec& input : c.signature().inputs) count(input, kReadPerProven);
  for (const TensorSpec& output : c.info().signature.outputs) count(output, 1);
  return largest;
}

}  // namespace

std::string TextOf(const Slice& slice) {
  std::string text;
  for (const auto& [letter, range] : slice.ranges) {
    text += (text.empty() ? "" : " ") + letter + "=" + std::to_string(range.first) + ".." +
            std::to_string(range.first + range.second - 1);
  }
  return text;
}

Slice ParseSlice(const Case& c, const std::string& text) {
  Slice slice;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('='), dots = word.find("..");
    const std::string letter = word.substr(0, equals);
    const auto extent = c.dimensions().find(letter);
    const bool is_cut =
        letter == kKeyHeads || (letter.size() == 1 && c.info().slices.find(letter) != letter.npos);
    if (equals == word.npos || dots == word.npos || extent == c.dimensions().end() || !is_cut)
      throw Error("'", word, "' is not a slice of ", c.ToString(),
                  ", expected LETTER=FIRST..LAST with a letter of ", c.info().slices);
    int64_t first = 0, last = 0;
    ParseValue(word.substr(equals + 1, dots - equals - 1), first);
    ParseValue(word.substr(dots + 2), last);
    if (first < 0 || last < first || last >= extent->second)
      throw Error("'", word, "' is not a slice of ", letter, "=", extent->second);
    slice.ranges[letter] = {static_cast<size_t>(first), static_cast<size_t>(last - first + 1)};
  }
  return slice;
}

CaseCut::CaseCut(const Case& c, size_t elements, const Slice& window) : c_(c), window_(window) {
  std::map<std::string, size_t> sizes;
  for (const auto& [letter, range] : window.ranges) sizes[letter] = range.second;
  for (const char letter : c.info().slices) {
    const std::string name(1, letter);
    const auto at = window.ranges.find(name);
    const auto [begin, extent] =
        at == window.ranges.end()
            ? std::pair<size_t, size_t>{0, static_cast<size_t>(c.dimensions().at(name))}
            : at->second;
    const size_t total = LargestPart(c, name, sizes);
    if (extent <= 1 || total <= elements) continue;
    const size_t wanted = std::min(extent, (total + elements - 1) / elements);
    const size_t size = (extent + wanted - 1) / wanted;
    sizes[name] = size;
    axes_.push_back({name, begin, extent, size});
  }
}

size_t CaseCut::size() const {
  size_t count = 1;
  for (const Axis& axis : axes_) count *= axis.parts();
  return count;
}

Slice CaseCut::SliceOf(const std::vector<size_t>& parts) const {
  Slice slice = window_;
  for (size_t a = 0; a < axes_.size(); ++a) {
    const auto& [letter, begin, extent, size] = axes_[a];
    slice.ranges[letter] = {begin + parts[a] * size, std::min(size, extent - parts[a] * size)};
  }
  SetKeyHeads(c_, slice);
  return slice;
}

Slice CaseCut::operator[](size_t i) const {
  std::vector<size_t> parts(axes_.size());
  for (size_t a = axes_.size(); a-- > 0; i /= axes_[a].parts()) parts[a] = i % axes_[a].parts();
  return SliceOf(parts);
}

Slice CaseCut::With(const TensorSpec& output, size_t flat) const {
  const Shape shape = c_.ShapeOf(output);
  std::vector<size_t> parts(axes_.size());
  for (size_t axis = shape.size(); axis-- > 0; flat /= shape[axis]) {
    const auto at = std::ranges::find(axes_, output.extents[axis], &Axis::letter);
    if (at != axes_.end())
      parts[static_cast<size_t>(at - axes_.begin())] = (flat % shape[axis] - at->begin) / at->size;
  }
  return SliceOf(parts);
}

std::vector<Slice> CutCase(const Case& c, size_t elements) {
  const CaseCut cut(c, elements);
  std::vector<Slice> slices(cut.size());
  for (size_t i = 0; i < slices.size(); ++i) slices[i] = cut[i];
  return slices;
}

std::optional<std::pair<Slice, Slice>> Halve(const Case& c, const Slice& slice) {
  for (const char letter : c.info().slices) {
    const std::string name(1, letter);
    const auto at = slice.ranges.find(name);
    const auto [first, count] =
        at == slice.ranges.end()
            ? std::pair<size_t, size_t>{0, static_cast<size_t>(c.dimensions().at(name))}
            : at->second;
    if (count <= 1) continue;
    std::pair<Slice, Slice> halves(slice, slice);
    halves.first.ranges[name] = {first, count / 2};
    halves.second.ranges[name] = {first + count / 2, count - count / 2};
    SetKeyHeads(c, halves.first);
    SetKeyHeads(c, halves.second);
    return halves;
  }
  return std::nullopt;
}

Slice Within(Slice slice, const Slice& part) {
  for (const auto& [letter, range] : part.ranges) slice.ranges.at(letter).first -= range.first;
  return slice;
}

std::optional<Slice> Intersection(const Slice& a, const Slice& b) {
  Slice common = a;
  for (const auto& [letter, of_b] : b.ranges) {
    auto& [first, count] = common.ranges.try_emplace(letter, of_b).first->second;
    const size_t end = std::min(first + count, of_b.first + of_b.second);
    first = std::max(first, of_b.first);
    if (end <= first) return std::nullopt;
    count = end - first;
  }
  return common;
}

Shape ShapeIn(const Shape& whole, const TensorSpec& spec, const Slice& slice) {
  Shape shape;
  for (const auto& [first, count] : RangesOf(whole, spec, slice)) shape.push_back(count);
  return shape;
}

std::vector<Run> RunsIn(const Shape& whole, const TensorSpec& spec, const Slice& slice) {
  std::vector<Run> runs;
  ForEachRun(whole, spec, slice, [&](size_t first, size_t count) {
    runs.push_back({first, count});
  });
  return runs;
}

std::vector<size_t> IndicesIn(const Shape& whole, const TensorSpec& spec, const Slice& slice) {
  std::vector<size_t> indices;
  ForEachRun(whole, spec, slice, [&](size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) indices.push_back(first + i);
  });
  return indices;
}

Tensor<double> ExtractSlice(const Tensor<double>& whole, const TensorSpec& spec,
                            const Slice& slice) {
  Tensor<double> part(ShapeIn(whole.shape, spec, slice));
  auto to = part.data.begin();
  ForEachRun(whole.shape, spec, slice, [&](size_t first, size_t count) {
    to = std::copy_n(whole.data.begin() + static_cast<std::ptrdiff_t>(first), count, to);
  });
  return part;
}

void InsertSlice(const Tensor<double>& part, const TensorSpec& spec, const Slice& slice,
                 Tensor<double>& whole) {
  auto from = part.data.begin();
  ForEachRun(whole.shape, spec, slice, [&](size_t first, size_t count) {
    std::copy_n(from, count, whole.data.begin() + static_cast<std::ptrdiff_t>(first));
    from += static_cast<std::ptrdiff_t>(count);
  });
}

size_t SliceBegin(const std::string& letter) {
  const Slice* const slice = this_context.slice;
  if (!slice) return 0;
  const auto at = slice->ranges.find(letter);
  return at == slice->ranges.end() ? 0 : at->second.first;
}

bool IsIndependent(const Operation& operation, char letter) {
  return operation.info().slices.find(letter) != std::string_view::npos &&
         std::ranges::none_of(operation.Attributes(), [letter](const Attribute& attribute) {
           return attribute.dimension && attribute.name == std::string(1, letter);
         });
}

}  // namespace sextant
