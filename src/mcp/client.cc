#include "mcp/client.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/json_text.h"
#include "base/printable.h"

namespace cordon::mcp {
namespace {

constexpr std::string_view kModern = "2026-07-28";
constexpr std::string_view kNewestOld = "2025-11-25";
constexpr std::string_view kPrefix = "io.modelcontextprotocol/";
constexpr std::size_t kMostLog = 4096;
constexpr std::size_t kMostNoise = 200;
constexpr std::size_t kMostItems = 10'000;
constexpr std::size_t kMostToSend = 1000;
// How long one attempt to hand on may take: a server that does not read may want to be read first.
constexpr Duration kTurn = std::chrono::milliseconds(20);
constexpr MessageLimits kLimits{.json = {.max_bytes = std::size_t{16} << 20}, .max_batch = 1000};

std::string error_text(std::string_view error) {
  return base::printable(string_member(error, "message").value_or("")) + " (" +
         std::string(member(error, "code").value_or("")) + ")";
}

int code_of(std::string_view error) {
  const std::string code(member(error, "code").value_or("0"));
  return code.size() > 8 ? 0 : std::stoi(code);
}

bool has_element(std::string_view array, std::string_view text) {
  if (!is_array(array)) return false;
  Elements all(array);
  while (const auto each = all.next()) {
    if (is_string(*each) && unescaped(*each) == text) return true;
  }
  return false;
}

void read_identity(ServerFacts& facts, std::string_view result) {
  auto info = member(result, "serverInfo");
  if (!info) {
    const auto meta = member(result, "_meta");
    if (meta) info = member(*meta, std::string(kPrefix) + "serverInfo");
  }
  if (info) {
    facts.name = string_member(*info, "name").value_or("");
    facts.version = string_member(*info, "version").value_or("");
  }
  if (const auto all = member(result, "capabilities"); all && is_object(*all)) {
    facts.capabilities = *all;
  }
  facts.instructions = string_member(result, "instructions").value_or("");
}

}  // namespace

Client::Client(Process& process, EventStream& events, Clock& clock, ClientOptions options)
    : process_(process), events_(events), clock_(clock), options_(std::move(options)) {}

AskFailure Client::late(std::string_view method, Duration patience) const {
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  return {.kind = AskFailure::Kind::timed_out,
          .message = "the server did not answer " + std::string(method) + " within " +
                     std::to_string(waited) + " ms"};
}

AskFailure Client::gone(std::string_view method) const {
  return {.kind = AskFailure::Kind::ended,
          .message = (ended_ ? "the server ended before it answered "
                             : "the server closed its stdin before it read ") +
                     std::string(method)};
}

std::string Client::with_meta(std::string_view params) const {
  base::JsonObject info;
  info.add("name", base::json_text(options_.name));
  info.add("version", base::json_text(options_.version));
  base::JsonObject meta;
  meta.add(std::string(kPrefix) + "protocolVersion", base::json_text(kModern));
  meta.add(std::string(kPrefix) + "clientInfo", info.str());
  meta.add(std::string(kPrefix) + "clientCapabilities", "{}");
  const std::string own = "{\"_meta\":" + meta.str();
  const bool more = is_object(params) && Members(params).next().has_value();
  return more ? own + "," + std::string(params.substr(1)) : own + "}";
}

Asked<ServerFacts> Client::begin() {
  ServerFacts facts;
  modern_ = true;
  const auto found = ask_within("server/discover", {}, options_.probe);
  if (found && has_element(member(*found, "supportedVersions").value_or(""), kModern)) {
    facts.modern = true;
    facts.protocol = kModern;
    read_identity(facts, *found);
    return facts;
  }
  if (!found && found.error().kind == AskFailure::Kind::ended) {
    return std::unexpected(gone("initialize"));
  }
  modern_ = false;
  base::JsonObject info;
  info.add("name", base::json_text(options_.name));
  info.add("version", base::json_text(options_.version));
  base::JsonObject params;
  params.add("protocolVersion", base::json_text(kNewestOld)).add("capabilities", "{}");
  params.add("clientInfo", info.str());
  const auto greeted = ask("initialize", params.str());
  if (!greeted) return std::unexpected(greeted.error());
  const auto version = string_member(*greeted, "protocolVersion");
  if (!version) {
    return std::unexpected(AskFailure{.kind = AskFailure::Kind::wrong,
                                      .message = "the server's answer to initialize names no "
                                                 "protocolVersion"});
  }
  facts.protocol = *version;
  read_identity(facts, *greeted);
  tell(make_notification("notifications/initialized"));
  return facts;
}

Asked<std::string> Client::ask(std::string_view method, std::string_view params) {
  return ask_within(method, params, options_.patience);
}

Asked<std::string> Client::ask_within(std::string_view method, std::string_view params,
                                      Duration patience) {
  const TimePoint until = clock_.now() + patience;
  const Id id = Id::number(++last_id_);
  const std::string text =
      make_request(id, method, modern_ ? with_meta(params) : std::string(params));
  answer_.reset();
  waiting_ = id;
  const auto message = parse_one(text, kLimits);
  if (!message) {
    return std::unexpected(
        AskFailure{.kind = AskFailure::Kind::wrong, .message = message.error().message});
  }
  if (auto refused = options_.gate ? options_.gate->from_client(*message) : std::nullopt) {
    if (auto read = parse_one(*refused, kLimits)) answer_ = *std::move(read);
  } else if (auto sent = send(text, until, method); !sent) {
    if (sent.error().kind == AskFailure::Kind::timed_out) {
      return std::unexpected(late(method, patience));
    }
    while (!ended_ && look(until)) {  // it may be about to
    }
    return std::unexpected(gone(method));
  }
  while (!answer_) {
    if (ended_) return std::unexpected(gone(method));
    if (!look(until)) {
      waiting_.reset();
      if (method != "initialize") {
        tell(make_notification("notifications/cancelled", "{\"requestId\":" + id.json() + "}"));
      }
      return std::unexpected(late(method, patience));
    }
    send_answers(until);
  }
  waiting_.reset();
  if (answer_->kind() == Message::Kind::response) return std::string(answer_->result());
  return std::unexpected(
      AskFailure{.kind = AskFailure::Kind::answered,
                 .code = code_of(answer_->error()),
                 .message = std::string(method) + ": " + error_text(answer_->error())});
}

Asked<std::vector<std::string>> Client::list(std::string_view method, std::string_view key) {
  std::vector<std::string> items;
  std::set<std::string> cursors;
  std::string params;
  const auto wrong = [&](std::string what) {
    return std::unexpected(AskFailure{.kind = AskFailure::Kind::wrong,
                                      .message = std::string(method) + ": " + std::move(what)});
  };
  for (;;) {
    const auto page = ask(method, params);
    if (!page) return std::unexpected(page.error());
    const auto array = member(*page, key);
    if (!array || !is_array(*array)) return wrong("the answer has no list " + std::string(key));
    Elements all(*array);
    while (const auto each = all.next()) {
      if (items.size() == kMostItems) return wrong("the list does not end");
      items.emplace_back(*each);
    }
    const auto cursor = member(*page, "nextCursor");
    if (!cursor || !is_string(*cursor)) return items;
    if (!cursors.emplace(*cursor).second || cursors.size() > kMostItems) {
      return wrong("the list begins anew");
    }
    params = "{\"cursor\":" + std::string(*cursor) + "}";
  }
}

Asked<void> Client::send(const std::string& text, TimePoint until, std::string_view what) {
  std::string rest = one_line(text) + '\n';
  while (!rest.empty()) {
    const auto written = process_.write_stdin(rest, kTurn);
    if (!written) return std::unexpected(gone(what));
    rest.erase(0, *written);
    if (rest.empty()) break;
    // It may be waiting for us to read.
    const TimePoint now = clock_.now();
    if (now >= until) return std::unexpected(AskFailure{});
    (void)look(std::min(until, now + kTurn));
    if (ended_) return std::unexpected(gone(what));
  }
  return {};
}

// Whether it gets there or not is for the next question to notice.
void Client::tell(const std::string& text) {
  const auto message = parse_one(text, kLimits);
  if (!message || (options_.gate != nullptr && options_.gate->from_client(*message))) return;
  (void)send(text, clock_.now() + options_.probe, "a notification");
}

bool Client::look(TimePoint until) {
  const TimePoint now = clock_.now();
  if (now >= until) return false;
  auto event = events_.next_for(until - now);
  if (!event) return false;
  if (!*event || (*event)->kind == Event::Kind::exit) {
    ended_ = true;
    return true;
  }
  if ((*event)->kind == Event::Kind::out) {
    take_line(**event);
    return true;
  }
  log_ += (*event)->data.view();
  if (log_.size() > 2 * kMostLog) log_.erase(0, log_.size() - kMostLog);
  return true;
}

void Client::take_line(const Event& event) {
  const bool first = !in_long_line_;
  const bool part = event.partial || in_long_line_;
  in_long_line_ = event.partial;
  const std::string_view line = event.data.view();
  if (line.empty()) return;
  if (!part) {
    const auto parsed = parse(line, kLimits);
    const bool messages = parsed && std::ranges::all_of(parsed->messages, [](const auto& each) {
                            return each.has_value();
                          });
    if (messages) {
      for (const auto& message : parsed->messages) take(*message);
      return;
    }
  }
  if (!first) return;
  ++noise_;
  if (first_noise_.empty()) first_noise_ = line.substr(0, kMostNoise);
}

void Client::take(const Message& message) {
  if (message.asks()) return answer(message);
  if (!message.answers() || !waiting_ || message.id() != waiting_ || answer_) return;
  auto other = options_.gate ? options_.gate->from_server(message) : std::nullopt;
  if (!other) {
    answer_ = message;
  } else if (auto read = parse_one(*other, kLimits)) {
    answer_ = *std::move(read);
  }
}

// A server that asks without end is not answered without end.
void Client::answer(const Message& request) {
  std::string text;
  if (request.method() == "ping") {
    text = make_response(*request.id(), "{}");
  } else if (request.method() == "roots/list") {
    text = make_response(*request.id(), "{\"roots\":[]}");
  } else {
    text = make_error(request.id(), kMethodNotFound, "this client cannot do that");
  }
  if (to_send_.size() < kMostToSend) to_send_.push_back(std::move(text));
}

// Not while something else is being sent: they would be in the middle of it.
void Client::send_answers(TimePoint until) {
  while (!to_send_.empty()) {
    const std::string text = std::move(to_send_.front());
    to_send_.pop_front();
    if (!send(text, until, "an answer")) to_send_.clear();
  }
}

void Client::end(Duration grace) {
  (void)process_.close_stdin();
  const TimePoint until = clock_.now() + grace;
  while (!ended_ && look(until)) {
  }
  if (ended_) return;
  (void)process_.terminate(grace);
  while (const auto event = events_.next()) {
    if (event->kind == Event::Kind::exit) break;
  }
}

}  // namespace cordon::mcp
