#include "backend/linux/secret_parts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "backend/posix/secret_files.h"

namespace cordon::linux_backend {
namespace {

using Delivery = Secret::Delivery;

std::uint64_t end_of(const std::vector<SecretRange>& ranges) {
  return ranges.empty() ? 0 : ranges.back().offset + ranges.back().size;
}

// Views into `heads` and the request's values: nothing is copied.
Result<base::Fd> open_variables(const Request& request, std::vector<SecretRange>& entries) {
  std::vector<std::string> heads;
  heads.reserve(request.secrets.size());
  std::vector<std::string_view> parts;
  for (const Secret& secret : request.secrets) {
    if (secret.delivery != Delivery::env) continue;
    heads.push_back(secret.name + "=");
    const std::uint64_t size = heads.back().size() + secret.value.size() + 1;
    entries.push_back({.name = secret.name, .offset = end_of(entries), .size = size});
    parts.insert(parts.end(), {heads.back(), secret.value.reveal(), std::string_view("\0", 1)});
  }
  if (parts.empty()) return base::Fd();
  return posix::sealed_file(parts);
}

Result<base::Fd> open_files(const Request& request, std::vector<SecretRange>& contents) {
  std::vector<std::string_view> parts;
  for (const Secret& secret : request.secrets) {
    if (secret.delivery != Delivery::file) continue;
    contents.push_back(
        {.name = secret.name, .offset = end_of(contents), .size = secret.value.size()});
    parts.push_back(secret.value.reveal());
  }
  if (parts.empty()) return base::Fd();
  return posix::sealed_file(parts);
}

}  // namespace

Result<SecretParts> open_secrets(const Request& request) {
  SecretParts parts;
  auto descriptors = posix::secret_descriptors(request);
  if (!descriptors) return std::unexpected(std::move(descriptors.error()));
  parts.descriptors = std::move(*descriptors);
  auto variables = open_variables(request, parts.entries);
  if (!variables) return std::unexpected(std::move(variables.error()));
  parts.variables = std::move(*variables);
  auto files = open_files(request, parts.contents);
  if (!files) return std::unexpected(std::move(files.error()));
  parts.files = std::move(*files);
  return parts;
}

bool has_secret_files(const Request& request) {
  return std::ranges::any_of(
      request.secrets, [](const Secret& secret) { return secret.delivery == Delivery::file; });
}

SecretFiles::SecretFiles(ScriptBuilder& script, const SecretParts& parts)
    : script_(script), parts_(parts) {
  if (parts.files) files_ = script.send_fd(parts.files.get());
}

void SecretFiles::write(Register mount) const {
  for (const SecretRange& content : parts_.contents) {
    script_.about("secrets", content.name);
    const Register file = script_.call_into(
        __NR_openat, {mount, script_.text(content.name),
                      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400});
    script_.op(spawner::Op::copy, {file, files_, content.offset, content.size});
    script_.close(file);
  }
}

SecretSteps::SecretSteps(ScriptBuilder& letter, const SecretParts& parts)
    : letter_(letter), parts_(parts) {
  for (const base::Fd& fd : parts.descriptors) (void)letter.send_fd(fd.get());
  if (parts.variables) variables_ = letter.send_fd(parts.variables.get());
}

void SecretSteps::map_variables() const {
  if (variables_ < 0) return;
  letter_.about("secrets", "variables");
  letter_.call(__NR_mmap, {spawner::kSecrets, end_of(parts_.entries), PROT_READ,
                           MAP_PRIVATE | MAP_FIXED_NOREPLACE, variables_, 0});
  letter_.call(__NR_close, {variables_});
}

std::vector<std::uint64_t> SecretSteps::variable_addresses() const {
  std::vector<std::uint64_t> all;
  all.reserve(parts_.entries.size());
  for (const SecretRange& entry : parts_.entries) all.push_back(spawner::kSecrets + entry.offset);
  return all;
}

}  // namespace cordon::linux_backend
