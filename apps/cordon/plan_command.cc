#include "plan_command.h"

#include <unistd.h>

#include <utility>

#include "cordon/manager.h"
#include "help.h"
#include "image_rootfs.h"
#include "make_manager.h"
#include "marks.h"
#include "message.h"
#include "outcome/decide.h"
#include "plan_text.h"
#include "policy_options.h"
#include "recorded_run.h"
#include "requirements.h"
#include "run_options.h"
#include "secret_loading.h"
#include "session.h"
#include "workdir_scope.h"

namespace cordon::app {
namespace {

constexpr const char* kHelp = "cordon plan --help";

// Says why nothing would be run, and returns the status that `run` would have.
int refuse(const Error& error) {
  complain(error.message);
  return exit_status(outcome::failed_to_start(0, "", {}, error));
}

}  // namespace

int plan_command(std::vector<std::string> arguments) {
  auto options = parse_run_options(std::move(arguments));
  if (!options) return usage_error(options.error().message, kHelp);
  if (options->help) return print(plan_help());
  if (!options->report.empty()) {
    return usage_error("--report: nothing is run, so there is no outcome to write", kHelp);
  }

  auto image = open_rootfs(*options);
  if (!image) return refuse(image.error());
  const auto judged = apply_policy(*options);
  if (!judged) return refuse(judged.error());
  if (auto unpacked = unpack_rootfs(*image, *options); !unpacked) return refuse(unpacked.error());
  const auto settings = audit_settings(judged->policy, *options);
  if (!settings) return refuse(settings.error());
  auto record = RecordedRun::open(*settings, options->request);
  if (!record) return refuse(record.error());
  const auto known = plan_secrets(options->secrets, secrets_of(*judged), options->request);
  if (!known) return refuse(known.error());
  const auto manager = make_manager(options->backend);
  if (!manager) return refuse(manager.error());
  if (auto ok = plan_workdir(options->workdir, options->request, **manager); !ok) {
    return refuse(ok.error());
  }
  const bool read = options->request.limits.output_bytes || !options->log.file.empty() ||
                    options->log.transport == Transport::http;
  connect(options->request, read ? Streams::copy : Streams::inherit);
  if (options->log.transport == Transport::http) options->request.in = Input::none();
  const auto plan = (*manager)->plan(options->request);
  if (!plan) return refuse(plan.error());
  if (const auto recorded = record->planned(*plan); !recorded) return refuse(recorded.error());

  const int printed =
      print(options->json ? plan_json(*plan) : plan_text(*plan, use_colours(STDOUT_FILENO)));
  if (printed != 0) return printed;
  if (const auto kept = check_required(options->require, *plan); !kept) {
    return refuse(kept.error());
  }
  return 0;
}

}  // namespace cordon::app
