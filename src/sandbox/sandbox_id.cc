#include "sandbox/sandbox_id.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/errors.h"
#include "base/printable.h"
#include "cordon/sandbox.h"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kStage = "sandbox_id";

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_allowed(char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }

std::string lower(std::string_view text) {
  std::string made(text);
  constexpr char kToLower = 'a' - 'A';
  for (char& c : made) {
    if (is_upper(c)) c = static_cast<char>(c + kToLower);
  }
  return made;
}

std::unexpected<Error> refuse(std::string_view id, std::string_view why) {
  constexpr std::size_t kShown = 80;
  std::string shown = base::printable(id.substr(0, kShown));
  if (id.size() > kShown) shown += "…";
  return base::fail(ErrorCode::invalid_argument, kStage,
                    "\"" + shown + "\" cannot name a sandbox: " + std::string(why));
}

}  // namespace

Result<std::string> new_container_id() {
  constexpr std::size_t kBytes = 16;
  std::array<unsigned char, kBytes> bytes{};
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return base::fail_os(kStage, errno, "cannot get random bytes for a container id");
    filled += static_cast<std::size_t>(got);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr unsigned kNibble = 4;
  constexpr unsigned kLow = 0xf;
  std::string id = "c";
  for (const unsigned byte : bytes) {
    id += kDigits[byte >> kNibble];
    id += kDigits[byte & kLow];
  }
  return id;
}

}  // namespace cordon::sandbox

namespace cordon {

Result<void> validate_sandbox_id(std::string_view id) {
  using namespace sandbox;  // NOLINT(google-build-using-namespace): this file is that folder's
  if (id.empty()) return refuse(id, "it is empty");
  if (id.size() > kLongestId) {
    return refuse(id, "it has " + std::to_string(id.size()) + " bytes, and " +
                          std::to_string(kLongestId) + " are the most");
  }
  const std::string in_lower_case = lower(id);
  const bool otherwise_right = std::ranges::all_of(in_lower_case, is_allowed);
  if (otherwise_right && std::ranges::any_of(id, is_upper)) {
    return refuse(id, "ids have no capital letters, so that no two differ only in case; use \"" +
                          in_lower_case + "\"");
  }
  if (id.find('/') != std::string_view::npos || id == "." || id == "..") {
    return refuse(id, "it is a name, not a path: use a-z, 0-9, \".\", \"_\" and \"-\"");
  }
  if (!otherwise_right) return refuse(id, R"(use a-z, 0-9, ".", "_" and "-")");
  if (!is_letter_or_digit(id.front())) return refuse(id, "begin it with a letter or digit");
  return {};
}

}  // namespace cordon
