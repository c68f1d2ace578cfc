#include "oracle/layer/measured/token_rule.h"

#include "oracle/diagnosis/catalog_entry.h"

namespace sextant::oracle {
namespace {

Range Exactly(double x) { return {x, x}; }

std::vector<TokenRule> RulesOfTokens() {
  return {
      {"", "", [](double t, double, const Book&, double) { return t; },
       [](const Reading& r, const Book&) {
         return r.row == r.token ? Range{} : Range{1, 0};
       }},
      {"token_shifted", "token + # is read instead of token, modulo the number of rows",
       [](double t, double, const Book& book, double c) {
         return std::fmod(t + c + book.rows, book.rows);
       },
       [](const Reading& r, const Book& book) {
         const double shift = std::fmod(r.row - r.token + book.rows, book.rows);
         return Exactly(shift > book.rows / 2 ? shift - book.rows : shift);
       }},
      {"token_shifted_to_the_last", "token + # is read instead of token, and at most the last row",
       [](double t, double, const Book& book, double c) {
         return std::clamp(t + c, 0.0, book.rows - 1);
       },
       [](const Reading& r, const Book& book) {
         const double shift = r.row - r.token;
         return r.row == 0               ? Range{-kInfinity, shift}
                : r.row == book.rows - 1 ? Range{shift, kInfinity}
                                         : Exactly(shift);
       }},
      {"token_reversed", "# - token is read instead of token",
       [](double t, double, const Book&, double c) { return c - t; },
       [](const Reading& r, const Book&) { return Exactly(r.row + r.token); }},
      {"token_divided", "token / #, cut to an integer, is read instead of token",
       [](double t, double, const Book&, double c) { return std::floor(t / c); },
       [](const Reading& r, const Book&) {
         const double least = std::floor(r.token / (r.row + 1)) + 1;
         return r.row > 0 ? Range{least, std::floor(r.token / r.row)} : Range{least, kInfinity};
       }}};
}

std::vector<TokenRule> RulesOfLimits() {
  return {
      {"token_clamped", "tokens above # read row #",
       [](double t, double, const Book&, double c) { return std::min(t, c); },
       [](const Reading& r, const Book&) {
         return r.row == r.token  ? Range{r.row, kInfinity}
                : r.row < r.token ? Exactly(r.row)
                                  : Range{1, 0};
       }},
      {"token_clamped_below", "tokens below # read row #",
       [](double t, double, const Book&, double c) { return std::max(t, c); },
       [](const Reading& r, const Book&) {
         return r.row == r.token ? Range{0, r.row} : r.row > r.token ? Exactly(r.row) : Range{1, 0};
       }},
      {"row_for_all", "every token reads row #",
       [](double, double, const Book&, double c) { return c; },
       [](const Reading& r, const Book&) { return Exactly(r.row); }}};
}

std::vector<TokenRule> RulesOfPlaces() {
  return {{"token_by_place", "the place of a token plus # is used as the token",
           [](double, double place, const Book& book, double c) {
             return std::fmod(place + c + book.rows, book.rows);
           },
           [](const Reading& r, const Book&) { return Exactly(r.row - r.place); }},
          {"token_of_previous_place", "every place reads the row of the token before it",
           [](double, double place, const Book& book, double) { return book.TokenAt(place - 1); },
           [](const Reading& r, const Book& book) {
             return r.row == book.TokenAt(r.place - 1) ? Range{} : Range{1, 0};
           }},
          {"token_of_next_place", "every place reads the row of the token after it",
           [](double, double place, const Book& book, double) { return book.TokenAt(place + 1); },
           [](const Reading& r, const Book& book) {
             return r.row == book.TokenAt(r.place + 1) ? Range{} : Range{1, 0};
           }},
          {"token_of_reversed_place", "the tokens are read in reverse order",
           [](double, double place, const Book& book, double) { return book.TokenAt(-1 - place); },
           [](const Reading& r, const Book& book) {
             return r.row == book.TokenAt(-1 - r.place) ? Range{} : Range{1, 0};
           }}};
}

}  // namespace

const std::vector<TokenRule>& TokenRules() {
  static const std::vector<TokenRule> kRules =
      Joined<TokenRule>({RulesOfTokens(), RulesOfLimits(), RulesOfPlaces()});
  return kRules;
}

}  // namespace sextant::oracle
