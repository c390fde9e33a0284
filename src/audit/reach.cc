#include "audit/reach.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/errors.h"

namespace cordon::audit {
namespace {

// As the kernel would find it, as far as it is there.
std::optional<std::filesystem::path> real(const std::string& path) {
  std::error_code error;
  auto found = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  if (error) return std::nullopt;
  return found.has_filename() ? found : found.parent_path();
}

bool within(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

}  // namespace

const Grant* grant_that_reaches(const std::string& place, const Request& request) {
  for (const Grant& grant : request.grants) {
    if (grant.kind != Grant::Kind::write) continue;
    const auto found = real(place);
    const auto granted = real(grant.source);
    if (!found || !granted || within(*found, *granted) || within(*granted, *found)) return &grant;
  }
  return nullptr;
}

Result<void> check_out_of_reach(const std::string& directory, const Request& request) {
  const Grant* const grant = grant_that_reaches(directory, request);
  if (grant == nullptr) return {};
  return base::fail(ErrorCode::not_permitted, "audit",
                    "the program may write to " + grant->source +
                        " and so could change the audit log in " + directory +
                        "; put the log elsewhere");
}

}  // namespace cordon::audit
