// What every function of the C library does: nothing is thrown into the caller.
#pragma once

#include <cfenv>
#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "reference/base/error.h"
#include "reference/number/exact/interval_caches.h"
#include "tools/c/options.h"
#include "tools/c/scoped_floating_point.h"

namespace sextant::tools {

// Thrown where an implementation of the caller that was asked has failed. Not an Error: searches go
// on after those.
class NoAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

const char* LastError();                           // of this thread
int Failed(int status, const char* why) noexcept;  // keeps the reason and returns the status

// Runs `work`; every exception becomes a status and the error of this thread. `work` may take the
// floating-point environment of the caller.
template <class Work>
int Guarded(const Work& work) noexcept {
  try {
    const ScopedFloatingPoint standard;
    FreeMpfrCachesAtThreadExit();
    if constexpr (std::is_invocable_v<Work, const std::fenv_t&>) {
      work(standard.others());
    } else {
      work();
    }
    return SEXTANT_OK;
  } catch (const Error& e) {
    return Failed(SEXTANT_INVALID, e.what());
  } catch (const NoAnswer& e) {
    return Failed(SEXTANT_NO_ANSWER, e.what());
  } catch (const Cancelled&) {
    return Failed(SEXTANT_CANCELLED, "cancelled");
  } catch (const std::bad_alloc&) {
    return Failed(SEXTANT_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return Failed(SEXTANT_INTERNAL, e.what());
  } catch (...) {
    return Failed(SEXTANT_INTERNAL, "unknown exception");
  }
}

template <class T>
void RequirePointer(const T* pointer, const char* argument) {
  if (!pointer) throw Error("argument ", argument, " is a null pointer");
}

}  // namespace sextant::tools
