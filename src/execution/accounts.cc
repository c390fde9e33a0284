#include "execution/accounts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <vector>

#include "base/fd.h"
#include "cordon/manager.h"

namespace cordon::execution {
namespace {

// A directory of users may be on another machine.
constexpr Duration kPatience = std::chrono::seconds(30);

std::string read_from_start(const base::Fd& file) {
  std::string text;
  std::array<char, 16384> buffer;  // NOLINT(*-member-init): filled by the call
  while (file) {
    const ssize_t got =
        ::pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string text_of(const char* path) {
  return read_from_start(base::Fd(::open(path, O_RDONLY | O_CLOEXEC)));
}

// What getent says; empty if that is nothing.
std::string ask_host(const char* getent, const char* database, std::string key) {
  if (key.empty()) return {};
  const base::Fd answer(::memfd_create("cordon-getent", MFD_CLOEXEC));
  auto manager = posix_manager();
  if (!answer || !manager) return {};
  Request request;
  request.program = getent;
  request.args = {database, "--", std::move(key)};
  request.cwd = "/";
  request.out = Output::to_fd(answer.get());
  request.err = Output::discard();
  request.timeout = kPatience;
  const auto process = (*manager)->create(std::move(request));
  if (!process || !(*process)->start() || !(*process)->wait()) return {};
  return read_from_start(answer);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<std::uint32_t> id_of(std::string_view text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

// Comments, and what older systems include from elsewhere, name nobody.
bool is_name(std::string_view text) {
  return !text.empty() && std::string_view("#+-").find(text.front()) == std::string_view::npos;
}

// "name:password:uid:gid:comment:home:shell"
std::optional<Account> account_of(std::string_view line) {
  const auto fields = split(line, ':');
  if (fields.size() != 7 || !is_name(fields[0])) return std::nullopt;
  const auto uid = id_of(fields[2]);
  const auto gid = id_of(fields[3]);
  if (!uid || !gid) return std::nullopt;
  return Account{
      .name = std::string(fields[0]), .uid = *uid, .gid = *gid, .home = std::string(fields[5])};
}

// "name:password:gid:members"
std::optional<AccountGroup> group_of(std::string_view line) {
  const auto fields = split(line, ':');
  if (fields.size() != 4 || !is_name(fields[0])) return std::nullopt;
  const auto gid = id_of(fields[2]);
  if (!gid) return std::nullopt;
  return AccountGroup{.name = std::string(fields[0]), .gid = *gid};
}

template <typename Entry, typename Fits>
std::optional<Entry> first(std::string_view text, std::optional<Entry> (*read)(std::string_view),
                           Fits fits) {
  for (const std::string_view line : split(text, '\n')) {
    auto entry = read(line);
    if (entry && fits(*entry)) return entry;
  }
  return std::nullopt;
}

std::string key_of(std::string_view name) { return std::string(name); }
std::string key_of(std::uint32_t id) { return std::to_string(id); }

template <typename Key>
std::optional<Account> look_up_account(Key key, const AccountSources& sources) {
  if (auto found = account_in(text_of(sources.users), key)) return found;
  return account_in(ask_host(sources.getent, "passwd", key_of(key)), key);
}

template <typename Key>
std::optional<AccountGroup> look_up_group(Key key, const AccountSources& sources) {
  if (auto found = group_in(text_of(sources.groups), key)) return found;
  return group_in(ask_host(sources.getent, "group", key_of(key)), key);
}

}  // namespace

std::optional<Account> account_in(std::string_view text, std::string_view name) {
  return first(text, account_of, [&](const Account& account) { return account.name == name; });
}
std::optional<Account> account_in(std::string_view text, std::uint32_t uid) {
  return first(text, account_of, [&](const Account& account) { return account.uid == uid; });
}
std::optional<AccountGroup> group_in(std::string_view text, std::string_view name) {
  return first(text, group_of, [&](const AccountGroup& group) { return group.name == name; });
}
std::optional<AccountGroup> group_in(std::string_view text, std::uint32_t gid) {
  return first(text, group_of, [&](const AccountGroup& group) { return group.gid == gid; });
}

std::optional<Account> find_account(std::string_view name, const AccountSources& sources) {
  return look_up_account(name, sources);
}
std::optional<Account> find_account(std::uint32_t uid, const AccountSources& sources) {
  return look_up_account(uid, sources);
}
std::optional<AccountGroup> find_group(std::string_view name, const AccountSources& sources) {
  return look_up_group(name, sources);
}
std::optional<AccountGroup> find_group(std::uint32_t gid, const AccountSources& sources) {
  return look_up_group(gid, sources);
}

}  // namespace cordon::execution
