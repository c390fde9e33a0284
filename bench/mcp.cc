// MCP: what a call of a tool costs through `cordon mcp run` and `cordon mcp serve`, in turns with
// the server's own pipes and with other bridges (supergateway and mcp-proxy from npm); what the
// sandbox adds to a server's start; what the bridge holds; and many sessions at once.
// BENCH_SAMPLES: calls of each (2000); a hundredth as many starts. BENCH_CALLS: before the bridge's
// memory is looked at (100000). BENCH_SESSIONS: at once (1000).
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "mcp/contenders.h"
#include "mcp/peer.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr double kMilli = 1e3;
constexpr double kMostForRun = 1.1;
constexpr double kMostToSupergateway = 0.5;
constexpr double kMostToPipes = 2;
constexpr double kMostForStart = 1.1;
constexpr double kMostMegabytes = 25;

std::size_t number_from(const char* name, std::size_t otherwise) {
  const char* const asked = std::getenv(name);
  const std::size_t number = asked == nullptr ? otherwise : std::strtoul(asked, nullptr, 10);
  if (number == 0) give_up(fmt::format("{} is not a number: {}", name, asked));
  return number;
}

std::string milliseconds(double seconds) { return fmt::format("{:.3f} ms", seconds * kMilli); }

Figure compared(const Contender& one, const Contender& other, double quantile) {
  const double measured = one.samples.quantile(quantile);
  const double baseline = other.samples.quantile(quantile);
  return {.name = fmt::format("mcp: echo, {}, {}", one.name, quantile < 0.9 ? "p50" : "p99"),
          .measured = milliseconds(measured),
          .baseline = milliseconds(baseline),
          .ratio = measured / baseline,
          .samples = one.samples.size()};
}

void with_goal(Figure figure, std::string goal, double most) {
  figure.goal = std::move(goal);
  figure.met = figure.ratio <= most;
  report(figure);
}

void report_calls(const std::vector<Contender>& all) {
  const Contender& direct = all[0];
  const Contender& run = all[1];
  const Contender& serve = all[2];
  const Contender& supergateway = all[3];
  const Contender& http = all[5];
  with_goal(compared(run, direct, 0.5), fmt::format("≤ {} × direct pipes", kMostForRun),
            kMostForRun);
  report(compared(run, direct, 0.99));
  with_goal(compared(serve, supergateway, 0.5),
            fmt::format("≤ {} × supergateway", kMostToSupergateway), kMostToSupergateway);
  report(compared(serve, supergateway, 0.99));
  const double allowed = kMostToPipes * direct.samples.p50() + http.samples.p50();
  Figure sum = compared(serve, direct, 0.5);
  sum.name += ", to pipes and HTTP";
  sum.baseline = milliseconds(allowed);
  sum.ratio = serve.samples.p50() / allowed;
  with_goal(sum, "≤ 2 × direct pipes + HTTP", 1);
  for (std::size_t i = 2; i < all.size(); ++i) {
    report(compared(all[i], direct, 0.5));
    report(compared(all[i], direct, 0.99));
  }
}

void measure_calls(std::size_t samples) {
  const McpServer server = server_everything();
  const std::uint16_t ours = free_port();
  const std::uint16_t gateway = free_port();
  const std::uint16_t proxy = free_port();
  std::vector<Contender> all;
  all.push_back(piped("direct pipes", server.command));
  all.push_back(piped("cordon mcp run", under_run(server)));
  all.push_back(served("cordon mcp serve", under_serve(server, ours), ours, kServePath));
  all.push_back(served("supergateway", under_supergateway(server, gateway), gateway, kPeerPath));
  all.push_back(served("mcp-proxy", under_mcp_proxy(server, proxy), proxy, kPeerPath));
  all.push_back(bare_http());
  measure(all, samples);
  report_calls(all);
}

// The same with a server that takes no time: what is between alone.
void measure_fast_calls(std::size_t samples) {
  const McpServer server = fast_server();
  const std::uint16_t port = free_port();
  std::vector<Contender> all;
  all.push_back(piped("direct pipes", server.command));
  all.push_back(piped("cordon mcp run, a server that answers at once", under_run(server)));
  all.push_back(served("cordon mcp serve, a server that answers at once", under_serve(server, port),
                       port, kServePath));
  measure(all, samples);
  for (std::size_t i = 1; i < all.size(); ++i) report(compared(all[i], all[0], 0.5));
}

void measure_starts(std::size_t samples) {
  const McpServer server = server_everything();
  Samples direct;
  Samples sandboxed;
  const auto start = [](const std::vector<std::string>& command, Samples& into) {
    double taken = 0;
    const auto begin = std::chrono::steady_clock::now();
    PipedServer one(command);
    one.ask(kInitialize, R"("protocolVersion")");
    taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    into.add(taken);
  };
  interleave(
      samples, 1, [&] { start(server.command, direct); },
      [&] { start(under_run(server), sandboxed); });
  with_goal({.name = "mcp: start to the answer to initialize, p50",
             .measured = milliseconds(sandboxed.p50()),
             .baseline = milliseconds(direct.p50()),
             .ratio = sandboxed.p50() / direct.p50(),
             .samples = sandboxed.size()},
            fmt::format("≤ {} × unsandboxed", kMostForStart), kMostForStart);
}

void measure_memory(std::size_t calls) {
  const std::uint16_t port = free_port();
  const Background bridge(under_serve(fast_server(), port));
  auto opened = HttpSession::open(port, kServePath);
  if (!opened) give_up("cordon mcp serve does not take a session");
  HttpSession& session = *opened;
  session.call();
  const double before = bridge.resident_megabytes();
  const double taken = seconds([&] {
    for (std::size_t i = 0; i < calls; ++i) session.call();
  });
  const double after = bridge.resident_megabytes();
  report({.name = fmt::format("mcp: memory of the bridge after {} calls", calls),
          .goal = fmt::format("≤ {} MB", kMostMegabytes),
          .measured = fmt::format("{:.1f} MB", after),
          .baseline = fmt::format("{:.1f} MB after one", before),
          .ratio = after / before,
          .samples = 1,
          .met = after <= kMostMegabytes});
  report({.name = "mcp: calls a second, one after the other",
          .measured = fmt::format("{:.0f}", static_cast<double>(calls) / taken),
          .samples = calls});
}

void measure_sessions(std::size_t count) {
  const std::uint16_t port = free_port();
  const Background bridge(
      under_serve(fast_server(), port, {"--max-sessions", std::to_string(count)}));
  std::vector<HttpSession> sessions;
  sessions.reserve(count);
  const double opened = seconds([&] {
    while (sessions.size() < count) {
      auto one = HttpSession::open(port, kServePath);
      if (!one) break;
      sessions.push_back(*std::move(one));
    }
  });
  const double called = seconds([&] {
    for (HttpSession& one : sessions) one.begin_call();
    for (HttpSession& one : sessions) one.end_call();
  });
  report({.name = fmt::format("mcp: a call in each of {} sessions at once", count),
          .goal = "all open, all answered",
          .measured = milliseconds(called),
          .baseline = fmt::format("{:.1f} s to open {}", opened, sessions.size()),
          .samples = sessions.size(),
          .met = sessions.size() == count});
  report({.name = fmt::format("mcp: memory of the bridge with {} sessions", count),
          .measured = fmt::format("{:.1f} MB", bridge.resident_megabytes()),
          .samples = 1});
}

// A session takes some fifteen descriptors of the bridge's, which inherits this.
void allow_many_files() {
  constexpr rlim_t kEnough = 65536;
  const rlimit wanted{.rlim_cur = kEnough, .rlim_max = kEnough};
  if (::setrlimit(RLIMIT_NOFILE, &wanted) == 0) return;
  rlimit allowed{};
  (void)::getrlimit(RLIMIT_NOFILE, &allowed);
  allowed.rlim_cur = allowed.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &allowed);
  fmt::print(stderr, "bench: {} open files allowed: fewer sessions may be possible\n",
             allowed.rlim_max);
}

}  // namespace

int main() {
  const std::size_t samples = number_from("BENCH_SAMPLES", 2000);
  const std::size_t calls = number_from("BENCH_CALLS", 100'000);
  const std::size_t sessions = number_from("BENCH_SESSIONS", 1000);
  reduce_environment();
  allow_many_files();
  measure_calls(samples);
  measure_fast_calls(samples);
  measure_starts(std::max<std::size_t>(samples / 100, 3));
  measure_memory(calls);
  measure_sessions(sessions);
}
