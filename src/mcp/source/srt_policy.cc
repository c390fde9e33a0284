#include "mcp/source/srt_policy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/paths.h"
#include "base/printable.h"
#include "mcp/source/json_reader.h"

namespace cordon::mcp {
namespace {

class Reader {
 public:
  Reader(std::string_view file, std::string_view home) : reader_(file, "sandbox"), home_(home) {}

  [[nodiscard]] Result<std::vector<Grant>> read(std::string_view text) {
    if (const auto whole = reader_.whole(text)) {
      const auto inner = reader_.object(*whole, "sandbox");  // VS Code's
      const JsonAt& top = inner ? *inner : *whole;
      // Which violations are not worth a report is nobody's business here.
      if (!inner)
        only(top, std::to_array<std::string_view>({"filesystem", "network", "ignoreViolations"}));
      if (inner) only(top, std::to_array<std::string_view>({"filesystem", "network"}));
      read_network(top);
      read_files(top);
    }
    if (auto finished = reader_.finish(); !finished) {
      return std::unexpected(std::move(finished.error()));
    }
    return std::move(grants_);
  }

 private:
  void unsupported(const std::string& place, std::string_view what) {
    reader_.wrong(place, what, ErrorCode::unsupported);
  }

  // What is not known may be something that has to be denied.
  void only(const JsonAt& at, std::span<const std::string_view> known) {
    for (const auto& member : *at.object) {
      if (std::ranges::find(known, std::string_view(member.key())) == known.end()) {
        unsupported(place_of(at, member.key()), "is not known, so that it cannot be kept");
      }
    }
  }

  void read_network(const JsonAt& top) {
    const auto network = reader_.object(top, "network");
    if (!network) return;
    only(*network, std::to_array<std::string_view>({"allowedDomains", "deniedDomains"}));
    if (!reader_.texts(*network, "allowedDomains").empty()) {
      unsupported("network.allowedDomains",
                  "names domains, which cannot be told apart: leave the list empty for no network, "
                  "or leave this file out and allow --net host");
    }
    (void)reader_.texts(*network, "deniedDomains");  // all of them are
  }

  void read_files(const JsonAt& top) {
    const auto files = reader_.object(top, "filesystem");
    if (!files) return;
    only(*files,
         std::to_array<std::string_view>({"denyRead", "allowRead", "allowWrite", "denyWrite"}));
    const auto may_read = paths(*files, "allowRead");
    const auto may_write = paths(*files, "allowWrite");
    for (const std::string& path : paths(*files, "denyRead")) {
      const bool shown = base::in_system_directory(path) || inside_any(path, may_read);
      if (shown || overlaps_any(path, may_write)) deny_inside(*files, "denyRead", path);
    }
    for (const std::string& path : paths(*files, "denyWrite")) {
      if (overlaps_any(path, may_write)) deny_inside(*files, "denyWrite", path);
    }
    for (const std::string& path : may_write) grants_.push_back(Grant::write(path));
    for (const std::string& path : may_read) {
      if (!inside_any(path, may_write)) grants_.push_back(Grant::read(path));
    }
  }

  void deny_inside(const JsonAt& files, std::string_view key, const std::string& path) {
    unsupported(place_of(files, key), "has \"" + base::printable(path) +
                                          "\", and something around it or in it is allowed: allow "
                                          "less instead");
  }

  [[nodiscard]] std::vector<std::string> paths(const JsonAt& files, std::string_view key) {
    std::vector<std::string> all;
    for (const std::string& text : reader_.texts(files, key)) {
      const std::string place = place_of(files, key);
      if (text.find_first_of("*?[{") != std::string::npos) {
        unsupported(place, "has a pattern, \"" + base::printable(text) + "\": name directories");
      }
      const bool below_home = text == "~" || text.starts_with("~/");
      const std::string full = below_home ? std::string(home_) + text.substr(1) : text;
      const auto path = base::normalise(full);
      if (path) {
        all.push_back(*path);
      } else {
        reader_.wrong(place, "has \"" + base::printable(text) +
                                 "\", which is no path in full: write it from / or ~ on");
      }
    }
    return all;
  }

  static bool inside_any(const std::string& path, const std::vector<std::string>& tops) {
    return std::ranges::any_of(
        tops, [&](const std::string& top) { return base::at_or_below(path, top); });
  }
  static bool overlaps_any(const std::string& path, const std::vector<std::string>& others) {
    return inside_any(path, others) || std::ranges::any_of(others, [&](const std::string& other) {
             return base::at_or_below(other, path);
           });
  }

  JsonReader reader_;
  std::string_view home_;
  std::vector<Grant> grants_{};
};

}  // namespace

Result<std::vector<Grant>> read_srt_policy(std::string_view text, std::string_view file,
                                           std::string_view home) {
  return Reader(file, home).read(text);
}

}  // namespace cordon::mcp
