#include "audit/index_update.h"

#include <optional>
#include <string>
#include <utility>

#include "audit/filter.h"
#include "audit/reader.h"
#include "audit/record.h"

namespace cordon::audit {
namespace {

constexpr std::int64_t kVersion = 1;

// What the index can do without: it is made from the log again.
constexpr const char* kPragmas =
    "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA case_sensitive_like=ON;"
    "PRAGMA trusted_schema=OFF";

constexpr const char* kSchema =
    "DROP TABLE IF EXISTS records; DROP TABLE IF EXISTS state;"
    "CREATE TABLE records(id INTEGER PRIMARY KEY, time TEXT, operation TEXT, run TEXT,"
    " program TEXT, verdict TEXT, file INTEGER, offset INTEGER);"
    "CREATE INDEX by_run ON records(run);"
    "CREATE INDEX by_time ON records(time);"
    "CREATE INDEX by_verdict ON records(verdict) WHERE verdict <> '';"
    // The last line that was read, and what was in it: is this the same log still?
    "CREATE TABLE state(file INTEGER, offset INTEGER, line TEXT);"
    "PRAGMA user_version=1";

// The last line that the index knows.
struct Last {
  Position at;
  std::string seal;  // of all of it
};

Result<std::int64_t> version(const Database& database) {
  auto statement = database.prepare("PRAGMA user_version");
  if (!statement) return std::unexpected(std::move(statement).error());
  const auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  return *row ? statement->number(0) : 0;
}

Result<std::optional<Last>> last_known(const Database& database) {
  auto statement = database.prepare("SELECT file, offset, line FROM state");
  if (!statement) return std::unexpected(std::move(statement).error());
  const auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return Last{.at = {.file = static_cast<std::uint64_t>(statement->number(0)),
                     .offset = static_cast<std::uint64_t>(statement->number(1))},
              .seal = statement->text(2)};
}

Result<void> remember(const Database& database, const Last& last) {
  if (auto cleared = database.execute("DELETE FROM state"); !cleared) return cleared;
  auto statement = database.prepare("INSERT INTO state VALUES(?,?,?)");
  if (!statement) return std::unexpected(std::move(statement).error());
  statement->bind(1, static_cast<std::int64_t>(last.at.file));
  statement->bind(2, static_cast<std::int64_t>(last.at.offset));
  statement->bind(3, last.seal);
  if (auto done = statement->step(); !done) return std::unexpected(std::move(done).error());
  return {};
}

Result<void> insert(Statement& statement, const Seen& record, Position at) {
  statement.reset();
  statement.bind(1, record.time);
  statement.bind(2, record.operation);
  statement.bind(3, record.run);
  statement.bind(4, record.program);
  statement.bind(5, record.verdict);
  statement.bind(6, static_cast<std::int64_t>(at.file));
  statement.bind(7, static_cast<std::int64_t>(at.offset));
  if (auto done = statement.step(); !done) return std::unexpected(std::move(done).error());
  return {};
}

// Everything from `reader` on. What is no record is left to `verify`.
Result<void> add_records(const Database& database, Reader& reader) {
  auto statement = database.prepare(
      "INSERT INTO records(time, operation, run, program, verdict, file, offset)"
      " VALUES(?,?,?,?,?,?,?)");
  if (!statement) return std::unexpected(std::move(statement).error());
  std::optional<Position> last;
  std::string text;
  while (true) {
    const auto line = reader.next();
    if (!line) return std::unexpected(line.error());
    if (!*line) break;
    last = (*line)->at;
    text = (*line)->text;
    const auto record = read_record(text);
    if (!record) continue;
    if (auto done = insert(*statement, *record, *last); !done) return done;
  }
  if (!last) return {};
  return remember(database, {.at = *last, .seal = Sealer().seal(text)});
}

// Where the index ends; empty: it is not of this log, or of no log at all.
Result<std::optional<Position>> where_it_ends(const Database& database,
                                              const Directory& directory) {
  const auto known = version(database);
  if (!known) return std::unexpected(known.error());
  if (*known != kVersion) return std::nullopt;
  const auto last = last_known(database);
  if (!last) return std::unexpected(last.error());
  if (!*last) return std::nullopt;
  Reader reader(directory, (*last)->at);
  const auto line = reader.next();
  if (!line || !*line || (*line)->at != (*last)->at) return std::nullopt;
  if (Sealer().seal((*line)->text) != (*last)->seal) return std::nullopt;
  return reader.position();
}

}  // namespace

Result<void> update_index(const Database& database, const Directory& directory) {
  if (auto set = database.execute(kPragmas); !set) return set;
  if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return begun;
  const auto end = where_it_ends(database, directory);
  if (!end) return std::unexpected(end.error());
  if (!*end) {
    if (auto made = database.execute(kSchema); !made) return made;
  }
  Reader reader(directory, end->value_or(Position{}));
  if (auto added = add_records(database, reader); !added) return added;
  return database.execute("COMMIT");
}

}  // namespace cordon::audit
