// Rules by which an implementation finds the row of an embedding's table.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "oracle/layer/measured/constant.h"

namespace sextant::oracle {

// The row that a token reads, and the scales that it may have.
struct Reading {
  double token, place, row;
  Range scale;
};

// The tokens, and the number of rows of the table.
struct Book {
  const std::vector<double>& token;
  double rows;
  double TokenAt(double place) const {
    const auto places = static_cast<double>(token.size());
    return token[static_cast<size_t>(std::fmod(place + places, places))];
  }
};

// A rule that gives the row of a token, with a constant c.
struct TokenRule {
  std::string name, sentence;  // the sentence has "#" for the constant
  double (*row)(double token, double place, const Book& book, double c);
  // The constants that a reading allows.
  Range (*allowed)(const Reading& reading, const Book& book);
};

// The first is the right one.
const std::vector<TokenRule>& TokenRules();

}  // namespace sextant::oracle
