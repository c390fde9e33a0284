#include "backend/posix/secret_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/errors.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace cordon::posix {
namespace {

using Delivery = Secret::Delivery;

constexpr const char* kStage = "secrets";
constexpr const char* kName = "cordon-secret";

base::Fd make_file() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  base::Fd file(::memfd_create(kName, kFlags | MFD_NOEXEC_SEAL));
  if (!file && errno == EINVAL) file = base::Fd(::memfd_create(kName, kFlags));
  return file;
}

}  // namespace

Result<base::Fd> sealed_file(std::span<const std::string_view> parts) {
  const auto failed = [] {
    return base::fail_os(kStage, errno, "making a file in memory for the program's secrets");
  };
  base::Fd file = make_file();
  if (!file) return failed();
  for (std::string_view rest : parts) {
    while (!rest.empty()) {
      const ssize_t n = ::write(file.get(), rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failed();
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return failed();
  }
  return file;
}

Result<std::vector<base::Fd>> secret_descriptors(const Request& request) {
  std::vector<base::Fd> files;
  for (const Secret& secret : request.secrets) {
    if (secret.delivery != Delivery::fd) continue;
    const std::array parts = {secret.value.reveal()};
    auto file = sealed_file(parts);
    if (!file) return std::unexpected(std::move(file.error()));
    files.push_back(std::move(*file));
  }
  return files;
}

Result<std::vector<base::LockedBytes>> secret_variables(const Request& request) {
  std::vector<base::LockedBytes> all;
  for (const Secret& secret : request.secrets) {
    if (secret.delivery != Delivery::env) continue;
    const std::string head = secret.name + "=";
    const std::string_view value = secret.value.reveal();
    auto entry = base::LockedBytes::make(head.size() + value.size() + 1);
    if (!entry) return std::unexpected(std::move(entry.error()));
    // The NUL at its end is there from the beginning.
    const auto behind = std::ranges::copy(head, entry->writable().begin()).out;
    std::ranges::copy(value, behind);
    all.push_back(std::move(*entry));
  }
  return all;
}

std::vector<std::string> secret_places(const Request& request, int first_descriptor) {
  std::vector<std::string> all;
  int next = first_descriptor;
  for (const Secret& secret : request.secrets) {
    if (secret.delivery == Delivery::fd) {
      all.push_back(secret.variable() + "=" + std::to_string(next++));
    } else if (secret.delivery == Delivery::file) {
      all.push_back(secret.variable() + "=" + secret.path());
    }
  }
  return all;
}

}  // namespace cordon::posix
