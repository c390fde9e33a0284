#include "backend/linux/explain_judge.h"

#include <sys/socket.h>

#include <utility>

#include "base/paths.h"
#include "base/shell_word.h"
#include "plan/grants.h"

namespace cordon::linux_backend {
namespace {

using plan::View;
using State = InsideFile::State;

constexpr int kLandlockRefusesUnixConnect = 9;
constexpr const char* kOwn = "this place is made for the sandbox";

struct Remedy {
  std::string allow{};
  std::string reason{};
  std::optional<Grant> grant{};
  std::optional<Network> network{};
};

// Of "grant read of /sys: /sys is never shown: leave this grant out" what is in the middle.
std::string heart_of(const std::string& message) {
  const std::size_t begin = message.find(": ");
  const std::size_t end = message.rfind(": ");
  if (begin == std::string::npos || begin == end) return message;
  return message.substr(begin + 2, end - begin - 2);
}

// The option for this grant, unless no plan takes it.
Remedy granting(Grant grant, bool world_readable = true) {
  if (grant.target.empty()) grant.target = grant.source;
  Request request;
  request.grants = {grant};
  const auto views = plan::granted_views(request);
  if (!views) return {.reason = heart_of(views.error().message)};
  if (grant.kind == Grant::Kind::tmpfs) {
    return {.allow = "--tmpfs " + base::shell_word(grant.target), .grant = grant};
  }
  const bool write = grant.kind == Grant::Kind::write;
  Remedy remedy{.grant = grant};
  if (grant.source == grant.target) {
    remedy.allow = (write ? "--write " : "--read ") + base::shell_word(grant.source);
  } else {
    const bool colon = (grant.source + grant.target).find(':') != std::string::npos;
    if (colon) return {.reason = "a path with a colon cannot be named by --bind"};
    remedy.allow =
        "--bind " + base::shell_word(grant.source + ":" + grant.target + (write ? "" : ":ro"));
  }
  if (!views->front().granted && !world_readable) {
    remedy.reason = "its own permissions hold, too";
  }
  return remedy;
}

// The view that shows this place; the innermost wins.
const View* view_of(const std::vector<View>& views, std::string_view path) {
  const View* found = nullptr;
  for (const View& view : views) {
    if (!base::at_or_below(path, view.target)) continue;
    if (found == nullptr || view.target.size() >= found->target.size()) found = &view;
  }
  return found;
}

// Of a place that a bind shows.
std::string host_path(const View& view, std::string_view path) {
  if (path == view.target) return view.source;
  const std::string_view rest = path.substr(view.target == "/" ? 0 : view.target.size());
  return view.source == "/" ? std::string(rest) : view.source + std::string(rest);
}

std::string access_of(Use use) {
  switch (use) {
    case Use::look:
    case Use::read:
      return "read";
    case Use::execute:
      return "execute";
    default:
      return "write";
  }
}

class Judge {
 public:
  Judge(const PathAttempt& attempt, const Surroundings& around, const HostLookup& host)
      : attempt_(attempt), around_(around), host_(host), path_(lexically_normal(attempt.path)) {}

  [[nodiscard]] std::optional<Denial> decide() const {
    // The sandbox's processes have numbers that others have on the host.
    if (base::at_or_below(path_, "/proc")) return std::nullopt;
    switch (attempt_.use) {
      case Use::look:
      case Use::read:
      case Use::execute:
        return attempt_.inside.state == State::absent ? hidden(Grant::Kind::read) : std::nullopt;
      case Use::write:
        return writing();
      case Use::create:
        return attempt_.inside.state == State::absent ? changing() : writing();
      case Use::make:
      case Use::make_directory:
        return attempt_.inside.state == State::absent ? changing() : std::nullopt;
      case Use::replace:
        return attempt_.inside.state == State::unknown ? std::nullopt : changing();
      case Use::remove:
        if (attempt_.inside.state == State::absent) return hidden(Grant::Kind::write);
        return attempt_.inside.state == State::present ? changing() : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // It is not there inside.
  [[nodiscard]] std::optional<Denial> hidden(Grant::Kind kind) const {
    const View* view = view_of(around_.views, path_);
    const bool bind = view != nullptr && view->kind == View::Kind::bind;
    const HostFile found = host_(bind ? host_path(*view, path_) : path_);
    if (!found.exists) return std::nullopt;
    Grant grant{.kind = kind, .source = path_, .target = path_};
    if (bind) {
      // Present where the view comes from: it has come there just now, or a mount hides it. What a
      // link leads out of the view to is another thing.
      if (base::at_or_below(found.path, view->source)) return std::nullopt;
      grant.source = grant.target = found.path;
    }
    return denial(granting(std::move(grant), found.world_readable));
  }

  [[nodiscard]] std::optional<Denial> writing() const {
    if (attempt_.inside.state == State::absent) return hidden(Grant::Kind::write);
    if (attempt_.inside.state == State::unknown) return std::nullopt;
    return changed_at(attempt_.inside.path);
  }

  // Something is to appear in, or to go from, the directory that it is in.
  [[nodiscard]] std::optional<Denial> changing() const {
    if (attempt_.parent.state == State::unknown) return std::nullopt;
    const bool directory = attempt_.use == Use::make_directory;
    if (attempt_.parent.state == State::present) {
      const std::string& parent = attempt_.parent.path;
      if (directory && view_of(around_.views, parent) == nullptr) {
        return denial(granting({.kind = Grant::Kind::tmpfs, .source = {}, .target = path_}));
      }
      return changed_at(parent);
    }
    const std::string parent = parent_of(path_);
    const HostFile found = host_(parent);
    if (!found.exists) return std::nullopt;
    return denial(granting({.kind = Grant::Kind::write, .source = parent, .target = parent}));
  }

  [[nodiscard]] std::optional<Denial> changed_at(const std::string& place) const {
    const View* view = view_of(around_.views, place);
    if (view == nullptr) return denial({.reason = kOwn});
    switch (view->kind) {
      case View::Kind::proc:
      case View::Kind::devpts:
      case View::Kind::device:
        return std::nullopt;
      case View::Kind::bind:
        if (view->writable) return std::nullopt;
        return denial(granting(
            {.kind = Grant::Kind::write, .source = host_path(*view, place), .target = place}));
      case View::Kind::tmpfs:
        if (view->writable) return std::nullopt;
        break;
      case View::Kind::file:
      case View::Kind::secrets:
      case View::Kind::symlink:
        break;
    }
    return denial({.reason = kOwn});
  }

  [[nodiscard]] Denial denial(Remedy remedy) const {
    const bool exec = attempt_.use == Use::execute;
    return {.kind = exec ? Denial::Kind::exec : Denial::Kind::path,
            .what = path_,
            .access = access_of(attempt_.use),
            .allow = std::move(remedy.allow),
            .reason = std::move(remedy.reason),
            .grant = std::move(remedy.grant)};
  }

  const PathAttempt& attempt_;
  const Surroundings& around_;
  const HostLookup& host_;
  const std::string path_;
};

Denial refused_socket(const SocketAttempt& attempt, Remedy remedy) {
  return {.kind = Denial::Kind::connect,
          .what = attempt.address,
          .access = attempt.send ? "send" : "connect",
          .allow = std::move(remedy.allow),
          .reason = std::move(remedy.reason),
          .network = remedy.network};
}

std::optional<Denial> judge_internet(const SocketAttempt& attempt, Network network) {
  if (network == Network::none) {
    if (!attempt.loopback)
      return refused_socket(attempt, {.allow = "--net host", .network = Network::host});
    return refused_socket(attempt, {.allow = "--net loopback",
                                    .reason = "a loopback of its own; the host's needs --net host",
                                    .network = Network::loopback});
  }
  if (network == Network::loopback && !attempt.loopback) {
    return refused_socket(attempt, {.allow = "--net host", .network = Network::host});
  }
  return std::nullopt;
}

std::optional<Denial> judge_unix(const SocketAttempt& attempt, const Surroundings& around,
                                 const HostLookup& host) {
  // An abstract one: who has it, is not to be found out.
  if (!attempt.address.starts_with('/')) return std::nullopt;
  const bool fenced = around.landlock_abi >= kLandlockRefusesUnixConnect;
  const Remedy never{.reason = "no sandbox reaches a socket of the host"};
  if (attempt.inside.state == State::present) {
    const View* view = view_of(around.views, attempt.inside.path);
    const bool of_host = view != nullptr && view->kind == View::Kind::bind;
    return fenced && of_host ? std::optional(refused_socket(attempt, never)) : std::nullopt;
  }
  if (attempt.inside.state == State::unknown) return std::nullopt;
  const std::string path = lexically_normal(attempt.address);
  const View* view = view_of(around.views, path);
  if (view != nullptr && view->kind == View::Kind::bind) return std::nullopt;
  if (!host(path).exists) return std::nullopt;
  if (fenced) return refused_socket(attempt, never);
  return refused_socket(attempt, granting({.kind = Grant::Kind::read, .source = path}));
}

}  // namespace

std::optional<Denial> judge(const PathAttempt& attempt, const Surroundings& around,
                            const HostLookup& host) {
  return Judge(attempt, around, host).decide();
}

std::optional<Denial> judge(const SocketAttempt& attempt, const Surroundings& around,
                            const HostLookup& host) {
  switch (attempt.family) {
    case AF_INET:
    case AF_INET6:
      return judge_internet(attempt, around.network);
    case AF_UNIX:
      return judge_unix(attempt, around, host);
    default:
      return std::nullopt;
  }
}

std::string lexically_normal(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      out.resize(out.empty() ? 0 : out.rfind('/'));
    } else {
      out += '/';
      out += part;
    }
  }
  return out.empty() ? "/" : out;
}

std::string parent_of(std::string_view normal) {
  const std::size_t slash = normal.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(normal.substr(0, slash));
}

}  // namespace cordon::linux_backend
