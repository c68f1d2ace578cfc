// RAII wrappers of file descriptors and pipes.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "reference/base/error.h"

namespace sextant {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  int get() const { return fd_; }  // -1 once closed; poll() ignores -1
  bool open() const { return fd_ >= 0; }
  void Close() {
    if (open()) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// A pipe whose ends are close-on-exec (O_CLOEXEC). Throws Error if the system cannot create it.
struct Pipe {
  Descriptor read, write;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error("cannot make a pipe: ", std::strerror(errno));
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

}  // namespace sextant
