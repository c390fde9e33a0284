#include "mcp_serve.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "backend/posix/open_files.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "base/short_wait.h"
#include "concat.h"
#include "cordon/outcome.h"
#include "make_manager.h"
#include "mcp/bridge/bridge.h"
#include "mcp/http/front.h"
#include "mcp_serve_children.h"
#include "mcp_serve_options.h"
#include "message.h"
#include "outcome/decide.h"
#include "service_signals.h"

namespace cordon::app {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto kLastAnswers = std::chrono::milliseconds(500);
constexpr std::uint64_t kManyFiles = 65536;  // of clients and of processes
constexpr auto kBetweenLooks = std::chrono::milliseconds(5);

// What a name is in a URL.
std::string in_path(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string url_of(const mcp::HttpAddress& address, std::string_view name) {
  if (!address.path.empty()) return fmt::format("http://localhost/{}/mcp", in_path(name));
  const bool six = address.host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(six ? "http://[{}]:{}/{}/mcp" : "http://{}:{}/{}/mcp"),
                     address.host, address.port, in_path(name));
}

class Service {
 public:
  explicit Service(ServeOptions options) : options_(std::move(options)) {}

  // To its end. Error: it could not begin.
  [[nodiscard]] Result<int> run();

 private:
  [[nodiscard]] Result<void> prepare();
  [[nodiscard]] std::vector<mcp::ServedServer> servers();
  [[nodiscard]] mcp::BridgeLimits limits() const;
  [[nodiscard]] Result<void> tell() const;
  void await_signal();
  void attend();
  void end();
  void await_last_answers(std::chrono::steady_clock::time_point until);

  ServeOptions options_;
  std::vector<std::unique_ptr<ServedChildren>> children_;
  base::Fd signals_;  // until the loop has them
  std::unique_ptr<Manager> manager_;
  asio::io_context loop_{1};
  std::optional<asio::posix::stream_descriptor> signal_;
  asio::steady_timer timer_{loop_};
  std::unique_ptr<asio::thread_pool> cleaning_;  // what takes the time of removing files
  std::optional<mcp::Bridge> bridge_;
  std::unique_ptr<mcp::HttpFront> front_;
  bool ending_ = false;
};

Result<void> Service::prepare() {
  if (!options_.token_file.empty()) {
    auto token = read_token(options_.token_file);
    if (!token) return std::unexpected(std::move(token.error()));
    options_.http.token = *std::move(token);
  }
  for (ServedProgram& program : options_.servers) {
    auto children = ServedChildren::prepare(std::move(program));
    if (!children) return std::unexpected(std::move(children.error()));
    children_.push_back(*std::move(children));
  }
  posix::allow_open_files(kManyFiles);
  auto signals = service::take_signals("mcp serve");
  if (!signals) return std::unexpected(std::move(signals.error()));
  signals_ = *std::move(signals);
  auto manager = make_manager(children_.front()->backend());
  if (!manager) return std::unexpected(std::move(manager.error()));
  manager_ = *std::move(manager);
  for (const auto& children : children_) {
    if (auto good = children->check(*manager_); !good) return good;
  }
  return {};
}

std::vector<mcp::ServedServer> Service::servers() {
  std::vector<mcp::ServedServer> served;
  for (const auto& each : children_) {
    ServedChildren* const children = each.get();
    served.push_back({.name = children->name(),
                      .make_child = [children] { return children->make(); },
                      .child_ended =
                          [this, children](const std::shared_ptr<Process>& process) {
                            asio::post(*cleaning_,
                                       [children, process] { children->ended(process); });
                          },
                      .make_gate = [children] { return children->make_gate(); },
                      .shared = options_.shared,
                      .spare = options_.spare});
  }
  return served;
}

mcp::BridgeLimits Service::limits() const {
  mcp::BridgeLimits limits;
  if (options_.idle != Duration{0}) limits.idle = options_.idle;
  limits.poll_after = options_.poll;
  if (options_.max_sessions != 0) limits.max_sessions = options_.max_sessions;
  limits.grace = children_.front()->grace();
  limits.client.json.max_bytes = options_.http.limits.body;
  return limits;
}

Result<void> Service::tell() const {
  std::string list;
  for (const mcp::HttpAddress& address : front_->addresses()) {
    for (const auto& children : children_) {
      const std::string url = url_of(address, children->name());
      const std::string on =
          address.path.empty() ? "" : concat(" on the socket ", base::printable(address.path));
      complain(concat("serving ", base::printable(children->name()), " at ", url, on));
      list += (list.empty() ? "" : ",") + base::JsonObject()
                                              .add("name", base::json_text(children->name()))
                                              .add("url", base::json_text(url))
                                              .add("socket", base::json_text_or_null(address.path))
                                              .str();
    }
  }
  if (options_.json) {
    const std::string line = base::JsonObject()
                                 .add("serving", concat("[", list, "]"))
                                 .add("pid", std::to_string(::getpid()))
                                 .str();
    if (print(line + "\n") != 0) {
      return std::unexpected(Error{.message = "where it serves could not be said on stdout"});
    }
  }
  return {};
}

void Service::await_signal() {
  signal_->async_wait(asio::posix::stream_descriptor::wait_read, [this](const error_code& error) {
    if (error) return;
    std::array<char, 128> taken{};
    while (::read(signal_->native_handle(), taken.data(), taken.size()) > 0) {
    }
    if (ending_) return loop_.stop();  // the second one: at once
    end();
    await_signal();
  });
}

void Service::end() {
  ending_ = true;
  front_->stop();
  bridge_->shutdown(
      [this] { await_last_answers(std::chrono::steady_clock::now() + kLastAnswers); });
}

// Those of the bridge's end are on their way.
void Service::await_last_answers(std::chrono::steady_clock::time_point until) {
  if (front_->connections() == 0 || std::chrono::steady_clock::now() >= until) return loop_.stop();
  timer_.expires_after(kBetweenLooks);
  timer_.async_wait([this, until](const error_code& error) {
    if (!error) await_last_answers(until);
  });
}

void Service::attend() {
  base::ShortWait wait;
  while (!loop_.stopped()) {
    wait.wait(
        [this] {
          const bool news = bridge_->look();
          return loop_.poll() > 0 || news || loop_.stopped();
        },
        [this] {
          bridge_->rest();
          loop_.run_one();
        });
  }
}

Result<int> Service::run() {
  if (auto ready = prepare(); !ready) return std::unexpected(std::move(ready.error()));
  cleaning_ = std::make_unique<asio::thread_pool>(1);
  signal_.emplace(loop_, signals_.release());
  bridge_.emplace(
      loop_, servers(), limits(),
      [unsaid = std::uint64_t{0}](std::string_view server, std::string_view line) mutable {
        // All servers share this thread: none may hold it up by what it says on stderr.
        if (unsaid > 0 && complain_unless_held_up(concat(
                              std::to_string(unsaid), " lines were not said: nobody read them"))) {
          unsaid = 0;
        }
        const std::string text = concat(base::printable(server), ": ", base::printable(line));
        if (unsaid > 0 || !complain_unless_held_up(text)) ++unsaid;
      });
  auto front = mcp::HttpFront::open(loop_, *bridge_, options_.http);
  if (!front) return std::unexpected(std::move(front.error()));
  front_ = *std::move(front);
  bridge_->warm_up();
  await_signal();
  if (auto told = tell(); !told) return std::unexpected(std::move(told.error()));
  attend();

  front_.reset();
  signal_.reset();
  bridge_.reset();
  cleaning_->join();
  manager_.reset();  // and with it whatever is still running
  bool complete = true;
  for (const auto& children : children_) complete = children->finish() && complete;
  return complete ? 0 : kOwnFailure;
}

}  // namespace

int mcp_serve(std::vector<std::string> arguments) {
  auto options = parse_serve_options(std::move(arguments));
  if (!options) {
    if (options.error().stage == "usage") {
      return usage_error(options.error().message, "cordon mcp serve --help");
    }
    complain(options.error().message);
    return kOwnFailure;
  }
  if (options->help) return print(serve_help());
  Service service(*std::move(options));
  const auto status = service.run();
  if (status) return *status;
  complain(status.error().message);
  return exit_status(outcome::failed_to_start(0, "", {}, status.error()));
}

}  // namespace cordon::app
