// A kernel in C++ that Sextant judges as a subject in a shared library:
//
//   c++ -std=c++17 -O2 -shared -fPIC -Itools/c tools/c/example.cc -o example.so
//   sextant check fixtures/cases/rope.cases --subject lib:./example.so
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sextant_subject.hpp>
#include <vector>

namespace {

// The kernel. x and y [B,H,S,D], position [B,S]; pair k is rotated by position * inv_freq[k].
template <class T>
struct Rope {
  size_t B, H, S, D;
  bool half;  // pairs (k, k + D/2), else (2k, 2k + 1)
  std::vector<T> inv_freq;

  void operator()(const T* x, const int64_t* position, T* y) const {
    std::vector<T> cosines(D / 2), sines(D / 2);
    for (size_t b = 0; b < B; ++b) {
      for (size_t s = 0; s < S; ++s) {
        for (size_t k = 0; k < D / 2; ++k) {
          const T angle = static_cast<T>(position[b * S + s]) * inv_freq[k];
          cosines[k] = std::cos(angle);
          sines[k] = std::sin(angle);
        }
        for (size_t h = 0; h < H; ++h) {
          const size_t row = ((b * H + h) * S + s) * D;
          Rotate(x + row, cosines, sines, y + row);
        }
      }
    }
  }

  void Rotate(const T* x, const std::vector<T>& cosines, const std::vector<T>& sines, T* y) const {
    for (size_t k = 0; k < D / 2; ++k) {
      const size_t i = half ? k : 2 * k, j = half ? k + D / 2 : 2 * k + 1;
      y[i] = x[i] * cosines[k] - x[j] * sines[k];
      y[j] = x[i] * sines[k] + x[j] * cosines[k];
    }
  }
};

template <class T>
std::vector<T> Frequencies(T base, T factor, size_t D) {
  std::vector<T> inv_freq(D / 2);
  for (size_t k = 0; k < D / 2; ++k) {
    inv_freq[k] = 1 / std::pow(base, static_cast<T>(2 * k) / static_cast<T>(D)) / factor;
  }
  return inv_freq;
}

// What makes it a subject. From here to the end, nothing else is needed.
template <class T>
void Answer(const sextant::cpp::Question& question) {
  const auto x = question.Input<T>("x");
  const auto position = question.Input<int64_t>("position");
  const size_t D = x.extent(3);
  question.Require("R", static_cast<double>(D));
  question.Require("offset", 0);
  question.Require("direction", "forward");
  double factor = 1;
  if (question.Text("scaling") == "linear") {
    factor = question.Number("scaling.factor");
  } else {
    question.Require("scaling", "none");
  }
  const Rope<T> rope{
      x.extent(0),
      x.extent(1),
      x.extent(2),
      D,
      question.Text("pairing") == "half",
      Frequencies(static_cast<T>(question.Number("base")), static_cast<T>(factor), D)};
  rope(x.data(), position.data(), question.Output<T>("y").data());
}

void AnswerInItsType(const sextant::cpp::Question& question) {
  question.Has<double>("x") ? Answer<double>(question) : Answer<float>(question);
}

}  // namespace

const SextantSubject* sextant_subject(uint32_t abi) {
  static const sextant::cpp::Subject<AnswerInItsType> subject("example", "1", "native", {"rope"});
  return subject.For(abi);
}
