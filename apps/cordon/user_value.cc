#include "user_value.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <vector>

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

// Calls one of the get…_r functions with ever more room, until there is enough.
template <typename Entry, typename Call>
std::optional<Entry> look_up(Call call) {
  constexpr std::size_t kFirst = 4096;
  constexpr std::size_t kMost = 1024 * 1024;
  for (std::vector<char> room(kFirst); room.size() <= kMost; room.resize(room.size() * 4)) {
    Entry entry{};
    Entry* found = nullptr;
    const int error = call(&entry, room.data(), room.size(), &found);
    if (error == ERANGE) continue;
    // Only the numbers are used: the texts are gone with the room.
    if (error == 0 && found != nullptr) return entry;
    return std::nullopt;
  }
  return std::nullopt;
}

Result<User> parse_name(std::string_view text) {
  const std::string name(text);
  if (!is_number(text)) {
    const auto entry = look_up<passwd>([&](passwd* e, char* room, std::size_t size, passwd** f) {
      return ::getpwnam_r(name.c_str(), e, room, size, f);
    });
    if (!entry) return bad_value(text, "is no user here: give a name of /etc/passwd or a uid");
    return User{.uid = entry->pw_uid, .gid = entry->pw_gid};
  }
  const auto uid = parse_id(text);
  if (!uid) return std::unexpected(uid.error());
  const auto entry = look_up<passwd>([&](passwd* e, char* room, std::size_t size, passwd** f) {
    return ::getpwuid_r(*uid, e, room, size, f);
  });
  return User{.uid = *uid, .gid = entry ? entry->pw_gid : *uid};
}

Result<std::uint32_t> parse_group(std::string_view text) {
  if (is_number(text)) return parse_id(text);
  const std::string name(text);
  const auto entry = look_up<group>([&](group* e, char* room, std::size_t size, group** f) {
    return ::getgrnam_r(name.c_str(), e, room, size, f);
  });
  if (!entry) return bad_value(text, "is no group here: give a name of /etc/group or a gid");
  return entry->gr_gid;
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
