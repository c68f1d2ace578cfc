#include "reference/base/did_you_mean.h"

#include <algorithm>
#include <filesystem>

namespace sextant {

size_t EditDistance(std::string_view a, std::string_view b) {
  // distances[i][j]: of the first i characters of a and the first j of b.
  std::vector<std::vector<size_t>> distances(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& least = distances[i][j] = std::max(i, j);
      if (i == 0 || j == 0) continue;
      const size_t replaced = distances[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      least = std::min({distances[i - 1][j] + 1, distances[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, distances[i - 2][j - 2] + 1);
    }
  }
  return distances[a.size()][b.size()];
}

std::string DidYouMean(std::string_view text, const std::vector<std::string>& names) {
  constexpr size_t kShort = 5, kLongest = 64, kLeastBeginning = 3;
  if (text.size() > kLongest) return "";
  const size_t most = text.size() <= kShort ? 1 : 2;
  const auto begins = [text](const std::string& name) { return name.starts_with(text); };
  const bool is_beginning =
      text.size() >= kLeastBeginning && std::ranges::count_if(names, begins) == 1;
  const std::string* nearest = nullptr;
  size_t least = most + 2;  // a beginning counts as most + 1
  for (const std::string& name : names) {
    size_t distance = EditDistance(text, name);
    if (distance > most) distance = is_beginning && begins(name) ? most + 1 : least;
    if (distance >= least || name == text) continue;
    least = distance;
    nearest = &name;
  }
  return nearest && text.size() > 1 ? " (did you mean '" + *nearest + "'?)" : "";
}

std::string DidYouMeanFile(const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code error;
  std::vector<std::string> names;
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  for (auto at = std::filesystem::directory_iterator(folder, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error))
    names.push_back(at->path().filename().string());
  std::ranges::sort(names);
  return DidYouMean(file.filename().string(), names);
}

}  // namespace sextant
