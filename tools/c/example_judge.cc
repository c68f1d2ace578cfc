// Tensors of a C++ program, judged by Sextant:
//
//   c++ -Itools/c tools/c/example_judge.cc build/libsextant.so.0 -Wl,-rpath,build -o judge
//   ./judge
#include <algorithm>
#include <cmath>
#include <iostream>
#include <sextant.hpp>
#include <vector>

namespace {

void Softmax(const float* x, size_t count, float* y) {
  float most = x[0], sum = 0;
  for (size_t i = 0; i < count; ++i) most = std::max(most, x[i]);
  for (size_t i = 0; i < count; ++i) sum += y[i] = std::exp(x[i] - most);
  for (size_t i = 0; i < count; ++i) y[i] /= sum;
}

}  // namespace

int main() try {
  namespace cpp = sextant::cpp;
  // Inputs of a case, the same numbers on every machine; they may also be yours.
  const cpp::Result inputs = cpp::Draw("softmax N=1 M=64 seed=7");
  const SextantArray drawn = inputs.Array("x");
  const std::vector<float> x(drawn.data, drawn.data + drawn.count);
  std::vector<float> y(x.size());
  Softmax(x.data(), x.size(), y.data());

  const std::vector<int64_t> shape = {1, 64};
  const cpp::Result verdict =
      cpp::Judge("softmax", {{"x", x.data(), shape}, {"y", y.data(), shape}});
  std::cout << verdict.json() << "\n";
  return verdict.status();
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 2;
}
