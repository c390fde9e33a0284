#include "backend/gvisor/runsc.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/stream_parser.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "backend/gvisor/command.h"
#include "base/errors.h"
#include "base/printable.h"
#include "base/trust.h"

namespace cordon::gvisor_backend {
namespace {

constexpr const char* kStage = "runsc";
constexpr std::string_view kUsualPath = "/usr/local/bin:/usr/bin:/bin";

std::unexpected<Error> unsupported(std::string message) {
  return base::fail(ErrorCode::unsupported, kStage, std::move(message));
}

enum class Found : std::uint8_t { no, untrusted, yes };

Found look_at(const std::string& directory, const std::string& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
      ::access(file.c_str(), X_OK) != 0) {
    return Found::no;
  }
  struct stat above{};
  const bool trusted = base::owner_is_trusted(info) && !base::others_may_write(info) &&
                       ::stat(directory.c_str(), &above) == 0 && base::owner_is_trusted(above) &&
                       !base::others_may_write(above);
  return trusted ? Found::yes : Found::untrusted;
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

// One object of the log that is an error.
std::optional<std::string> error_in(const boost::json::value& entry) {
  const auto* object = entry.if_object();
  if (object == nullptr) return std::nullopt;
  const auto* level = object->if_contains("level");
  const auto* message = object->if_contains("msg");
  if (level == nullptr || message == nullptr || !message->is_string()) return std::nullopt;
  if (!level->is_string() || level->get_string() != "error") return std::nullopt;
  return std::string(message->get_string());
}

}  // namespace

std::vector<std::string> Runsc::command(const std::string& state, const std::string& log) const {
  std::vector<std::string> words{path,
                                 "--root=" + state,
                                 "--log=" + log,
                                 "--log-format=json",
                                 "--network=none",
                                 "--ignore-cgroups"};
  if (!platform.empty()) words.push_back("--platform=" + platform);
  if (rootless) words.emplace_back("--rootless");
  if (filters) words.emplace_back("--oci-seccomp");
  return words;
}

Result<std::string> find_binary(std::string_view path) {
  std::string refused;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string directory(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!directory.starts_with('/')) continue;
    const std::string file = directory + "/runsc";
    const Found found = look_at(directory, file);
    if (found == Found::yes) return file;
    if (found == Found::untrusted && refused.empty()) refused = file;
  }
  if (!refused.empty()) {
    return unsupported(
        refused +
        " is not used, because others than root and the caller could replace it: "
        "take the right to write from them, or install it by `apt-get install runsc`");
  }
  return unsupported("gVisor's runsc was not found in PATH: install it by `apt-get install runsc`");
}

std::string parse_version(std::string_view text) {
  constexpr std::string_view kBegin = "runsc version ";
  if (!text.starts_with(kBegin)) return {};
  text.remove_prefix(kBegin.size());
  return trimmed(text.substr(0, text.find('\n')));
}

std::string choose_platform(std::string_view flags) {
  // ptrace needs nothing of the host; kvm needs a device, and hangs where that is emulated.
  const std::size_t begin = flags.find("-platform string");
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = flags.substr(begin);
  const std::size_t end = rest.find("\n  -");
  return rest.substr(0, end).find("ptrace") != std::string_view::npos ? "ptrace" : "";
}

std::string last_error(std::string_view log, std::string_view err) {
  std::string last;
  boost::system::error_code failed;
  while (!log.empty()) {
    boost::json::stream_parser parser;
    const std::size_t used = parser.write_some(log.data(), log.size(), failed);
    if (failed || !parser.done()) break;
    if (auto message = error_in(parser.release())) last = *std::move(message);
    log.remove_prefix(used);
    log.remove_prefix(std::min(log.find_first_not_of(" \r\n"), log.size()));
  }
  if (last.empty()) {
    last = trimmed(err);
    if (const auto line = last.rfind('\n'); line != std::string::npos) last.erase(0, line + 1);
  }
  constexpr std::size_t kLongest = 2000;
  if (last.size() > kLongest) last.resize(kLongest);
  return base::printable(last);
}

Result<Runsc> find_runsc() {
  using namespace std::chrono_literals;
  constexpr Duration kPatience = 20s;
  const char* const path = std::getenv("PATH");
  auto binary = find_binary(path != nullptr ? path : kUsualPath);
  if (!binary) return std::unexpected(std::move(binary.error()));

  Runsc runsc{.path = *std::move(binary), .rootless = ::geteuid() != 0};
  auto version = run({runsc.path, "--version"}, kPatience);
  if (!version) return std::unexpected(std::move(version.error()));
  runsc.version = parse_version(version->out);
  if (runsc.version.empty()) {
    return unsupported(runsc.path +
                       " does not say which version of runsc it is: install gVisor's by "
                       "`apt-get install runsc`");
  }
  auto flags = run({runsc.path, "flags"}, kPatience);
  if (!flags) return std::unexpected(std::move(flags.error()));
  const std::string told = flags->out + flags->err;
  runsc.platform = choose_platform(told);
  runsc.filters = told.find("-oci-seccomp") != std::string::npos;
  return runsc;
}

}  // namespace cordon::gvisor_backend
