// Equal bits that people promise of a kernel: a row has the same bits whatever is computed beside
// it, before it or at another time. Not a property of right answers: rounding may differ.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::oracle {

struct BitwisePromise {
  std::string_view name, sentence;
};
inline constexpr std::array<BitwisePromise, 6> kBitwisePromises = {{
    {"run", "the same question has the same bits again, and in a new process"},
    {"batch", "a row has the same bits beside other rows"},
    {"batch_size", "a row has the same bits in a batch of another size"},
    {"keys", "a query has the same bits without the keys that it does not see"},
    {"decode", "a query has the same bits alone as in the prefill"},
    {"threads", "the same question has the same bits on one processor"},
}};
const BitwisePromise* FindPromise(std::string_view name);
// Throws Error that names the promises that exist, if one of these does not.
void RequirePromises(const std::vector<std::string>& names);

}  // namespace sextant::oracle
