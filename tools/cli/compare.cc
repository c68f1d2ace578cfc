// sextant compare
#include "fixtures/store/compare.h"

#include <iostream>
#include <memory>

#include "reference/base/printable.h"
#include "reference/prove/prove.h"
#include "tools/api/exit_status.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"

namespace sextant::tools {
namespace {

// "; all within [0,3..5,0..63]": the first and the last index on each axis. Empty for a scalar.
std::string PlaceOf(const fixtures::DatasetComparison& d) {
  std::string text;
  for (const auto& [first, last] : d.differing) {
    text += (text.empty() ? "; all within [" : ",") + std::to_string(first);
    if (last > first) text += ".." + std::to_string(last);
  }
  return text.empty() ? "" : text + "]";
}

void PrintDifferences(const fixtures::DatasetComparison& d) {
  const fixtures::UlpStatistics& t = d.statistics;
  std::cout << Marked(d.path) << ": " << t.different << " of " << t.count << " elements differ"
            << PlaceOf(d);
  if (t.largest_ulps > 0) {
    std::cout << "; at most " << t.largest_ulps << " ulps, at "
              << IndexText("", d.shape, t.largest_ulps_at) << ", and " << t.largest_error << ", at "
              << IndexText("", d.shape, t.largest_error_at);
  }
  if (t.nan_only_a + t.nan_only_b > 0) {
    std::cout << "; NaN only in the first: " << t.nan_only_a
              << ", only in the second: " << t.nan_only_b;
  }
  std::cout << "\n";
}

int CompareFiles(const std::string& a, const std::string& b) {
  const fixtures::Comparison comparison = fixtures::Compare(a, b);
  size_t different = 0;
  std::cout.precision(17);
  for (const fixtures::DatasetComparison& d : comparison.common) {
    if (!d.mismatch.empty()) {
      std::cout << Marked(d.path + ": " + d.mismatch) << "\n";
      ++different;
    } else if (d.statistics.different > 0) {
      PrintDifferences(d);
      ++different;
    }
  }
  for (const std::string& path : comparison.only_a)
    std::cout << Marked(path) << ": only in " << Marked(a) << "\n";
  for (const std::string& path : comparison.only_b)
    std::cout << Marked(path) << ": only in " << Marked(b) << "\n";
  std::cout << comparison.common.size() << " datasets in both, " << different << " differ, "
            << comparison.only_a.size() + comparison.only_b.size() << " in only one file\n";
  if (different + comparison.only_a.size() + comparison.only_b.size() > 0) return kNonconforming;
  return comparison.common.empty() ? kNothing : kVerified;
}

}  // namespace

Action BindCompare(CLI::App& app) {
  const auto paths = std::make_shared<std::pair<std::string, std::string>>();
  AddOption(app, "a", paths->first, "a file, or a folder of parts", {.required = true});
  AddOption(app, "b", paths->second, "the other one", {.required = true});
  return [paths] { return CompareFiles(paths->first, paths->second); };
}

}  // namespace sextant::tools
