#include "reference/attention/attention_mask.h"

#include <algorithm>

#include "reference/base/count_text.h"

namespace sextant {
namespace {

// A range of keys; its ends may lie outside the tensor.
struct Limits {
  int64_t first, last;
  void Cut(int64_t from, int64_t to) {
    first = std::max(first, from);
    last = std::min(last, to);
  }
};

// Limits `keys` to the segment that contains index i; to no keys if no segment contains it.
void CutToSegment(const std::vector<int64_t>& lengths, int64_t i, int64_t T, Limits& keys) {
  int64_t first = 0;
  for (const int64_t length : lengths) {
    if (first <= i && i < first + length) return keys.Cut(first, first + length);
    first += length;
  }
  if (first <= i && i < T) return keys.Cut(first, T);
  keys.last = keys.first;
}

int64_t FloorOf(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// Throws Error unless the list has one number, or one for each of B batches.
void CheckCount(const char* name, const std::vector<int64_t>& list, int64_t B) {
  const auto count = static_cast<int64_t>(list.size());
  if (count == 1 || count == B) return;
  const std::string each =
      B == 1 ? "" : ", or one for each of " + std::to_string(B) + " batches (B)";
  throw Error(name, " has ", CountText(list.size(), "number"), ", expected 1", each);
}

int64_t OfBatch(const std::vector<int64_t>& list, size_t b) {
  return list[list.size() == 1 ? 0 : b];
}

void CheckLengths(const char* name, const std::vector<int64_t>& lengths, int64_t most) {
  for (const int64_t length : lengths) {
    if (length < 0 || length > most) {
      throw Error(name, " has ", length, ", expected 0 to ", most, ", the number of keys");
    }
  }
}

}  // namespace

std::string PrintValue(const AlignAttribute& aligned) {
  if (aligned.of.query_offset && !aligned.of.align) return "";
  return PrintValue(aligned.of.align.value_or(Align::kBottomRight));
}
void ParseValue(std::string_view text, AlignAttribute& aligned) {
  ParseValue(text, aligned.of.align);
}
std::span<const std::string> PossibleValues(const AlignAttribute&) {
  return PossibleValues(Align{});
}

void AttentionMask::Check() const {
  if (query_offset) CheckOffsets();
  if (window) {
    if (window->size() != 2) {
      throw Error("window has ", CountText(window->size(), "number"), ", expected 2: [left,right]");
    }
    for (const int64_t reach : *window) {
      if (reach < -1 || reach > kLargestInteger) {
        throw Error("window has ", reach, ", expected -1 (no limit) to 2^53");
      }
    }
  }
  if (chunk && (*chunk < 1 || *chunk > kLargestInteger)) {
    throw Error("chunk is ", *chunk, ", expected 1 to 2^53");
  }
  if (key_length) {
    CheckCount("key_length", *key_length, B.value);
    CheckLengths("key_length", *key_length, T.value);
  }
  if (segments) {
    CheckLengths("segments", *segments, T.value);
    int64_t sum = 0;
    for (const int64_t length : *segments) {
      if ((sum += length) > T.value) {
        throw Error("segments have more than ", T.value, " tokens in total, expected at most ",
                    T.value, ", the number of keys");
      }
    }
  }
}

void AttentionMask::CheckOffsets() const {
  if (align) {
    throw Error("align=", PrintValue(*align),
                " and query_offset are both given, expected one of them: each says which key the "
                "first query belongs to");
  }
  CheckCount("query_offset", *query_offset, B.value);
  for (const int64_t offset : *query_offset) {
    if (offset < 0 || offset > kLargestInteger)
      throw Error("query_offset has ", offset, ", expected 0 to 2^53");
  }
}

int64_t AttentionMask::KeyLength(size_t b) const {
  return key_length ? OfBatch(*key_length, b) : T.value;
}

int64_t AttentionMask::FirstIndex(size_t b) const {
  if (query_offset) return OfBatch(*query_offset, b);
  return align == Align::kTopLeft ? 0 : KeyLength(b) - S.value;
}

KeyRange AttentionMask::KeysOf(size_t b, size_t s) const {
  const int64_t length = KeyLength(b);
  const int64_t i = static_cast<int64_t>(s) + FirstIndex(b);
  Limits keys{0, length};
  if (mask == Mask::kCausal) keys.Cut(0, i + 1);
  if (window) {
    const auto& reach = *window;
    keys.Cut(reach[0] < 0 ? 0 : i - reach[0], reach[1] < 0 ? length : i + reach[1] + 1);
  }
  if (chunk) {
    const int64_t own = FloorOf(i, *chunk);
    if (own < 0 || own > length / *chunk) return {};
    keys.Cut(own * *chunk, own == length / *chunk ? length : (own + 1) * *chunk);
  }
  if (segments) CutToSegment(*segments, i, T.value, keys);
  if (keys.first >= keys.last) return {};
  return {static_cast<size_t>(keys.first), static_cast<size_t>(keys.last)};
}

}  // namespace sextant
