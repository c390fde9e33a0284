#include "execution/program_check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "backend/posix/lookup.h"
#include "base/errors.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/trust.h"
#include "execution/safe_open.h"

namespace cordon::execution {
namespace {

constexpr std::string_view kStage = "policy";
constexpr std::size_t kHead = 256;  // what the kernel looks at

std::unexpected<Error> refused(std::string message) {
  return base::fail(ErrorCode::not_permitted, kStage, std::move(message));
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

struct Content {
  std::string head;
  std::string sha256;
};

// Reads the beginning, or for the digest all of it.
Result<Content> read_content(const FoundFile& found, bool digest) {
  auto file = open_regular(found);
  if (!file) {
    // What may be executed but not read is no script, for its interpreter could not read it either.
    if (!digest && file.error().os_error == EACCES) return Content{};
    return std::unexpected(std::move(file).error());
  }
  Content content;
  base::Sha256 hash;
  char part[65536];
  while (true) {
    const ssize_t size = ::read(file->get(), part, digest ? sizeof part : kHead);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return base::fail_os(kStage, errno, "reading " + base::printable(found.path));
    const std::string_view got(part, static_cast<std::size_t>(size));
    if (content.head.size() < kHead) content.head += got.substr(0, kHead - content.head.size());
    hash.add(got);
    if (size == 0 || (!digest && content.head.size() >= kHead)) break;
  }
  struct stat after{};
  if (::fstat(file->get(), &after) != 0 || after.st_size != found.info.st_size ||
      !same_time(after.st_mtim, found.info.st_mtim) ||
      !same_time(after.st_ctim, found.info.st_ctim)) {
    return refused(base::printable(found.path) + " was changed while it was looked at: try again");
  }
  if (digest) content.sha256 = base::to_hex(hash.finish());
  return content;
}

// By either name: one program can have many, and do what the name says.
bool is_env(const std::string& name, const std::string& path) {
  return std::filesystem::path(name).filename() == "env" ||
         std::filesystem::path(path).filename() == "env";
}

class Checker {
 public:
  Checker(const Request& request, std::string cwd, bool digests, bool by_name)
      : environment_(posix::environment_for(request)),
        cwd_(std::move(cwd)),
        digests_(digests),
        by_name_(by_name) {
    result_.request = request;
    result_.request.pins.clear();  // somebody else's could be anything
  }

  Result<CheckedPrograms> check() {
    Request& request = result_.request;
    std::string name = request.program;
    std::string argv0 = request.argv0.empty() ? request.program : request.argv0;
    std::vector<std::string> args = request.args;
    std::string role = "program";
    for (int depth = 0; depth <= kMostInterpreters; ++depth) {
      auto script = take(name, args, role);
      if (!script) return std::unexpected(std::move(script).error());
      const std::string path = result_.files.back().path;
      if (!*script) return finish(path, std::move(argv0), std::move(args));
      role = "interpreter";
      if (!(*script)->argument.empty()) args.insert(args.begin(), (*script)->argument);
      args.insert(args.begin() + ((*script)->argument.empty() ? 0 : 1), path);
      name = argv0 = (*script)->interpreter;
      env_name_.clear();
      if (!name.contains('/')) name.insert(0, "./");  // to the kernel it is relative
    }
    return refused("the script " + base::printable(request.program) +
                   " has an interpreter that is a script, and so on: name the last one");
  }

 private:
  // Looks at one file; what `env` would run instead is taken in the same step.
  Result<std::optional<ScriptLine>> take(const std::string& name, std::vector<std::string>& args,
                                         const std::string& role) {
    auto path = posix::find_program(name, environment_);
    if (!path) return std::unexpected(std::move(path).error());
    auto found = find_file(*path, cwd_);
    if (!found) {
      return std::unexpected(posix::explain_exec_failure(*path, cwd_, found.error().os_error));
    }
    if (!S_ISREG(found->info.st_mode)) {
      return std::unexpected(posix::explain_exec_failure(*path, cwd_, EACCES));
    }
    if (auto ok = check_writers(*found); !ok) return std::unexpected(std::move(ok).error());
    auto content = read_content(*found, digests_);
    if (!content) return std::unexpected(std::move(content).error());
    auto script = script_line(content->head);
    // Its interpreter is going to open it by its name, pin or no pin.
    if (script && *script) {
      auto ok = check_trusted(*found, "the script " + base::printable(found->path));
      if (!ok) return refused(ok.error().message);
    }
    result_.files.push_back({found->path, std::move(content->sha256), args, role});
    result_.request.pins.push_back({found->path, found->file.get()});
    result_.held.push_back(std::move(found->file));
    // As a script's interpreter, `env NAME` is a way to say NAME in PATH.
    if (role == "interpreter" && is_env(name, result_.files.back().path)) return through_env(args);
    return script;
  }

  Result<std::optional<ScriptLine>> through_env(std::vector<std::string>& args) {
    // At least the script's own path is there.
    const std::string name = args.front();
    if (args.size() < 2 || name.starts_with('-') || name.contains('=') || name.contains(' ')) {
      return refused("a script's #! line gives " + base::printable(result_.files.back().path) +
                     " more than a name (" + base::printable(name) +
                     "), so that it cannot be told what would run: write #!/usr/bin/env NAME");
    }
    args.erase(args.begin());
    env_name_ = name;
    auto script = take(name, args, "interpreter ");
    result_.files.back().role = "interpreter";
    return script;
  }

  [[nodiscard]] Result<void> check_writers(const FoundFile& found) const {
    const std::string name = base::printable(found.path);
    if (!base::owner_is_trusted(found.info) || base::others_may_write(found.info)) {
      return refused(name +
                     " could be changed by others than root and you after it was looked at: "
                     "have it owned by one of both, and chmod go-w it");
    }
    if (!by_name_) return {};
    auto ok = check_trusted(found, "the program " + name);
    if (!ok) return refused(ok.error().message);
    return {};
  }

  Result<CheckedPrograms> finish(const std::string& path, std::string argv0,
                                 std::vector<std::string> args) {
    Request& request = result_.request;
    request.program = path;
    request.argv0 = env_name_.empty() ? std::move(argv0) : env_name_;
    request.args = std::move(args);
    if (by_name_) {
      request.pins.clear();
      result_.held.clear();
    }
    return std::move(result_);
  }

  std::vector<std::string> environment_;
  std::string cwd_;
  bool digests_;
  bool by_name_;
  std::string env_name_;
  CheckedPrograms result_;
};

}  // namespace

Result<std::optional<ScriptLine>> script_line(std::string_view head) {
  if (!head.starts_with("#!")) return std::nullopt;
  const std::size_t end = head.find('\n');
  if (end == std::string_view::npos && head.size() >= kHead) {
    return refused("the #! line of a script is longer than 255 bytes: shorten it");
  }
  std::string_view line = head.substr(2, end == std::string_view::npos ? end : end - 2);
  if (line.find('\0') != std::string_view::npos) {
    return refused("the #! line of a script has a NUL byte: remove it");
  }
  const auto trimmed = [](std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return std::string_view();
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
  };
  line = trimmed(line);
  if (line.empty()) return refused("a script's #! line names no interpreter: add one");
  const std::size_t space = line.find_first_of(" \t");
  ScriptLine script{.interpreter = std::string(line.substr(0, space)), .argument = {}};
  if (space != std::string_view::npos) script.argument = trimmed(line.substr(space));
  return script;
}

Result<CheckedPrograms> check_programs(const Request& request, const std::string& cwd, bool digests,
                                       bool by_name) {
  return Checker(request, cwd, digests, by_name).check();
}

}  // namespace cordon::execution
