// A fresh directory for one run, and what is taken out of it.
#include "cordon/workdir.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "cordon/run.h"

namespace fs = std::filesystem;

int main() {
  std::string made = fs::temp_directory_path() / "cordon-example-XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) return 1;
  const std::string top = fs::canonical(made);
  const std::string cache = top + "/cache";
  const std::string results = top + "/results";

  auto manager = cordon::os_manager();
  if (!manager) return 1;
  bool removed = false;
  int status = 1;
  {
    // [doc]
    auto work = cordon::WorkDir::create({.cache = cache, .name = "converter", .version = "1.2"});
    if (!work) return 1;

    cordon::Request request;
    request.program = "sh";
    request.args = {"-c", "echo 42 >answer; mktemp"};
    work->use_in(request);  // granted for writing, current directory, TMPDIR
    const cordon::Outcome outcome = cordon::run(**manager, request);

    const auto collected = work->collect({.globs = {"answer"}, .into = results});
    if (!collected || !collected->refused.empty() || !collected->failed.empty()) return 1;
    if (const auto gone = work->remove(); !gone) std::cerr << gone.error().message << '\n';
    // [/doc]
    std::cout << outcome.out << outcome.err;
    removed = !fs::exists(work->path());
    status = outcome.exit_code.value_or(1);
  }
  std::string answer;
  std::ifstream(results + "/answer") >> answer;
  fs::remove_all(top);
  return removed && status == 0 && answer == "42" ? 0 : 1;
}
