// A client's file: what can be wrapped is unwrapped to the very same bytes, and is not wrapped
// twice.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mcp/source/jsonc.h"
#include "mcp/source/wrap_config.h"

namespace {

using namespace cordon;

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const mcp::WrapAsk ask{.cordon = "/usr/bin/cordon", .run_options = {"--net", "host"}};
  const auto wrapped = mcp::wrap_config(text, "f", ask);
  if (!wrapped) return 0;
  (void)mcp::diff_of(text, wrapped->edits, "f");
  const std::string after = mcp::apply_edits(text, wrapped->edits);
  check(mcp::parse_jsonc(after).has_value());
  const auto again = mcp::wrap_config(after, "f", ask);
  check(again && again->edits.empty());
  // What was wrapped before is somebody else's to unwrap.
  if (text.contains("--wrapped") || text.contains("\\u")) return 0;
  const auto back = mcp::unwrap_config(after, "f", {});
  check(back && mcp::apply_edits(after, back->edits) == text);
  return 0;
}
