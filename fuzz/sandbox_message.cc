// What arrives on the socket of a sandbox's supervisor, or of a command that asks it: any message,
// or anything at all. Whatever is taken for one says, written again, what was read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sandbox_messages.h"

namespace {

namespace sandbox = cordon::app::sandbox;

template <typename... T>
void read_and_write(std::string_view bytes) {
  const auto one = [&]<typename One>(const One& /*type*/) {
    const auto value = sandbox::from_bytes<One>(bytes);
    if (value && sandbox::to_bytes(*value) != bytes) std::abort();
  };
  (one(T{}), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_and_write<sandbox::Hello, sandbox::Size, sandbox::Exec, sandbox::Connect,
                 sandbox::Checkpoint, sandbox::Started, sandbox::Output, sandbox::Row,
                 sandbox::Listed, sandbox::Progress, sandbox::Signal, sandbox::Stop>(bytes);
  return 0;
}
