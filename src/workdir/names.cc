#include "workdir/names.h"

#include <algorithm>

#include "base/cache_directory.h"
#include "base/errors.h"
#include "base/printable.h"

namespace cordon::workdir {
namespace {

// Two of these, two dashes, twenty digits and ".kept" are below the 255 bytes of a file name.
constexpr std::size_t kLongest = 100;

std::unexpected<Error> bad(std::string_view what, std::string_view text, std::string_view why) {
  return base::fail(ErrorCode::invalid_argument, "workdir",
                    "the " + std::string(what) + " \"" + base::printable(text) +
                        "\" cannot name a work directory: " + std::string(why));
}

bool is_control(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte < 0x20 || byte == 0x7f;
}

Result<std::string> checked(std::string_view what, std::string_view text) {
  if (text.empty()) return bad(what, text, "it is empty");
  if (text.size() > kLongest) return bad(what, text, "it is longer than 100 bytes");
  if (std::ranges::any_of(text, is_control)) {
    return bad(what, text, "it contains a control character: leave that out");
  }
  if (("/" + std::string(text) + "/").find("/../") != std::string::npos) {
    return bad(what, text, "it contains \"..\": leave that out");
  }
  std::string name(text);
  std::ranges::replace(name, '/', '_');
  return name;
}

}  // namespace

Result<std::string> name_prefix(std::string_view name, std::string_view version) {
  auto first = checked("name", name);
  if (!first) return first;
  auto second = checked("version", version);
  if (!second) return second;
  return *first + "-" + *second + "-";
}

bool may_be_swept(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == name.size()) return false;
  return std::ranges::all_of(name.substr(dash + 1), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::string> cache_for(std::uint32_t uid, std::string_view xdg_cache_home,
                              std::string_view home) {
  if (auto cache = base::cache_directory(uid, xdg_cache_home, home); !cache.empty()) return cache;
  return base::fail(ErrorCode::not_found, "workdir",
                    "there is no place for work directories, because HOME is not set: name one by "
                    "--cache DIR");
}

}  // namespace cordon::workdir
