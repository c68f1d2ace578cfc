// Uses every room of an installed Sextant.
#include <iostream>

#include "reference/dtype.h"

int main() {
  const double third = sextant::RoundTo(sextant::DType::kBF16, 1.0 / 3);
  std::cout << "1/3 in bf16 is " << third << "\n";
  return third == 0x1.56p-2 ? 0 : 1;
}
