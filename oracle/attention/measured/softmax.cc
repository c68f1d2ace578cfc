#include "oracle/attention/measured/softmax.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "oracle/attention/measured/softmax_parts.h"
#include "oracle/attention/measured/softmax_sums.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/diagnosis/fitted_number.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

std::vector<NamedValue> OtherValues(const std::vector<double>& numbers) {
  std::vector<NamedValue> values;
  for (const double number : numbers) values.push_back({number, PrintValue(number)});
  return values;
}

// Rows that have the sums of other rows. Each row of the answer reads the whole block.
Deviation SumOfOtherRows(const Tensors& inputs) {
  constexpr size_t kMostRead = size_t{1} << 13;
  const size_t N = inputs[0].values.shape[0], M = inputs[0].values.shape[1];
  std::vector<double> blocks = {0};
  if (N * M <= kMostRead) blocks.push_back(static_cast<double>(N));
  for (size_t block = 2; block < N && block <= 64 && block * M <= kMostRead; ++block)
    blocks.push_back(static_cast<double>(block));
  return {.name = "sum_of_other_rows",
          .factor = "sum",
          .values = N > 1 ? OtherValues(blocks) : std::vector<NamedValue>(),
          .changed = [](const Hypothesis& base, double block) -> std::optional<Hypothesis> {
            SoftmaxParts parts = PartsOf(base);
            parts.sum = SoftmaxSum::kRows;
            parts.width = static_cast<size_t>(block);
            parts.all_rows = std::make_shared<const NamedTensor>(base.inputs[0]);
            return WithSoftmaxParts(base, std::move(parts));
          },
          .sentence =
              [N](const std::string& block) {
                if (block == "0")
                  return std::string("all rows are divided by the sum of the first row");
                if (block == std::to_string(N))
                  return std::string("all rows are divided by the sum over all rows");
                return "blocks of " + block + " rows are divided by the sum over the block";
              }};
}

// Other parts with a number; # in the phrase is the number.
Deviation PartOf(const std::string& factor, const std::string& name, const std::string& phrase,
                 std::vector<NamedValue> values, void (*set)(SoftmaxParts& parts, double number)) {
  return {.name = name,
          .factor = factor,
          .values = std::move(values),
          .changed = [set](const Hypothesis& base, double number) -> std::optional<Hypothesis> {
            SoftmaxParts parts = PartsOf(base);
            set(parts, number);
            return WithSoftmaxParts(base, std::move(parts));
          },
          .sentence =
              [phrase](const std::string& number) {
                std::string text = phrase;
                if (const size_t at = text.find('#'); at != std::string::npos)
                  text.replace(at, 1, number);
                return text;
              }};
}

// The columns from a number on are masked: a remainder of tiles, or all beyond a limit.
Deviation ColumnsCut(size_t M) {
  std::vector<NamedValue> values;
  for (size_t lost = 1; lost < M && lost <= 64; ++lost)
    values.push_back({static_cast<double>(M - lost), std::to_string(M - lost)});
  return {.name = "columns_missing",
          .factor = "columns",
          .values = std::move(values),
          .changed = [M](const Hypothesis& base, double first) -> std::optional<Hypothesis> {
            Hypothesis model = base;
            model.inputs = base.inputs.Changed(0, [=](size_t i, double x) {
              return static_cast<double>(i % M) >= first ? -kInfinity : x;
            });
            return model;
          },
          .sentence =
              [M](const std::string& first) {
                return "columns " + first + " to " + std::to_string(M - 1) + " are not read";
              }};
}

Deviation Exponents(const Tensors& inputs) {
  Deviation factor = InputFactor(inputs, "x", "exponents are multiplied by");
  factor.values = {{std::numbers::ln2, "0.6931472 = ln(2): 2^x for e^x"},
                   {std::numbers::log2e, "1.442695 = log2(e)"},
                   {std::numbers::ln10, "2.302585 = ln(10): 10^x for e^x"},
                   {-1},
                   {2},
                   {0.5}};
  factor.changed = [multiplied = factor.changed](const Hypothesis& base, double number) {
    auto model = multiplied(base, number);
    SoftmaxParts parts = PartsOf(base);
    if (!model || !parts.all_rows) return model;
    parts.all_rows = std::make_shared<const NamedTensor>(model->inputs.Readers()[0].Values());
    return std::optional(WithSoftmaxParts(*model, std::move(parts)));
  };
  for (const double D : {16, 32, 64, 80, 96, 128, 256})
    factor.values.push_back(
        {1 / std::sqrt(D), ShortText(1 / std::sqrt(D)) + " = 1/sqrt(" + PrintValue(D) + ")"});
  return factor;
}

// Powers of two below M, and neighbours of M.
std::vector<double> Widths(size_t M) {
  std::vector<double> widths;
  for (size_t near = 1; near <= 64 && near < M; ++near)
    widths.push_back(static_cast<double>(M - near));
  for (size_t power = 1; power < M; power *= 2) widths.push_back(static_cast<double>(power));
  return widths;
}

// The columns that are missing to a multiple of a power of two, and small numbers.
std::vector<double> Paddings(size_t M) {
  std::vector<double> paddings = {1, 2};
  for (size_t tile = 4; tile <= 1024; tile *= 2)
    if (M % tile != 0) paddings.push_back(static_cast<double>(tile - M % tile));
  for (double few = 3; few <= 8; ++few) paddings.push_back(few);
  return paddings;
}

// Numbers that are added to sums, against a division by zero or by mistake.
std::vector<double> Increases() {
  return {1,     1e-3,  1e-4,    1e-5,    1e-6, 1e-7, 1e-8, 1e-9, 1e-10,
          1e-12, 1e-16, 0x1p-23, 0x1p-52, 0.01, 0.1,  0.25, 0.5,  2};
}

// Widths of tiles, the usual ones first.
std::vector<NamedValue> Tiles(size_t M, size_t least) {
  std::vector<double> tiles;
  for (size_t tile = 4; tile < M && tile <= 2048; tile *= 2)
    tiles.push_back(static_cast<double>(tile));
  for (const size_t tile : {2, 3, 5, 6, 7})
    if (least <= tile && tile < M) tiles.push_back(static_cast<double>(tile));
  return OtherValues(tiles);
}

// The columns of the remainder of tiles.
std::vector<NamedValue> Remainders(size_t M) {
  std::vector<double> firsts;
  for (size_t tile = 4; tile < M && tile <= 256; tile *= 2) {
    const auto first = static_cast<double>(M / tile * tile);
    if (M % tile != 0 && std::ranges::find(firsts, first) == firsts.end()) firsts.push_back(first);
  }
  return OtherValues(firsts);
}

void SetRange(SoftmaxParts& parts, size_t first, size_t last) {
  parts.sum = SoftmaxSum::kRange;
  parts.first = first;
  parts.last = last;
}

// Sums of other columns, or with a further number, measured relative to a model.
std::vector<Deviation> MeasuredSums(const Observation& seen, const Hypothesis& base) {
  // A number that is listed is tried without a measurement.
  const auto is_new = [](const std::optional<MeasuredNumber>& measured,
                         const std::vector<double>& listed) {
    return measured && measured->value > 0 &&
           std::ranges::none_of(listed, [&](double number) { return measured->MayBe(number); });
  };
  const SoftmaxSums sums(seen, base);
  std::vector<Deviation> found;
  if (const auto range = sums.Range(); range && range->first > 0) {
    const auto [first, last] = *range;
    const std::string text = std::to_string(first) + " to " + std::to_string(last - 1);
    Deviation cut = PartOf("sum", "sum_cut", "the sum has only columns #", {{1, text}}, nullptr);
    cut.changed = [first, last](const Hypothesis& model, double) {
      SoftmaxParts parts = PartsOf(model);
      SetRange(parts, first, last);
      return std::optional(WithSoftmaxParts(model, std::move(parts)));
    };
    found.push_back(std::move(cut));
  }
  if (const auto added = sums.Added(); is_new(added, Increases())) {
    found.push_back(PartOf("added", "sum_increased", "# is added to the sum of e^(x - largest)",
                           {NamedNumber(*added)},
                           [](SoftmaxParts& parts, double number) { parts.added = number; }));
  }
  if (const auto zeros = sums.Zeros(); is_new(zeros, Paddings(ExtentOf(seen.c, "M")))) {
    found.push_back(PartOf("added", "sum_has_zeros", "e^0 is added # times to the sum of e^x",
                           {NamedNumber(*zeros)},
                           [](SoftmaxParts& parts, double number) { parts.zeros = number; }));
  }
  return found;
}

std::vector<Deviation> OfResult(size_t M) {
  return {
      PartOf("result", "logarithm", "y is another function of the softmax: its logarithm", {{0}},
             [](SoftmaxParts& parts, double) { parts.result = SoftmaxResult::kLogarithm; }),
      PartOf("result", "squared", "y is another function of the softmax: its square", {{0}},
             [](SoftmaxParts& parts, double) { parts.result = SoftmaxResult::kSquare; }),
      PartOf("result", "columns_not_divided",
             "columns # to " + std::to_string(M - 1) + " are not divided by the sum", Remainders(M),
             [](SoftmaxParts& parts, double first) {
               parts.undivided_from = static_cast<size_t>(first);
             })};
}

std::vector<Deviation> OfExponentials(const Observation& seen, size_t M) {
  std::vector<Deviation> all = {
      PartOf("exponential", "tiles_not_rescaled",
             "the exponentials of each tile of # columns are relative to the largest x up to it: "
             "they are not rescaled",
             Tiles(M, 4),
             [](SoftmaxParts& parts, double tile) { parts.tile = static_cast<size_t>(tile); }),
      PartOf("exponential", "exponents_limited", "exponents x - largest are at least -#",
             OtherValues({1, 2, 5, 10, 15, 16, 20, 25, 30, 32, 40, 50, 64, 80, 87, 88}),
             [](SoftmaxParts& parts, double limit) { parts.limit = limit; })};
  if (const auto below = DroppedBelow(seen)) {
    all.push_back(PartOf("exponential", "small_terms_dropped",
                         "exponentials e^(x - largest) below # are 0", {NamedNumber(*below)},
                         [](SoftmaxParts& parts, double least) { parts.dropped = least; }));
  }
  return all;
}

std::vector<Deviation> OfSums(const Observation& seen, size_t M) {
  const auto group = [&](const char* name, const char* phrase, auto set) {
    return PartOf("sum", name, phrase, Tiles(M, 2), set);
  };
  Deviation measured;
  measured.name = measured.factor = "sum";
  measured.cost = SoftmaxSums::ElementsRead(ExtentOf(seen.c, "N"), M) / kElementsOfEvaluation;
  measured.measured = [&](const Hypothesis& base) { return MeasuredSums(seen, base); };
  return {PartOf("sum", "not_divided", "the exponentials are not divided by their sum", {{0}},
                 [](SoftmaxParts& parts, double) { parts.sum = SoftmaxSum::kNone; }),
          SumOfOtherRows(seen.inputs),
          PartOf("added", "sum_increased", "# is added to the sum of e^(x - largest)",
                 OtherValues(Increases()),
                 [](SoftmaxParts& parts, double number) { parts.added = number; }),
          PartOf("added", "sum_has_zeros", "e^0 is added # times to the sum of e^x",
                 OtherValues(Paddings(M)),
                 [](SoftmaxParts& parts, double number) { parts.zeros = number; }),
          PartOf("sum", "sum_cut", "the sum has only columns 0 to # - 1", OtherValues(Widths(M)),
                 [](SoftmaxParts& parts, double last) {
                   SetRange(parts, 0, static_cast<size_t>(last));
                 }),
          group("sum_by_tiles", "each tile of # columns has its own sum",
                [](SoftmaxParts& parts, double width) {
                  parts.sum = SoftmaxSum::kTiles;
                  parts.width = static_cast<size_t>(width);
                }),
          group("sum_by_lanes", "each of # lanes has its own sum",
                [](SoftmaxParts& parts, double width) {
                  parts.sum = SoftmaxSum::kLanes;
                  parts.width = static_cast<size_t>(width);
                }),
          std::move(measured)};
}

}  // namespace

std::vector<Explanation> MeasureSoftmax(const Observation& seen) {
  const size_t M = ExtentOf(seen.c, "M");
  return FittedTo(seen, RightOf(seen),
                  Joined<Deviation>({OfResult(M),
                                     OfExponentials(seen, M),
                                     {Exponents(seen.inputs), ColumnsCut(M)},
                                     OfSums(seen, M)}));
}

}  // namespace sextant::oracle
