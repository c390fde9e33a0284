#include "base/cache_directory.h"

namespace cordon::base {

std::string cache_directory(std::uint32_t uid, std::string_view xdg_cache_home,
                            std::string_view home) {
  if (uid == 0) return "/var/cache/cordon";
  if (xdg_cache_home.starts_with('/')) return std::string(xdg_cache_home) + "/cordon";
  if (home.starts_with('/')) return std::string(home) + "/.cache/cordon";
  return {};
}

}  // namespace cordon::base
