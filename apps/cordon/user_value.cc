#include "user_value.h"

#include <charconv>
#include <limits>

#include "execution/accounts.h"
#include "option_values.h"

namespace cordon::app {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<std::uint32_t> parse_id(std::string_view text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), id);
  // The highest one means "no id" to the kernel.
  if (error != std::errc{} || end != text.end() ||
      id == std::numeric_limits<std::uint32_t>::max()) {
    return bad_value(text, "is too large for an id");
  }
  return id;
}

Result<User> parse_name(std::string_view text) {
  if (!is_number(text)) {
    const auto account = execution::find_account(text);
    if (!account) return bad_value(text, "is no user here: give a name of /etc/passwd or a uid");
    return User{.uid = account->uid, .gid = account->gid};
  }
  const auto uid = parse_id(text);
  if (!uid) return std::unexpected(uid.error());
  const auto account = execution::find_account(*uid);
  return User{.uid = *uid, .gid = account ? account->gid : *uid};
}

Result<std::uint32_t> parse_group(std::string_view text) {
  if (is_number(text)) return parse_id(text);
  const auto group = execution::find_group(text);
  if (!group) return bad_value(text, "is no group here: give a name of /etc/group or a gid");
  return group->gid;
}

}  // namespace

Result<User> parse_user(std::string_view text) {
  const std::size_t colon = text.find(':');
  auto user = parse_name(text.substr(0, colon));
  if (!user || colon == std::string_view::npos) return user;
  const auto gid = parse_group(text.substr(colon + 1));
  if (!gid) return std::unexpected(gid.error());
  user->gid = *gid;
  return user;
}

}  // namespace cordon::app
