#include "backend/gvisor/runsc.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/stream_parser.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "backend/gvisor/command.h"
#include "backend/gvisor/run_directory.h"
#include "backend/linux/probe_files.h"
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

std::string Runsc::no_checkpoint() const {
  if (!rootless) return {};
  return "runsc " + version + " restores sandboxes for root only, and this caller is not";
}

Result<std::string> find_binary(std::string_view path) {
  std::string refused;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string directory(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!directory.starts_with('/')) continue;
    std::string file = directory + "/runsc";
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

namespace {

// To ask it takes as long as a fifth of a run: the answers are kept beside the runs, in a directory
// that nobody else can write to, for this very file.
std::string identity_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {} {} {}.{} {}.{}", path, info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

// Four lines: which file, its version, its platform, whether it filters.
bool recall(Runsc& runsc, const std::string& identity) {
  const auto runs = directory_of_runs();
  const auto text =
      runs ? linux_backend::read_small_file((*runs + "/runsc").c_str()) : std::nullopt;
  if (!text || identity.empty()) return false;
  std::vector<std::string> lines;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  constexpr std::size_t kLines = 4;
  if (lines.size() != kLines || lines[0] != identity || lines[1].empty()) return false;
  runsc.version = lines[1];
  runsc.platform = lines[2];
  runsc.filters = lines[3] == "filters";
  return true;
}

// Whatever goes wrong here only costs time.
void remember(const Runsc& runsc, const std::string& identity) {
  const auto runs = directory_of_runs();
  if (!runs || identity.empty()) return;
  const std::string draft = fmt::format("{}/runsc.{}", *runs, ::getpid());
  std::ofstream(draft) << identity << '\n'
                       << runsc.version << '\n'
                       << runsc.platform << '\n'
                       << (runsc.filters ? "filters" : "") << '\n';
  if (std::rename(draft.c_str(), (*runs + "/runsc").c_str()) != 0) (void)::unlink(draft.c_str());
}

}  // namespace

Result<Runsc> find_runsc() {
  using namespace std::chrono_literals;
  constexpr Duration kPatience = 20s;
  const char* const path = std::getenv("PATH");
  auto binary = find_binary(path != nullptr ? path : kUsualPath);
  if (!binary) return std::unexpected(std::move(binary.error()));

  Runsc runsc{.path = *std::move(binary), .rootless = ::geteuid() != 0, .pins = ::geteuid() == 0};
  const std::string identity = identity_of(runsc.path);
  if (recall(runsc, identity)) return runsc;
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
  remember(runsc, identity);
  return runsc;
}

}  // namespace cordon::gvisor_backend
