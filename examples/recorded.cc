// Records a run in an audit log.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "cordon/audit.h"
#include "cordon/run.h"

namespace {

int fail(const cordon::Error& error) {
  std::cerr << error.message << '\n';
  return 1;
}

int record(const std::string& directory) {
  cordon::Request request;
  request.program = "true";
  // [doc:run]
  auto recorder = cordon::audit::RunRecorder::open({.directory = directory}, request);
  if (!recorder) return fail(recorder.error());
  if (auto recorded = recorder->started(); !recorded) return fail(recorded.error());
  const cordon::Outcome outcome = cordon::run(request);
  if (auto recorded = recorder->ended(outcome); !recorded) return fail(recorded.error());
  // [/doc:run]
  std::cout << "run " << recorder->id() << ": " << to_string(outcome.verdict) << '\n';
  return 0;
}

}  // namespace

int main() {
  std::string directory = std::filesystem::temp_directory_path() / "cordon-recorded-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return 1;
  const int status = record(directory + "/log");
  std::filesystem::remove_all(directory);
  return status;
}
