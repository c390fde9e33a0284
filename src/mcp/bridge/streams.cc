#include "mcp/bridge/streams.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace cordon::mcp {
namespace {

std::string event_id(Streams::Number stream, std::uint64_t event) {
  return std::to_string(stream) + '-' + std::to_string(event);
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Streams::~Streams() { end(); }

Streams::Number Streams::open(std::shared_ptr<Reply> reply, Headers headers) {
  const Number number = ++last_;
  connect(number, streams_[number], std::move(reply), std::move(headers));
  return number;
}

bool Streams::open_standing(std::shared_ptr<Reply> reply, Headers headers) {
  Stream& standing = streams_[0];
  if (standing.reply) return false;
  const std::uint64_t shown = standing.shown;
  connect(0, standing, std::move(reply), std::move(headers));
  replay(0, standing, shown);
  return true;
}

Streams::Resumed Streams::resume(std::string_view last_event, std::shared_ptr<Reply> reply,
                                 Headers headers) {
  const std::size_t dash = last_event.find('-');
  if (dash == std::string_view::npos) return Resumed::unknown;
  const auto stream = number(last_event.substr(0, dash));
  const auto event = number(last_event.substr(dash + 1));
  if (!stream || !event) return Resumed::unknown;
  const auto found = streams_.find(*stream);
  if (found == streams_.end()) return *stream <= last_ ? Resumed::forgotten : Resumed::unknown;
  Stream& wanted = found->second;
  if (*event >= wanted.next) return Resumed::unknown;
  if (*event < wanted.lost) return Resumed::forgotten;
  // A connection that is still there is one whose client has lost it.
  disconnect(wanted);
  connect(*stream, wanted, std::move(reply), std::move(headers));
  replay(*stream, wanted, *event);
  if (wanted.finished) disconnect(wanted);
  return Resumed::yes;
}

void Streams::connect(Number number, Stream& stream, std::shared_ptr<Reply> reply,
                      Headers headers) {
  stream.reply = std::move(reply);
  stream.reply->begin_stream(std::move(headers));
  if (settings_.priming) prime(number, stream);
  stream.reply->when_gone([this, alive = std::weak_ptr(alive_), number, gone = stream.reply.get()] {
    if (alive.expired()) return;
    const auto found = streams_.find(number);
    if (found != streams_.end() && found->second.reply.get() == gone) {
      found->second.reply.reset();
    }
    forget(gone);
  });
}

void Streams::prime(Number number, Stream& stream) {
  stream.reply->send({.id = event_id(number, stream.next++),
                      .data = {},
                      .retry = settings_.retry,
                      .priming = true});
}

void Streams::replay(Number number, Stream& stream, std::uint64_t after) {
  for (const Kept& kept : kept_) {
    if (kept.stream == number && kept.event > after) put(number, stream, kept.event, kept.data);
  }
}

void Streams::put(Number number, Stream& stream, std::uint64_t event, const std::string& data) {
  if (!stream.reply) return;
  stream.shown = std::max(stream.shown, event);
  stream.reply->send({.id = event_id(number, event), .data = data, .retry = {}, .priming = false});
  if (stream.reply->pending() > settings_.pending) watch(stream.reply);
}

void Streams::watch(const std::shared_ptr<Reply>& reply) {
  if (!slow_.insert(reply.get()).second) return;
  if (slow_.size() == 1 && settings_.full) settings_.full();
  reply->when_drained([this, alive = std::weak_ptr(alive_), reply = reply.get()] {
    if (!alive.expired()) forget(reply);
  });
}

void Streams::forget(const Reply* reply) {
  if (slow_.erase(reply) > 0 && slow_.empty() && settings_.drained) settings_.drained();
}

void Streams::disconnect(Stream& stream) {
  if (!stream.reply) return;
  const auto reply = std::exchange(stream.reply, nullptr);
  reply->end_stream();
  forget(reply.get());
}

void Streams::send(Number number, std::string data) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  const std::uint64_t event = stream.next++;
  put(number, stream, event, data);
  ++stream.kept;
  kept_bytes_ += data.size();
  kept_.push_back({.stream = number, .event = event, .data = std::move(data)});
  trim();
}

void Streams::trim() {
  while (kept_bytes_ > settings_.keep && !kept_.empty()) {
    const Kept& oldest = kept_.front();
    kept_bytes_ -= oldest.data.size();
    Stream& stream = streams_[oldest.stream];
    stream.lost = oldest.event;
    if (--stream.kept == 0 && stream.finished) streams_.erase(oldest.stream);
    kept_.pop_front();
  }
}

void Streams::finish(Number number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  stream.finished = true;
  disconnect(stream);
  if (stream.kept == 0) streams_.erase(found);
}

void Streams::interrupt(Number number) {
  const auto found = streams_.find(number);
  if (found == streams_.end() || !found->second.reply) return;
  prime(number, found->second);
  disconnect(found->second);
}

void Streams::end() {
  for (auto& [number, stream] : streams_) disconnect(stream);
}

bool Streams::live(Number number) const {
  const auto found = streams_.find(number);
  return found != streams_.end() && found->second.reply;
}

bool Streams::any_live() const {
  return std::ranges::any_of(streams_,
                             [](const auto& entry) { return entry.second.reply != nullptr; });
}

}  // namespace cordon::mcp
