#include "oracle/rope/measured/position_functions.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "oracle/diagnosis/vocabulary/index_maps.h"
#include "oracle/rope/measured/numbers.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {
namespace {

using enum PositionRank;
using Functions = std::vector<PositionFunction>;

void AddPositionFormats(Functions& all) {
  all.push_back({kNothing, "position_zero", "every token acts as position 0",
                 [](double, size_t, size_t) { return 0; }});
  all.push_back({kNothing, "turns_backwards", "all angles have the wrong sign",
                 [](double p, size_t, size_t) { return -p; }});
  all.push_back({kNothing, "position_without_sign", "negative positions act as positive ones",
                 [](double p, size_t, size_t) { return std::abs(p); }});
  for (const double half : {0.5, -0.5}) {
    all.push_back({kUsualNumber, "position_shifted", kShifted.Sentence("positions", half),
                   [half](double p, size_t, size_t) { return p + half; }});
  }
  for (const DType format : {DType::kBF16, DType::kF16, DType::kF32}) {
    all.push_back({kNothing, Phrase("positions_in_", NameOf(format)),
                   Phrase("positions are rounded to ", NameOf(format)),
                   [format](double p, size_t, size_t) { return RoundTo(format, p); }});
  }
  for (const auto& [map, name] : {NamedIndexMap(&kRoundedToBits, "position_rounded"),
                                  {&kCutToBits, "position_truncated"},
                                  {&kWrapped, "position_wrapped"},
                                  {&kRoundedDown, "position_of_block"},
                                  {&kRounded, "position_of_block"},
                                  {&kRoundedUp, "position_of_block"}}) {
    for (const double n : map->usual({}))
      all.push_back({kUsualNumber, name, map->Sentence("positions", n),
                     [map = map, n](double p, size_t, size_t) { return map->of(p, n); }});
  }
  for (const int bits : {8, 16, 32}) {
    const double m = std::ldexp(1.0, bits);
    all.push_back(
        {kNothing, Phrase("positions_in_signed_", bits, "_bits"),
         Phrase("positions are integers of ", bits, " bits with a sign: they wrap at ", m / 2),
         [m](double p, size_t, size_t) { return p - std::floor(p / m + 0.5) * m; }});
    all.push_back({kNothing, Phrase("positions_in_unsigned_", bits, "_bits"),
                   Phrase("positions are integers of ", bits,
                          " bits without a sign: negative ones have ", m, " added"),
                   [m](double p, size_t, size_t) { return p < 0 ? p + m : p; }});
  }
}

// The index of a token, or the position of another.
class Indices {
 public:
  Indices(const std::vector<double>& right, size_t length, Functions& all)
      : right_(std::make_shared<const std::vector<double>>(right)), S_(length), all_(all) {}

  void Run() {
    const size_t S = S_;
    const auto index = [](size_t s) { return static_cast<double>(s); };
    const auto at = [right = right_, S](size_t b, size_t s) { return (*right)[b * S + s]; };
    Add("position_is_index", "the index in the sequence is used as the position",
        [=](double, size_t, size_t s) { return index(s); });
    Add("position_counts_on_from_first",
        "positions count on from that of the first token: p(0) + s",
        [=](double, size_t b, size_t s) { return at(b, 0) + index(s); });
    Add("position_is_index_from_1",
        "the index in the sequence, counted from 1, is used as the position",
        [=](double, size_t, size_t s) { return index(s + 1); });
    Add("position_is_index_in_batch",
        "the index over all sequences of the batch is used as the position",
        [=](double, size_t b, size_t s) { return index(b * S + s); });
    Add("position_is_reversed_index", "positions are counted from the end",
        [=](double, size_t, size_t s) { return index(S - 1 - s); });
    Add("position_reversed", "the positions of a sequence are used in reverse order",
        [=](double, size_t b, size_t s) { return at(b, S - 1 - s); });
    Add("position_of_first_batch", "every sequence uses the positions of the first one",
        [=](double, size_t, size_t s) { return at(0, s); });
    OfBatches();
    OfMemory();
    Add("position_of_first_token", "every token uses the position of the first one",
        [=](double, size_t b, size_t) { return at(b, 0); });
    Add("position_of_last_token", "every token uses the position of the last one",
        [=](double, size_t b, size_t) { return at(b, S - 1); });
    Add("position_of_next_token", "tokens use the position of the next token",
        [=](double, size_t b, size_t s) { return at(b, std::min(s + 1, S - 1)); });
    Add("position_of_token_before", "tokens use the position of the token before",
        [=](double, size_t b, size_t s) { return at(b, s == 0 ? 0 : s - 1); });
    Add("position_from_first_token", "positions are counted from that of the first token",
        [=](double p, size_t b, size_t) { return p - at(b, 0); });
    OfBlocks();
  }

 private:
  void Add(std::string name, std::string sentence, PositionOf of, PositionRank rank = kNothing) {
    all_.push_back({rank, std::move(name), std::move(sentence), std::move(of)});
  }
  void OfBatches() {
    const size_t S = S_, B = right_->size() / std::max<size_t>(S_, 1);
    constexpr size_t kMostExchanged = 16;  // of more sequences the pairs are too many
    for (size_t one = 0; one < B && 2 < B && B <= kMostExchanged; ++one) {
      for (size_t other = one + 1; other < B; ++other) {
        Add(
            "positions_of_batches_exchanged",
            Phrase("sequences ", one, " and ", other,
                   " of the batch have each the positions of the other"),
            [right = right_, S, one, other](double p, size_t b, size_t s) {
              return b == one ? (*right)[other * S + s] : b == other ? (*right)[one * S + s] : p;
            },
            kUsualNumber);
      }
    }
    for (size_t other = 1; other < B; ++other) {
      Add("position_of_one_batch",
          Phrase("every sequence of the batch uses the positions of sequence ", other),
          [right = right_, S, other](double, size_t, size_t s) { return (*right)[other * S + s]; });
      Add("position_of_other_batch",
          Phrase("sequence b of the batch uses the positions of sequence (b + ", other, ") mod ",
                 B),
          [right = right_, S, B, other](double, size_t b, size_t s) {
            return (*right)[(b + other) % B * S + s];
          });
    }
  }
  // Positions [B,S] read in another way.
  void OfMemory() {
    const size_t S = S_, B = right_->size() / std::max<size_t>(S_, 1);
    Add("positions_in_halves",
        "positions of 64 bits are read as 32 bits: even tokens have those of token s / 2, odd ones "
        "0",
        [right = right_, S](double, size_t b, size_t s) {
          const size_t i = b * S + s;
          return i % 2 == 0 ? (*right)[i / 2] : (*right)[i / 2] < 0 ? -1 : 0;
        });
    if (B < 2) return;
    Add("positions_transposed",
        "positions [B,S] are read as [S,B]: token s of sequence b has the position at s B + b",
        [right = right_, B](double, size_t b, size_t s) { return (*right)[s * B + b]; });
    Add("position_largest_of_batch",
        "every sequence of the batch uses the largest position of its token in any sequence",
        [right = right_, S, B](double, size_t, size_t s) {
          double largest = (*right)[s];
          for (size_t b = 1; b < B; ++b) largest = std::max(largest, (*right)[b * S + s]);
          return largest;
        });
  }
  void OfBlocks() {
    const size_t S = S_;
    const auto at = [right = right_, S](size_t b, size_t s) { return (*right)[b * S + s]; };
    for (size_t n = 1; n < S && n <= 64; ++n) {
      Add(
          "position_is_index_modulo",
          Phrase("the index in the sequence modulo ", n, " is used as the position"),
          [=](double, size_t, size_t s) { return static_cast<double>(s % n); }, kUsualNumber);
      Add(
          "position_of_block_of_tokens",
          Phrase("tokens use the position of the first token of their block of ", n),
          [=](double, size_t b, size_t s) { return at(b, s / n * n); }, kAnyNumber);
      Add(
          "position_from_block",
          Phrase("positions are counted from that of the first token of their block of ", n),
          [=](double p, size_t b, size_t s) { return p - at(b, s / n * n); }, kUsualNumber);
      Add(
          "block_added_to_position",
          Phrase("the index of the first token of its block of ", n,
                 " is added to the position of each token, offset twice"),
          [=](double p, size_t, size_t s) { return p + static_cast<double>(s / n * n); },
          kUsualNumber);
      Add(
          "position_of_index_wraps",
          Phrase("tokens use the positions of tokens 0 to ", n - 1, " again and again"),
          [=](double, size_t b, size_t s) { return at(b, s % n); }, kUsualNumber);
    }
  }

  std::shared_ptr<const std::vector<double>> right_;  // all functions share it
  size_t S_;
  Functions& all_;
};

}  // namespace

std::vector<PositionFunction> UsualPositionFunctions(const std::vector<double>& right,
                                                     size_t length) {
  Functions all;
  AddPositionFormats(all);
  Indices(right, length, all).Run();
  return all;
}

}  // namespace sextant::oracle
