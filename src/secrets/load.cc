#include "secrets/load.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/fd.h"
#include "base/locked_bytes.h"
#include "base/printable.h"
#include "base/trust.h"
#include "secrets/command_source.h"
#include "secrets/read_secret.h"

namespace cordon::secrets {
namespace {

using base::fail;
using base::fail_os;
using base::LockedBytes;

constexpr const char* kStage = "secret";

// Whoever else may read or change the file knows the secret, or chooses it.
Result<void> check_file(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument, kStage, "is not a regular file: for a pipe use fd:N");
  }
  if (!base::owner_is_trusted(info)) {
    return fail(ErrorCode::invalid_argument, kStage,
                "belongs to another user (uid " + std::to_string(info.st_uid) +
                    "): it must be yours or root's");
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return fail(ErrorCode::invalid_argument, kStage,
                "is open to others: chmod 600 " + base::printable(path));
  }
  return {};
}

Result<LockedBytes> read_file(const std::string& path) {
  // Non-blocking, so that a pipe of that name does not hold us up.
  const base::Fd file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    if (errno == ELOOP) {
      return fail(ErrorCode::invalid_argument, kStage, "is a symbolic link: name the file itself");
    }
    return fail_os(kStage, errno, "cannot be opened");
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail_os(kStage, errno, "cannot be looked at");
  if (auto good = check_file(info, path); !good) return std::unexpected(std::move(good.error()));
  return read_secret(file.get(), nullptr);
}

Result<LockedBytes> read_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) {
    return fail(ErrorCode::not_found, kStage, "there is no such variable here: set it");
  }
  return LockedBytes::copy_of(value);
}

// The kernel shows the original place of a variable in /proc/self/environ, also when it is unset.
void wipe_variable(const std::string& name) {
  char* const value = std::getenv(name.c_str());
  if (value == nullptr) return;
  ::explicit_bzero(value, std::strlen(value));
  (void)::unsetenv(name.c_str());
}

Result<LockedBytes> read_descriptor(int fd) {
  auto bytes = read_secret(fd, nullptr);
  if (fd > STDERR_FILENO) (void)::close(fd);
  return bytes;
}

Result<LockedBytes> read(const Source& source) {
  switch (source.kind) {
    case Source::Kind::file:
      return read_file(source.place);
    case Source::Kind::variable:
      return read_variable(source.place);
    case Source::Kind::descriptor:
      return read_descriptor(source.descriptor);
    case Source::Kind::command:
      return read_from_command(source.argv);
  }
  return fail(ErrorCode::unsupported, kStage, "is of no known kind");
}

// Whatever happened, it did not happen to the program that is to be run.
Error about(const Ask& ask, Error error) {
  error.stage = kStage;
  if (error.code == ErrorCode::not_executable) error.code = ErrorCode::system;
  error.message = "secret " + ask.name + ": " + describe(ask.source) + " " + error.message;
  return error;
}

Result<Secret> load_one(const Ask& ask) {
  if (!valid_secret_name(ask.name)) {
    return fail(ErrorCode::invalid_argument, kStage,
                "secret name \"" + base::printable(ask.name) +
                    "\" is not valid: it must be letters, digits and _, not beginning with a "
                    "digit");
  }
  auto bytes = read(ask.source);
  if (!bytes) return std::unexpected(about(ask, std::move(bytes.error())));
  const auto refuse = [&](const char* why) {
    return std::unexpected(about(ask, {ErrorCode::invalid_argument, kStage, 0, why}));
  };
  if (bytes->size() == 0) return refuse("is empty");
  if (bytes->size() > kMostSecretBytes) return refuse("has more than 65536 bytes");
  const bool nul = bytes->view().find('\0') != std::string_view::npos;
  if (nul && ask.delivery == Secret::Delivery::env) {
    return refuse("has a NUL byte, which no variable can hold: deliver it by as=fd or as=file");
  }
  return Secret{
      .name = ask.name, .value = SecretValue(std::move(*bytes)), .delivery = ask.delivery};
}

}  // namespace

Result<std::vector<Secret>> load(std::span<const Ask> asks) {
  std::vector<Secret> secrets;
  secrets.reserve(asks.size());
  for (const Ask& ask : asks) {
    auto secret = load_one(ask);
    if (!secret) return std::unexpected(std::move(secret.error()));
    secrets.push_back(std::move(*secret));
  }
  // Two secrets may come from one variable.
  for (const Ask& ask : asks) {
    if (ask.source.kind == Source::Kind::variable) wipe_variable(ask.source.place);
  }
  return secrets;
}

}  // namespace cordon::secrets
