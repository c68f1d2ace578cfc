#include "oracle/diagnosis/input/input_memory.h"

#include <set>
#include <string>
#include <utility>

#include "oracle/diagnosis/vocabulary/exchanged_axes.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

// Element `flat` is that of the place from(flat).
InputChange ReadFrom(const std::string& text, size_t index,
                     std::function<size_t(size_t flat)> from) {
  return {text, [=, from = std::move(from)](const Tensors& all) {
            const Numbers& x = all[index].values.data;
            Numbers y(x.size());
            for (size_t flat = 0; flat < x.size(); ++flat) y[flat] = x[from(flat) % x.size()];
            return y;
          }};
}

// Rows of `width` elements that begin `pitch` elements apart, in each block of so many.
std::function<size_t(size_t flat)> RowsApart(size_t width, size_t pitch, size_t block) {
  return [=](size_t flat) {
    const size_t in_block = flat % block;
    return flat - in_block + (in_block / width * pitch + in_block % width) % block;
  };
}

std::string Listed(const std::vector<std::string>& axes) {
  std::string text;
  for (const std::string& axis : axes) text += (text.empty() ? "" : ",") + axis;
  return "[" + text + "]";
}

}  // namespace

std::vector<InputChange> ExchangedAxes(const TensorSpec& spec, const Shape& shape, size_t index) {
  std::vector<InputChange> changes;
  if (shape.size() < 3) return changes;
  for (size_t a = shape.size() - 1; a-- > 0;) {
    if (shape[a] < 2 || shape[a + 1] < 2) continue;
    std::vector<std::string> stored(spec.extents.begin(), spec.extents.end());
    std::swap(stored[a], stored[a + 1]);
    changes.push_back(
        {"is read as if it were stored as " + Listed(stored),
         [=](const Tensors& all) { return ReadWithExchangedAxes(all[index].values, a, a + 1); }});
  }
  return changes;
}

std::vector<InputChange> MemoryOrders(const TensorSpec& spec, const Shape& shape, size_t index) {
  std::vector<InputChange> changes;
  const size_t count = CountOf(shape), width = RowWidth(shape), rank = shape.size();
  if (rank < 2) return changes;
  for (size_t by = 1; by <= 16 && by < count; by *= 2) {
    const std::string n = std::to_string(by);
    changes.push_back(ReadFrom("is read " + n + " elements farther in memory, around the end",
                               index, [=](size_t flat) { return flat + by; }));
    changes.push_back(ReadFrom("is read " + n + " elements before in memory, around the end", index,
                               [=](size_t flat) { return flat + count - by; }));
  }
  const size_t matrix = rank > 2 ? shape[rank - 2] * width : count;
  std::set<size_t> pitches;
  for (size_t by = 1; by <= 16 && by < width; by *= 2) pitches.insert({width - by, width + by});
  pitches.insert({width / 2, 2 * width});
  pitches.erase(0);
  pitches.erase(width);
  for (const size_t pitch : pitches) {
    const std::string text = "is read as if its rows began " + std::to_string(pitch) +
                             " elements apart, expected " + std::to_string(width);
    changes.push_back(ReadFrom(text, index, RowsApart(width, pitch, count)));
    if (matrix < count)
      changes.push_back(ReadFrom(
          text + ", in each [" + spec.extents[rank - 2] + "," + spec.extents[rank - 1] + "]", index,
          RowsApart(width, pitch, matrix)));
  }
  return changes;
}

}  // namespace sextant::oracle
