#include "tools/api/memory_of_case.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <thread>

#include "oracle/judge/sliced_judge.h"
#include "reference/base/error.h"
#include "reference/case/dimensions.h"
#include "reference/case/draw.h"
#include "reference/case/out_of_memory.h"
#include "reference/prove/case_slices.h"

namespace sextant::tools {
namespace {

// Bytes for each element, measured with softmax, add_rms_norm of 4e7 elements, and blocks of 7e7
// weights: in slices of stored tensors, in slices of doubles, with reference values of all
// elements.
constexpr double kStored = 6, kInSlices = 18, kWholeInput = 16, kWholeOutput = 60;
constexpr double kGiB = 0x1p30, kMiB = 0x1p20, kMuch = 4 * kGiB;

double CountIn(const Case& c, const std::vector<TensorSpec>& tensors) {
  double elements = 0;
  for (const TensorSpec& tensor : tensors)
    elements += static_cast<double>(CountOf(c.ShapeOf(tensor)));
  return elements;
}

double BytesOfWhole(const Case& c) {
  return kWholeInput * CountIn(c, c.signature().inputs) +
         kWholeOutput * CountIn(c, c.signature().outputs);
}

double KeysIn(const Case& c, const Slice& slice) {
  double keys = 0;
  for (const TensorSpec& input : c.signature().inputs) {
    if (std::ranges::find(input.extents, kKeyHeads) != input.extents.end())
      keys += static_cast<double>(CountOf(ShapeIn(c.ShapeOf(input), input, slice)));
  }
  return keys;
}

// Each slice in work has the keys and values that it reads as numbers with their errors.
double BytesOfKeys(const Case& c, const ProveOptions& options) {
  constexpr double kOfKey = 120;
  const CaseCut slices(c, SliceElements(c));
  double keys = 0;
  constexpr size_t kFirst = 256;  // one of them has as many key heads as any
  for (size_t i = 0; i < std::min(kFirst, slices.size()); ++i)
    keys = std::max(keys, KeysIn(c, slices[i]));
  const size_t threads = options.threads > 0 ? static_cast<size_t>(options.threads)
                                             : std::thread::hardware_concurrency();
  return kOfKey * keys * static_cast<double>(std::min(threads, slices.size()));
}

}  // namespace

double BytesToJudge(const Case& c, const oracle::Subject& subject, const ProveOptions& options) {
  if (!oracle::CanJudgeInSlices(c, options)) return BytesOfWhole(c) + BytesOfKeys(c, options);
  if (subject.answer_in_file) return BytesToProve(c, options);
  return BytesOfKeys(c, options) +
         static_cast<double>(ElementsOf(c)) * (subject.answer_stored ? kStored : kInSlices);
}

// What every slice reads is stored, and is in memory as doubles while a part is in work.
double BytesToProve(const Case& c, const ProveOptions& options, bool whole) {
  double bytes = BytesOfKeys(c, options);
  if (whole || !Halve(c, {})) return bytes + BytesOfWhole(c);
  for (const TensorSpec& input : c.signature().inputs) {
    const double each = static_cast<double>(SizeOf(c.DTypeOf(input)) + sizeof(double));
    if (IsShared(c, input)) bytes += each * static_cast<double>(CountOf(c.ShapeOf(input)));
  }
  return bytes;
}

std::string MemoryNote(const Case& c, const std::string& work, double bytes, double most) {
  if (most > 0 && bytes > most * kMiB) {
    throw Error(c.ToString(), ": ", work, " it takes about ",
                static_cast<int64_t>(std::ceil(bytes / kMiB)),
                " MiB of memory, more than --memory ", static_cast<int64_t>(most));
  }
  if (bytes < kMuch) return "";
  std::ostringstream text;
  text << c.ToString() << " has " << static_cast<double>(ElementsOf(c)) << " elements: " << work
       << " it takes about " << std::round(bytes / kGiB)
       << " GiB of memory; smaller dimensions take less";
  return text.str();
}

void NoteMemory(const Case& c, const std::string& work, double bytes, double most) {
  const std::string note = MemoryNote(c, work, bytes, most);
  if (!note.empty()) std::cerr << "sextant: " << note << "\n";
}

}  // namespace sextant::tools
