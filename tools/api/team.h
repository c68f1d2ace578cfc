// The processes that write one golden together.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sextant::tools {

// This process alone, unless a program makes it one of several (tools/mpi).
class Team {
 public:
  virtual ~Team() = default;
  virtual size_t rank() const { return 0; }
  virtual size_t size() const { return 1; }
  // The next of `count` pieces of work that no process has taken, in their order.
  virtual std::optional<size_t> Next(size_t count) {
    return next_ < count ? std::optional(next_++) : std::nullopt;
  }
  // Returns when all processes have called it.
  virtual void Wait() {}
  // The sums over all processes, for the first of them.
  virtual std::vector<size_t> Sum(std::vector<size_t> own) { return own; }

 private:
  size_t next_ = 0;
};

}  // namespace sextant::tools
