#include "audit/database.h"

#include <sqlite3.h>

#include "audit/filter.h"
#include "base/errors.h"

namespace cordon::audit {
namespace {

constexpr int kPatienceMs = 5000;  // for another question that brings the index up to date

std::unexpected<Error> failed(sqlite3* database) {
  return base::fail(ErrorCode::system, "index",
                    std::string("the index of the audit log cannot be used: ") +
                        (database == nullptr ? "out of memory" : ::sqlite3_errmsg(database)));
}

std::string text_of(sqlite3_value* value) {
  const auto size = static_cast<std::size_t>(::sqlite3_value_bytes(value));
  const void* const bytes = ::sqlite3_value_text(value);
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

void glob_function(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  ::sqlite3_result_int(context, glob_matches(text_of(values[0]), text_of(values[1])) ? 1 : 0);
}

}  // namespace

Statement::Statement(sqlite3* database, sqlite3_stmt* statement)
    : database_(database), statement_(statement, ::sqlite3_finalize) {}

// What cannot be bound (memory) shows in the step.
void Statement::bind(int place, std::int64_t value) {
  (void)::sqlite3_bind_int64(statement_.get(), place, value);
}

void Statement::bind(int place, std::string_view text) {
  (void)::sqlite3_bind_text64(statement_.get(), place, text.data(), text.size(), SQLITE_STATIC,
                              SQLITE_UTF8);
}

Result<bool> Statement::step() {
  switch (::sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return failed(database_);
  }
}

void Statement::reset() { (void)::sqlite3_reset(statement_.get()); }

std::int64_t Statement::number(int column) const {
  return ::sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const void* const bytes = ::sqlite3_column_text(statement_.get(), column);
  const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

Database::Database(sqlite3* database) : database_(database, ::sqlite3_close_v2) {}

Result<Database> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int opened =
      ::sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(handle);
  if (opened != SQLITE_OK) return failed(handle);
  (void)::sqlite3_busy_timeout(handle, kPatienceMs);
  if (::sqlite3_create_function_v2(handle, "glob_matches", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                   nullptr, glob_function, nullptr, nullptr,
                                   nullptr) != SQLITE_OK) {
    return failed(handle);
  }
  return database;
}

Result<void> Database::execute(const std::string& sql) const {
  if (::sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failed(database_.get());
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  if (::sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                           nullptr) != SQLITE_OK) {
    return failed(database_.get());
  }
  return Statement(database_.get(), statement);
}

}  // namespace cordon::audit
