#include "tools/api/memory_to_judge.h"

#include <cmath>
#include <sstream>

#include "oracle/judge/sliced_judge.h"

namespace sextant::tools {
namespace {

// Bytes for each element of the inputs and outputs, measured with softmax and add_rms_norm of 4e7
// elements: in slices of stored tensors, in slices of doubles, with reference values of all
// elements.
constexpr double kStored = 6, kInSlices = 18, kWhole = 38;
constexpr double kGiB = 0x1p30, kMuch = 4 * kGiB;

double ElementsOf(const Case& c) {
  double elements = 0;
  for (const auto* side : {&c.signature().inputs, &c.signature().outputs}) {
    for (const TensorSpec& tensor : *side)
      elements += static_cast<double>(CountOf(c.ShapeOf(tensor)));
  }
  return elements;
}

}  // namespace

std::string MemoryNote(const Case& c, const oracle::Subject& subject, const ProveOptions& options) {
  const double elements = ElementsOf(c);
  const double each = !oracle::CanJudgeInSlices(c, options) ? kWhole
                      : subject.answer_in_file              ? 0
                      : subject.answer_stored               ? kStored
                                                            : kInSlices;
  if (elements * each < kMuch) return "";
  std::ostringstream text;
  text << c.ToString() << " has " << elements << " elements: judging it takes about "
       << std::round(elements * each / kGiB) << " GiB of memory; smaller dimensions take less";
  return text.str();
}

}  // namespace sextant::tools
