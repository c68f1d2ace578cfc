#include "reference/rope/rope_relayout.h"

#include <algorithm>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

Case Back(const Case& c) {
  return c.With("from=" + TextOf(c, "to")).With("to=" + TextOf(c, "from"));
}

Comparisons CheckThereAndBack(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors there = inputs;
  const Response moved = ask(c, inputs);
  there[0].values = moved.outputs[0].values;
  const Response back = ask(Back(c), there);
  Comparisons comparisons;
  for (size_t i = 0; i < inputs[0].values.data.size(); ++i) {
    comparisons.Equal(moved(0, i), moved(0, i), {moved, 0, i});  // fails for NaN
    comparisons.Equal(back(0, i), inputs[0].values.data[i], {back, 0, i});
  }
  return comparisons;
}

// Each head keeps its rows: every column of a head holds the same numbers, in any order.
Comparisons CheckHeads(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t D = ExtentOf(c, "D"), M = ExtentOf(c, "M");
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  for (size_t h = 0; h < ExtentOf(c, "H"); ++h) {
    for (size_t m = 0; m < M; ++m) {
      std::vector<double> before, after;
      for (size_t d = 0; d < D; ++d) {
        before.push_back(inputs[0].values.data[(h * D + d) * M + m]);
        after.push_back(y.outputs[0].values.data[(h * D + d) * M + m]);
      }
      std::ranges::sort(before);
      std::ranges::sort(after);
      for (size_t d = 0; d < D; ++d)
        comparisons.Equal(after[d], before[d], {y, 0, (h * D + d) * M + m});
    }
  }
  return comparisons;
}

Comparisons CheckOutside(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t D = ExtentOf(c, "D"), R = ExtentOf(c, "R"), M = ExtentOf(c, "M");
  const auto offset = static_cast<size_t>(NumberOf(c, "offset", 0));
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  for (size_t i = 0; i < inputs[0].values.data.size(); ++i) {
    const size_t channel = i / M % D;
    if (channel >= offset && channel < offset + R) continue;
    comparisons.Equal(y(0, i), inputs[0].values.data[i], {y, 0, i});
  }
  return comparisons;
}

// Element (h D + d, m) of a weight as element (0, h, m, d) of x, or back.
Tensor<double> Transposed(const Case& c, const Tensor<double>& a, bool to_x) {
  const size_t H = ExtentOf(c, "H"), D = ExtentOf(c, "D"), M = ExtentOf(c, "M");
  Tensor<double> b(to_x ? Shape{1, H, M, D} : Shape{H * D, M});
  for (size_t h = 0; h < H; ++h) {
    for (size_t m = 0; m < M; ++m) {
      for (size_t d = 0; d < D; ++d) {
        const size_t in_x = (h * M + m) * D + d, in_weight = (h * D + d) * M + m;
        b.data[to_x ? in_x : in_weight] = a.data[to_x ? in_weight : in_x];
      }
    }
  }
  return b;
}

// The purpose of the operation: P R_from x = R_to P x with its permutation P and the columns of the
// weight as tokens x.
Comparisons CheckRotation(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto rope = [&](const std::string& pairing) {
    std::string line = "rope pairing=" + TextOf(c, pairing) + " offset=" + TextOf(c, "offset");
    for (const char* letter : {"H", "D", "R"}) {
      line += " " + std::string(letter) + "=" + std::to_string(ExtentOf(c, letter));
    }
    line += " S=" + std::to_string(ExtentOf(c, "M")) + " @position=sequence(1) dtype=";
    return Case::Parse(line + std::string(NameOf(c.dtype())));
  };
  const auto rotate = [&](const Case& r, const Tensor<double>& weight) {
    Tensors x = DrawInputs(r);
    InputNamed(x, "x") = Transposed(c, weight, true);
    Response y = ask(r, x);
    y.outputs[0].values = Transposed(c, y.outputs[0].values, false);
    y.permitted[0].error = Transposed(c, y.permitted[0].error, false);
    return y;
  };
  const auto permute = [&](const Tensor<double>& weight) {
    return ask(c, {{"weight", inputs[0].dtype, weight}});
  };
  const Response permuted_rotated = rotate(rope("to"), permute(inputs[0].values).outputs[0].values);
  const Response rotated = rotate(rope("from"), inputs[0].values);
  const Response rotated_permuted = permute(rotated.outputs[0].values);
  // The permitted errors are permuted as well, by the exact formula: they are not values of the
  // dtype, so the subject cannot do it.
  const Tensors errors =
      EvaluateByRecipe({c, Tensors{{"weight", DType::kF64, rotated.permitted[0].error}},
                        ParseRecipe("*=exact store=exact", c.dtype())});
  Comparisons comparisons;
  for (size_t i = 0; i < inputs[0].values.data.size(); ++i) {
    const double error = errors[0].values.data[i];
    comparisons.Equal(permuted_rotated(0, i),
                      Measured(rotated_permuted.outputs[0].values.data[i], error),
                      {permuted_rotated, 0, i});
  }
  return comparisons;
}

// The formula with one mutation: `source` returns the input row of an output row.
struct MutatedRopeRelayout : RopeRelayout {
  size_t (*source)(const MutatedRopeRelayout&, size_t row) =
      [](const MutatedRopeRelayout& m, size_t row) { return m.SourceOf(row, m.from, m.to); };
  bool of_columns = false;

  // The correct source row, for any two pairings.
  size_t SourceOf(size_t row, Pairing a, Pairing b) const {
    const auto width = static_cast<size_t>(D.value), rotary = static_cast<size_t>(R.value);
    const size_t head = row / width * width + static_cast<size_t>(offset);
    for (size_t k = 0; k < rotary / 2; ++k) {
      const PairOfChannels in = ChannelsOf(a, k, rotary), out = ChannelsOf(b, k, rotary);
      if (row == head + out.first) return head + in.first;
      if (row == head + out.second) return head + in.second;
    }
    return row;
  }
  template <class Real>
  void operator()(const Tensor<Real>& weight, Tensor<Real>& y) const {
    for (size_t row = 0; row < y.shape[0]; ++row) {
      for (size_t m = 0; m < y.shape[1]; ++m) {
        y(row, m) =
            of_columns ? weight(row, source(*this, m) % y.shape[1]) : weight(source(*this, row), m);
      }
    }
  }
};

Defect MutationDefect(std::string name, std::string why,
                      size_t (*source)(const MutatedRopeRelayout&, size_t row),
                      bool of_columns = false) {
  MutatedRopeRelayout mutated;
  mutated.source = source;
  mutated.of_columns = of_columns;
  return MutatedFormula(std::move(name), std::move(why), mutated);
}

size_t RowOfLastPairLeftOut(const MutatedRopeRelayout& m, size_t row) {
  const auto width = static_cast<size_t>(m.D.value), rotary = static_cast<size_t>(m.R.value);
  const size_t channel = row % width - static_cast<size_t>(m.offset);
  const auto last = ChannelsOf(m.to, rotary / 2 - 1, rotary);
  const bool stays = channel == last.first || channel == last.second;
  return stays ? row : m.SourceOf(row, m.from, m.to);
}

std::vector<Defect> FormulaDefects() {
  return {
      MutationDefect(
          "inverse_permutation", "the inverse permutation is applied",
          [](const MutatedRopeRelayout& m, size_t row) { return m.SourceOf(row, m.to, m.from); }),
      MutationDefect("permuted_twice",
                     "weights that are already permuted are permuted again "
                     "(huggingface/transformers#25199)",
                     [](const MutatedRopeRelayout& m, size_t row) {
                       return m.SourceOf(m.SourceOf(row, m.from, m.to), m.from, m.to);
                     }),
      MutationDefect("as_one_head", "all heads are permuted as one head",
                     [](const MutatedRopeRelayout& m, size_t row) {
                       MutatedRopeRelayout one = m;
                       one.R.value = m.H.value * m.R.value;
                       one.D.value = m.H.value * m.D.value;
                       return one.SourceOf(row, m.from, m.to);
                     }),
      MutationDefect(
          "heads_of_half_width",
          "the head width is computed from a wrong number of heads (ggml-org/llama.cpp#3364)",
          [](const MutatedRopeRelayout& m, size_t row) {
            if (m.D.value % 4 != 0 || m.R.value != m.D.value) return m.SourceOf(row, m.from, m.to);
            MutatedRopeRelayout half = m;
            half.R.value = half.D.value = m.D.value / 2;
            return half.SourceOf(row, m.from, m.to);
          }),
      MutationDefect("first_head_alone", "only the first head is permuted",
                     [](const MutatedRopeRelayout& m, size_t row) {
                       return row < static_cast<size_t>(m.D.value) ? m.SourceOf(row, m.from, m.to)
                                                                   : row;
                     }),
      MutationDefect("last_pair_left_out",
                     "the last pair is not permuted: the loop stops one pair early",
                     RowOfLastPairLeftOut),
      AcrossSlices(MutationDefect(
          "columns_permuted",
          "the columns (inputs) of the weight are permuted instead of the rows (outputs)",
          [](const MutatedRopeRelayout& m, size_t column) {
            return m.SourceOf(column, m.from, m.to);
          },
          true)),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeRelayout>() {
  return {
      .properties = {{"there_and_back", "permuting there and back gives the original weight",
                      CheckThereAndBack},
                     {"heads_keep_their_rows", "each head keeps its rows, in another order",
                      CheckHeads},
                     {"rows_outside_stay", "rows outside the rotated window do not move",
                      CheckOutside},
                     {"rotates_alike",
                      "permuting, then rotating in the new pairing equals rotating in the old one, "
                      "then permuting",
                      CheckRotation}},
      .defects = Joined<Defect>(
          {FormulaDefects(),
           {ChangedWord("partial_width_ignored", "the whole head is permuted although R < D",
                        [](const Case& c) { return "R=" + std::to_string(ExtentOf(c, "D")); }),
            ChangedRecipe("stored_in_bf16", "the weights are rounded to bf16", "store=bf16")}})};
}

}  // namespace sextant::oracle
