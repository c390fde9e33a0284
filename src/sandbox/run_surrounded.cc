// A run from the request to the record: the ten steps in one place (C29).
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "cordon/run.h"
#include "outcome/decide.h"

namespace cordon {
namespace {

Outcome refused(Manager& manager, Error error) {
  const Capabilities capabilities = manager.capabilities();
  return outcome::failed_to_start(0, capabilities.backend, capabilities.enforcement,
                                  std::move(error));
}

// Something besides the program went wrong: it is told, and changes no verdict.
void note(Outcome& outcome, std::initializer_list<std::string_view> words) {
  if (!outcome.hint.empty()) outcome.hint += "; ";
  for (const std::string_view word : words) outcome.hint += word;
}

Result<std::optional<audit::RunRecorder>> open_record(const Surroundings& around,
                                                      const Request& request) {
  if (!around.audit) return std::nullopt;
  audit::Settings settings = *around.audit;
  if (around.policy) settings.policy_digest = around.policy->digest();
  auto record = audit::RunRecorder::open(settings, request);
  if (!record) return std::unexpected(std::move(record).error());
  return *std::move(record);
}

void collect(const WorkDir& directory, const CollectOptions& options, Outcome& outcome) {
  const auto collected = directory.collect(options);
  if (!collected) return note(outcome, {collected.error().message});
  for (const auto* const part : {&collected->refused, &collected->failed}) {
    for (const auto& [path, why] : *part) note(outcome, {"not collected: ", path, ": ", why});
  }
}

}  // namespace

Outcome run(Manager& manager, Request request, const Surroundings& around, std::size_t capture) {
  // 1. The policy's word: what may be asked for, with defaults filled in, and files that were
  //    checked held open until they run.
  Result<Policy::Allowed> allowed = Policy::Allowed{.request = request, .held = nullptr};
  if (around.policy) allowed = around.policy->apply(request, manager.capabilities().backend);
  if (allowed) request = std::move(allowed->request);

  // 2. The record of it, also of a refusal.
  auto record = open_record(around, request);
  if (!record) return refused(manager, std::move(record).error());
  if (!allowed) {
    Outcome outcome = refused(manager, std::move(allowed).error());
    if (*record) (void)(*record)->refused(outcome);
    return outcome;
  }

  // 3. A work directory of its own; with it the current directory and TMPDIR.
  std::optional<WorkDir> directory;
  if (around.work_dir) {
    auto made = WorkDir::create(*around.work_dir);
    if (!made) return refused(manager, std::move(made).error());
    directory.emplace(*std::move(made));
    directory->use_in(request);
  }

  // 4. No record, no run.
  if (*record) {
    if (auto started = (*record)->started(); !started) {
      return refused(manager, std::move(started).error());
    }
  }

  // 5. to 8. Sandbox, start, deadline, output and end: everything is in place before the program's
  //    first instruction, and nothing of it is left afterwards.
  Outcome outcome = run(manager, std::move(request), capture);

  // 9. What the program has made, then the end of its directory.
  if (directory) {
    if (around.collect && !outcome.error) collect(*directory, *around.collect, outcome);
    if (auto removed = directory->remove(); !removed) note(outcome, {removed.error().message});
  }

  // 10. The outcome, on record and returned.
  if (*record) {
    (void)(*record)->ended(outcome);
    (void)(*record)->cleaned_up(directory ? "the work directory was removed" : "nothing is left");
    if (const Error* const lost = (*record)->failure()) note(outcome, {lost->message});
  }
  return outcome;
}

}  // namespace cordon
