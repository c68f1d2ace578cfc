#include "oracle/layer/measured/columns.h"

#include <cmath>
#include <utility>

namespace sextant::oracle {
namespace {

constexpr size_t kLargestStep = 64;

double SumOf(const Products& of, const Columns& columns) {
  if (columns.step == 1) return of.first[columns.end] - of.first[columns.first];
  double sum = 0;
  for (size_t m = columns.first; m < columns.end; m += columns.step)
    sum += of.first[m + 1] - of.first[m];
  return sum;
}

// The ranges [a, b) of columns that explain one element, lost or counted twice: the sums of the
// first columns at b and a differ by the rest.
std::vector<Columns> Contiguous(const Products& one) {
  std::vector<std::pair<double, size_t>> sorted;
  for (size_t m = 0; m < one.first.size(); ++m) sorted.emplace_back(one.first[m], m);
  std::ranges::sort(sorted);
  std::vector<Columns> found;
  for (size_t a = 0; a + 1 < one.first.size(); ++a) {
    for (const double times : {0.0, 2.0}) {
      const double sum = one.first[a] + one.Rest() / (times - 1);
      const auto from =
          std::ranges::lower_bound(sorted, std::pair(sum - one.sample.error, size_t{0}), {});
      for (auto at = from; at != sorted.end() && at->first <= sum + one.sample.error; ++at)
        if (at->second > a) found.push_back({a, at->second, 1, times});
    }
  }
  return found;
}

}  // namespace

bool Agree(const std::vector<Products>& all, const Columns& columns) {
  return std::ranges::all_of(all, [&](const Products& one) {
    const double rest = one.Rest() - (columns.times - 1) * SumOf(one, columns);
    return std::abs(rest) <= one.sample.error;
  });
}

std::vector<Columns> FitColumns(std::vector<Products>& all) {
  const auto distance = [](const Products& one) { return std::abs(one.Rest()) / one.sample.error; };
  std::swap(*std::ranges::max_element(all, {}, distance), all.front());
  const size_t M = all.front().first.size() - 1;
  std::vector<Columns> candidates = Contiguous(all.front());
  for (size_t step = 2; step <= std::min(kLargestStep, M); ++step)
    for (size_t first = 0; first < step && first + 2 * step < M; ++first)
      for (const double times : {0.0, 2.0}) candidates.push_back({first, M, step, times});
  std::erase_if(candidates, [&](const Columns& columns) {
    const bool is_all = columns.step == 1 && columns.first == 0 && columns.end == M;
    return is_all || !Agree(all, columns);
  });
  return candidates;
}

// One of all ranges, or of all steps and remainders.
double BitsOfColumns(size_t M) {
  return std::log2(static_cast<double>(M * M + kLargestStep * kLargestStep));
}

void Describe(const Columns& columns, size_t M, const std::string& what, Deviations& found) {
  const auto text = [](size_t number) { return std::to_string(number); };
  const bool lost = columns.times == 0;
  const std::string which =
      columns.step == 1 ? text(columns.first) + " to " + text(columns.end - 1)
                        : "m with m mod " + text(columns.step) + " = " + text(columns.first);
  found.bits += BitsOfColumns(M);
  found.Add(lost ? "columns_lost" : "columns_counted_twice",
            what + " " + which + " of " + text(M) + " are " + (lost ? "lost" : "counted twice"));
}

}  // namespace sextant::oracle
