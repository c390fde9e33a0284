// Who is who on this host: what /etc/passwd and /etc/group say, and where they say nothing, what
// the host's other directories of users say, by `getent`. Not by getpwnam() and its kin: these load
// shared libraries, for which a statically linked program has to be the host's exact match.
// All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::execution {

struct Account {
  std::string name{};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;  // the group that belongs to the user
  std::string home{};
};

struct AccountGroup {
  std::string name{};
  std::uint32_t gid = 0;
};

// Where it is looked up; tests have others.
struct AccountSources {
  const char* users = "/etc/passwd";
  const char* groups = "/etc/group";
  const char* getent = "/usr/bin/getent";
};

// Nothing: the host knows no such user or group.
[[nodiscard]] std::optional<Account> find_account(std::string_view name,
                                                  const AccountSources& sources = {});
[[nodiscard]] std::optional<Account> find_account(std::uint32_t uid,
                                                  const AccountSources& sources = {});
[[nodiscard]] std::optional<AccountGroup> find_group(std::string_view name,
                                                     const AccountSources& sources = {});
[[nodiscard]] std::optional<AccountGroup> find_group(std::uint32_t gid,
                                                     const AccountSources& sources = {});

// The first of such lines that is whole and is about `name`, or about that id.
[[nodiscard]] std::optional<Account> account_in(std::string_view text, std::string_view name);
[[nodiscard]] std::optional<Account> account_in(std::string_view text, std::uint32_t uid);
[[nodiscard]] std::optional<AccountGroup> group_in(std::string_view text, std::string_view name);
[[nodiscard]] std::optional<AccountGroup> group_in(std::string_view text, std::uint32_t gid);

}  // namespace cordon::execution
