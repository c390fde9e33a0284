#include "audit/seal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/errors.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "base/trust.h"

namespace cordon::audit {
namespace {

constexpr std::size_t kShortestKey = 32;
constexpr std::size_t kLongestKey = 4096;

std::unexpected<Error> bad_key(ErrorCode code, const std::string& path, const std::string& why) {
  return base::fail(code, "audit", "cannot use the audit key " + path + ": " + why);
}

}  // namespace

Result<Sealer> Sealer::from_file(const std::string& path) {
  if (path.empty()) return Sealer();
  // Not blocked by a pipe that is called like a key.
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return base::fail_os("audit", errno, "cannot open the audit key " + path);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) {
    return base::fail_os("audit", errno, "cannot examine the audit key " + path);
  }
  if (!S_ISREG(info.st_mode)) {
    return bad_key(ErrorCode::invalid_argument, path, "it is not a regular file");
  }
  if (!base::owner_is_trusted(info)) {
    return bad_key(ErrorCode::not_permitted, path, "it belongs to somebody else");
  }
  if ((info.st_mode & 077) != 0) {
    return bad_key(ErrorCode::not_permitted, path,
                   "others may read or change it; make it its owner's alone (chmod 600)");
  }
  std::string key(kLongestKey + 1, '\0');
  const ssize_t got = ::read(file.get(), key.data(), key.size());
  if (got < 0) return base::fail_os("audit", errno, "cannot read the audit key " + path);
  key.resize(static_cast<std::size_t>(got));
  if (key.size() < kShortestKey || key.size() > kLongestKey) {
    return bad_key(ErrorCode::invalid_argument, path,
                   "a key has 32 to 4096 bytes (head -c 32 /dev/urandom makes one)");
  }
  return Sealer(std::move(key));
}

std::string Sealer::seal(std::string_view text) const {
  return base::to_hex(keyed() ? base::hmac_sha256(key_, text) : base::sha256(text));
}

std::string no_seal() { return std::string(kSealDigits, '0'); }

bool is_seal(std::string_view text) {
  return text.size() == kSealDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace cordon::audit
