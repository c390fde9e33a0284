#include "mcp/message.h"

#include <algorithm>
#include <utility>

#include "base/json_text.h"

namespace cordon::mcp {
namespace {

using base::json_text;
using base::JsonObject;

constexpr std::size_t kLongestId = 1024;

JsonObject begin_message() {
  JsonObject message;
  message.add("jsonrpc", "\"2.0\"");
  return message;
}

}  // namespace

Id Id::number(std::int64_t value) {
  const std::string text = std::to_string(value);
  return {text, text};
}

Id Id::text(std::string_view value) { return {json_text(value), "\"" + std::string(value)}; }

std::optional<Id> Id::read(std::string_view json) {
  if (json.size() > kLongestId) return std::nullopt;
  if (is_string(json)) return Id(std::string(json), "\"" + unescaped(json));
  if (!is_integer(json)) return std::nullopt;
  return Id(std::string(json), std::string(json == "-0" ? "0" : json));
}

std::string Message::with_id(const Id& id) const {
  std::string text;
  text.reserve(text_.size() + id.json().size());
  text.append(text_, 0, id_at_.begin);
  text += id.json();
  text.append(text_, id_at_.begin + id_at_.size);
  return text;
}

class MessageReader {
 public:
  [[nodiscard]] static std::expected<Message, Fault> read(std::string_view value) {
    return MessageReader(value).take();
  }

 private:
  explicit MessageReader(std::string_view value) : value_(value) {}

  [[nodiscard]] std::unexpected<Fault> wrong(std::string why) const {
    return std::unexpected(Fault{kInvalidRequest, std::move(why), message_.id_});
  }

  [[nodiscard]] Message::Span span_of(std::string_view part) const {
    return {static_cast<std::size_t>(part.data() - value_.data()), part.size()};
  }

  // Nothing yet is found wrong: the id is to be known before anything is answered.
  void look() {
    Members all(value_);
    while (const auto each = all.next()) {
      if (each->name == "jsonrpc") {
        version_ = each->value;
      } else if (each->name == "id") {
        id_ = each->value;
      } else if (each->name == "method") {
        method_ = each->value;
      } else if (each->name == "params") {
        params_ = each->value;
      } else if (each->name == "result") {
        result_ = each->value;
      } else if (each->name == "error") {
        error_ = each->value;
      }
    }
  }

  [[nodiscard]] std::expected<Message, Fault> take() {
    if (!is_object(value_)) return wrong("a message is a JSON object");
    look();
    if (id_) {
      message_.id_ = Id::read(*id_);
      message_.id_at_ = span_of(*id_);
    }
    if (version_ != "\"2.0\"") return wrong("\"jsonrpc\" is not \"2.0\"");
    if (id_ && !message_.id_ && !(is_null(*id_) && error_)) {
      return wrong("\"id\" is neither a string nor a whole number, or too long");
    }
    if (int{method_.has_value()} + int{result_.has_value()} + int{error_.has_value()} != 1) {
      return wrong("a message has one of \"method\", \"result\" and \"error\"");
    }
    if (auto judged = method_ ? take_call() : take_answer(); !judged) {
      return std::unexpected(std::move(judged.error()));
    }
    message_.text_ = std::string(value_);
    return std::move(message_);
  }

  [[nodiscard]] std::expected<void, Fault> take_call() {
    if (!is_string(*method_)) return wrong("\"method\" is not a string");
    message_.method_ = unescaped(*method_);
    if (params_ && !is_object(*params_)) return wrong("\"params\" is not an object");
    if (params_) message_.params_ = span_of(*params_);
    message_.kind_ = id_ ? Message::Kind::request : Message::Kind::notification;
    return {};
  }

  [[nodiscard]] std::expected<void, Fault> take_answer() {
    if (params_) return wrong("an answer has no \"params\"");
    if (result_) {
      if (!id_) return wrong("a response has an \"id\"");
      if (!is_object(*result_)) return wrong("\"result\" is not an object");
      message_.kind_ = Message::Kind::response;
      message_.result_ = span_of(*result_);
      return {};
    }
    const auto code = member(*error_, "code");
    if (!code || !is_integer(*code) || !string_member(*error_, "message")) {
      return wrong("\"error\" has no whole number \"code\", or no \"message\"");
    }
    message_.kind_ = Message::Kind::error;
    message_.error_ = span_of(*error_);
    return {};
  }

  std::string_view value_;
  std::optional<std::string_view> version_;
  std::optional<std::string_view> id_;
  std::optional<std::string_view> method_;
  std::optional<std::string_view> params_;
  std::optional<std::string_view> result_;
  std::optional<std::string_view> error_;
  Message message_;
};

std::expected<Parsed, Fault> parse(std::string_view text, const MessageLimits& limits) {
  const auto value = check_json(text, limits.json);
  if (!value) return std::unexpected(Fault{kParseError, "Parse error: " + value.error(), {}});
  Parsed parsed;
  if (!is_array(*value)) {
    parsed.messages.push_back(MessageReader::read(*value));
    return parsed;
  }
  const auto wrong = [](std::string why) {
    return std::unexpected(Fault{kInvalidRequest, std::move(why), {}});
  };
  if (limits.max_batch == 0) return wrong("several messages at once are not taken here");
  parsed.batch = true;
  Elements all(*value);
  while (const auto each = all.next()) {
    if (parsed.messages.size() == limits.max_batch) {
      return wrong("more than " + std::to_string(limits.max_batch) + " messages at once");
    }
    parsed.messages.push_back(MessageReader::read(*each));
  }
  if (parsed.messages.empty()) return wrong("an array without messages");
  return parsed;
}

std::expected<Message, Fault> parse_one(std::string_view text, const MessageLimits& limits) {
  auto parsed = parse(text, {.json = limits.json, .max_batch = 0});
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  return std::move(parsed->messages.front());
}

std::string make_request(const Id& id, std::string_view method, std::string_view params) {
  JsonObject message = begin_message();
  message.add("id", id.json()).add("method", json_text(method));
  if (!params.empty()) message.add("params", params);
  return message.str();
}

std::string one_line(std::string_view text) {
  std::string line(text);
  // Strings have none: there they are escaped.
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

std::string make_notification(std::string_view method, std::string_view params) {
  JsonObject message = begin_message();
  message.add("method", json_text(method));
  if (!params.empty()) message.add("params", params);
  return message.str();
}

std::string make_response(const Id& id, std::string_view result) {
  return begin_message().add("id", id.json()).add("result", result).str();
}

std::string make_error(const std::optional<Id>& id, int code, std::string_view message,
                       std::string_view data) {
  JsonObject error;
  error.add("code", std::to_string(code)).add("message", json_text(message));
  if (!data.empty()) error.add("data", data);
  return begin_message().add("id", id ? id->json() : "null").add("error", error.str()).str();
}

std::string make_error(const Fault& fault) {
  return make_error(fault.id, fault.code, fault.message);
}

}  // namespace cordon::mcp
