// The inputs of a case: the same bits on every machine.
// The generator is counter-based (element i of input "x" under seed n depends only on these three)
// and uses only integers and correctly rounded + - * / sqrt. Every value is then rounded to the
// dtype of its tensor; a value that overflows the dtype is an Error. Integers are drawn from lists,
// ranges, `uniform` (rounded down), `one_hot` and position sets. A SPEC is
//   0,1,255..258   numbers and inclusive ranges of integers: the last axis, or the whole tensor
//   log(1..131072) an item of such a list: integers evenly on a logarithmic scale, 8 per octave
//   normal         mean 0, variance 1 (sum of twelve uniforms); normal(s) times s
//   uniform        in [-1, 1); uniform(a,b) in [a, b)
//   near_one       in [0.5, 1.5), as norm weights are
//   geometric      1 .. 1e-4 falling along the last axis, as frequencies are
//   circle_cos, circle_sin   cos and sin of one random angle: use them together
//   one_hot        row r has a single 1, in channel r mod width: shows which channels are paired
//   powers_of_two  random signs and exponents -8 .. 8
//   special        zeros, ones, neighbours of powers of two, subnormals, the largest numbers
//   nonfinite      normal with some NaN and infinities
//   payloads       NaN of both signs whose payloads are ones, zeros and random bits; each fourth
//                  number is normal
//   masked         normal with some -infinity; masked(s): normal(s)
//   sequence       0, 1, 2 ... along the last axis; sequence(p) from p
//   borders        around 2^8, 2^11, 2^16, 2^24: beyond them a format lacks some integers
//   hard           integers next to multiples of pi/2, which are hard for argument reduction
//   random_positions         uniform integers in [0, 2^20); random_positions(n) in [0, n), where n
//                            may be a dimension: random_positions(V)
//   blocks         near_one in one channel of each row, 0 in the others: channel 0 in the first 16
//                  rows, 1 in the next 16 and so on; blocks(n): of n rows. As values of attention
//                  it shows in each channel how much the keys of one block weigh
//   large_last     normal, but 100 in the last column, which dominates sums; large_last(s): s there
//   codes          the values of the type in the order of their bit patterns, NaN and infinities
//                  too (a signaling NaN as the quiet one): all of them in 2^16 elements, or in 256
//                  of a type of 8 bits
//   midpoints(f16) what a conversion to that type rounds with most difficulty: each midpoint of two
//                  of its neighbours, and the one beyond its largest number; with both neighbours
//                  of the midpoint in the type of the input, and all three negated. From both ends
//                  in turn: subnormal and the largest numbers come first
//   ties(f8_e4m3fn) what decides codes of that type: the first number of a row is its largest one
//   or
//                  the negative of it, the others are midpoints of neighbours and the numbers
//                  beside them; all times a power of two, another one in each of five rows
//   FILE.npy#SHA256          the file's values, if it has that digest
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/tensor/stored_tensor.h"

namespace sextant {

// Reads the values of a tensor of that type from the file at `path`, and checks its digest; throws
// Error. Callers provide it.
using FileReader =
    std::function<Tensor<double>(const std::string& path, const std::string& sha256, DType dtype)>;

// True for a default spec of small integers, random_positions(V) or (8), with one letter or digit:
// indices of rows of a table or of experts, and zero points. A random case draws no larger ones.
inline bool IsSmallInteger(std::string_view drawn) {
  const size_t limit = drawn.find('(') + 1;
  return drawn.starts_with("random_positions(") && drawn.size() - limit <= 2;
}

// The inputs of a case in the order of its signature. Throws Error if a given value does not fit
// the tensor's dtype or shape.
Tensors DrawInputs(const Case& c, const FileReader& read_file = nullptr);
// The same, stored.
StoredTensors DrawStored(const Case& c, const FileReader& read_file = nullptr);

// True if every slice of the case reads the whole input.
bool IsShared(const Case& c, const TensorSpec& input);

// The same, drawn when and where they are read: for cases that do not fit into memory. What every
// slice of the case reads is kept, as are numbers of lists and of files.
class DrawnInputs {
 public:
  explicit DrawnInputs(const Case& c, const FileReader& read_file = nullptr);
  const TensorReaders& readers() const { return readers_; }

 private:
  std::vector<std::unique_ptr<const TensorSource>> drawn_;
  std::vector<std::unique_ptr<const StoredTensor>> kept_;
  TensorReaders readers_;
};

// Throws Error where DrawInputs does, but draws only the inputs that may not fit.
void CheckFit(const Case& c, const FileReader& read_file = nullptr);

// True if another seed draws other inputs.
bool DependsOnSeed(const Case& c);

// The number of numbers in a list; empty for a distribution or a file.
std::optional<size_t> CountOfSpec(std::string_view spec);

// Throws Error if the spec of the input cannot fill its tensor.
void CheckSpec(const Case& c, const TensorSpec& input);

}  // namespace sextant
