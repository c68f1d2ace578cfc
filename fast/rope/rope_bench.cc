// Speed of `rope` with every scaling of frequencies. All scalings use the same rotation kernel;
// they differ in the numbers of the table and in the time to compute the R/2 frequencies. Counters,
// for a table of 4096 positions:
//   plain_ratio   rotation of x: time with the table of scaling none / time with this one
//   memcpy_ratio  the same rotation: time of glibc's memcpy of the same bytes / its time
//   table_ratio   frequencies and table: time for scaling none / time for this one
#include <string>
#include <vector>

#include "fast/kernel/kernel_bench.h"
#include "fast/rope/rope.h"

namespace sextant::fast {
namespace {

constexpr size_t kPairs = 64, kPositions = 4096, kHeads = 8, kRows = 32;  // x and y: 256 KiB of f32

std::string List(double first) {
  std::vector<double> list(kPairs, first);
  return PrintValue(list);
}

const std::pair<std::string, std::string> kScalings[] = {
    {"none", "none"},
    {"linear", "linear(factor=4)"},
    {"ntk", "ntk(factor=4)"},
    {"ntk_mixed", "ntk_mixed(factor=4,mixed_b=0.625)"},
    {"dynamic", "dynamic(factor=4,max_position_embeddings=2048)"},
    {"yarn", "yarn(factor=4,original_max_position_embeddings=2048)"},
    {"longrope", "longrope(short_factor=" + List(1.5) + ",long_factor=" + List(4) +
                     ",original_max_position_embeddings=2048,factor=4)"},
    {"llama3", "llama3(factor=8)"},
    {"proportional", "proportional(partial_rotary_factor=0.5)"},
    {"explicit", "explicit(inv_freq=" + List(0.125) + ",attention_factor=1.5)"}};

struct Table {
  explicit Table(const std::string& scaling) {
    op.seq_len = kPositions;
    op.R = {2 * kPairs};
    ParseValue(scaling, op.scaling);
    for (size_t p = 0; p < kPositions; ++p) position.push_back(static_cast<double>(p));
    Fill();
  }
  void Fill() {
    const Frequencies frequencies = ScaledFrequencies(op);
    FillTable<float>(position, frequencies.of_pair, frequencies.amplitude, cosine.get(),
                     sine.get());
    benchmark::ClobberMemory();
  }
  // The last rows, where the angles are large.
  RotaryTable<float> Rows() const {
    const size_t first = (kPositions - kRows) * kPairs;
    const auto step = static_cast<ptrdiff_t>(kPairs);
    return {cosine.get() + first, sine.get() + first, 0, step};
  }
  RopeFrequencies op;
  std::vector<double> position;
  SkewedArray<float> cosine{kPositions * kPairs}, sine{kPositions * kPairs, 2112};
};

template <class T>
void RopeBench(benchmark::State& state, const std::string& scaling) {
  const Rotation r{.H = kHeads, .S = kRows, .D = 2 * kPairs, .R = 2 * kPairs};
  const size_t count = r.H * r.S * r.D;
  const SkewedArray<T> x(count), y(count, 1024);
  Table plain("none"), own(scaling);
  const auto with = [&](const Table& table) {
    return [&, rows = table.Rows()] {
      const Heads<T> from = Dense(r, x.get());
      Rotate<T, float>(r, {from.data, from.batch, from.head, from.row}, rows, Dense(r, y.get()));
      benchmark::ClobberMemory();
    };
  };
  const auto rotate = with(own);
  state.counters["plain_ratio"] = RatioOf(with(plain), rotate, 300);
  state.counters["memcpy_ratio"] = MemcpyRatio(x.get(), y.get(), count * sizeof(T), rotate);
  state.counters["table_ratio"] = RatioOf([&] { plain.Fill(); }, [&] { own.Fill(); }, 3);
  for (auto _ : state) rotate();
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * count));
}

// Registers one benchmark per scaling and dtype.
[[maybe_unused]] const bool kRegistered = [] {
  for (const auto& [name, scaling] : kScalings) {
    const std::string text = scaling;
    benchmark::RegisterBenchmark(("RopeOfScaling/f32/" + name).c_str(), [text](auto& state) {
      RopeBench<float>(state, text);
    })->Iterations(1000);
    benchmark::RegisterBenchmark(("RopeOfScaling/bf16/" + name).c_str(), [text](auto& state) {
      RopeBench<BF16>(state, text);
    })->Iterations(1000);
  }
  return true;
}();

}  // namespace
}  // namespace sextant::fast
