#include <unistd.h>

#include <cerrno>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "audit/index.h"
#include "audit/reader.h"
#include "audit_command.h"
#include "audit_query.h"
#include "audit_rows.h"
#include "audit_verbs.h"
#include "audit_watch.h"
#include "concat.h"
#include "marks.h"
#include "message.h"
#include "write_all.h"

namespace cordon::app {
namespace {

constexpr int kNoSuchRun = 1;
constexpr std::size_t kWriteAt = std::size_t{64} * 1024;

// Prints records, many at a time.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {
    if (!json_) text_ = audit_header(use_colours(STDOUT_FILENO));
  }

  // False: nobody reads it any more, or it cannot be written (said on stderr).
  [[nodiscard]] bool add(const audit::Seen& record, std::string_view line) {
    text_ += json_ ? concat(line, "\n") : audit_row(record);
    return text_.size() < kWriteAt || flush();
  }
  [[nodiscard]] bool flush() {
    const auto written = write_all(STDOUT_FILENO, std::exchange(text_, {}));
    if (written) return true;
    // A reader like `head` has had enough.
    if (written.error().os_error != EPIPE) {
      complain(written.error().message);
      status_ = kOwnFailure;
    }
    return false;
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  bool json_;
  std::string text_;
  int status_ = 0;
};

int failed(const Error& error) {
  complain(error.message);
  return kOwnFailure;
}

// The run whose id begins so; or, when there is none, the exit status.
std::expected<std::string, int> find_run(const audit::Directory& directory,
                                         const std::string& beginning) {
  auto runs = audit::find_runs(directory, beginning);
  if (!runs) return std::unexpected(failed(runs.error()));
  if (runs->empty()) {
    complain(concat("the audit log in ", directory.path(), " has no run ", beginning));
    return std::unexpected(kNoSuchRun);
  }
  if (runs->size() > 1) {
    return std::unexpected(usage_error(concat("--run: more than one run begins with ", beginning,
                                              ", such as ", runs->at(0), " and ", runs->at(1)),
                                       kAuditHelp));
  }
  return std::move(runs->front());
}

int show_found(const audit::Directory& directory, const AuditQuery& query) {
  const auto found = audit::find_records(directory, query.filter, query.limit);
  if (!found) return failed(found.error());
  Printer printer(query.json);
  for (const audit::Position at : *found) {
    const auto line = audit::line_at(directory, at);
    if (!line) return failed(line.error());
    const auto record = audit::read_record(*line);
    // The log has the last word.
    if (!record || !query.filter.matches(*record)) continue;
    if (!printer.add(*record, *line)) return printer.status();
  }
  (void)printer.flush();
  return printer.status();
}

// Everything there is by now that matches. False: stop.
bool show_new(audit::Reader& reader, const audit::Filter& filter, Printer& printer, int& status) {
  while (true) {
    const auto line = reader.next();
    if (!line) {
      status = failed(line.error());
      return false;
    }
    if (!*line) return printer.flush();
    const auto record = audit::read_record((*line)->text);
    if (!record) {
      complain(concat(audit::file_name((*line)->at.file),
                      " has a line that is no record; see 'cordon audit verify'"));
    } else if (filter.matches(*record) && !printer.add(*record, (*line)->text)) {
      return false;
    }
  }
}

int show_all(const audit::Directory& directory, const AuditQuery& query) {
  std::optional<AuditWatch> watch;
  if (query.follow) watch.emplace(directory.fd());
  Printer printer(query.json);
  int status = 0;
  // Before the last N the index says where those begin.
  audit::Position from;
  if (query.limit > 0) {
    const auto last = audit::find_records(directory, query.filter, query.limit);
    if (!last) return failed(last.error());
    if (!last->empty()) from = last->front();
  }
  audit::Reader reader(directory, from);
  do {
    if (!show_new(reader, query.filter, printer, status)) break;
  } while (watch && watch->wait());
  return status != 0 ? status : printer.status();
}

}  // namespace

int audit_show(std::vector<std::string> arguments) {
  auto query = parse_audit_query(std::move(arguments), real_clock().wall_now());
  if (!query) return usage_error(query.error().message, kAuditHelp);
  if (query->help) return print(audit_help());
  const auto directory = audit::Directory::to_read(query->directory);
  if (!directory) return failed(directory.error());
  if (!query->follow && !query->filter.run.empty()) {
    auto run = find_run(*directory, query->filter.run);
    if (!run) return run.error();
    query->filter.run = *std::move(run);
  }
  const bool ask_index = !query->follow && (query->filter.any() || query->limit > 0);
  return ask_index ? show_found(*directory, *query) : show_all(*directory, *query);
}

}  // namespace cordon::app
