// What arrives on the socket of a pool: a request, an outcome, or anything at all. Whatever is
// taken for one says, written again, what was read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pool_messages.h"

namespace {

template <typename T>
void read_and_write(std::string_view bytes) {
  const auto value = cordon::app::pool::from_bytes<T>(bytes);
  if (value && cordon::app::pool::to_bytes(*value) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_and_write<cordon::Request>(bytes);
  read_and_write<cordon::Outcome>(bytes);
  read_and_write<cordon::app::pool::Reserve>(bytes);
  read_and_write<cordon::app::pool::Signal>(bytes);
  return 0;
}
