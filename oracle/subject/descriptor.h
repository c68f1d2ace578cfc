// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace sextant::oracle {

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

  int get() const { return fd_; }  // -1 once closed; poll() then passes over it
  bool open() const { return fd_ >= 0; }
  void Close() {
    if (open()) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace sextant::oracle
