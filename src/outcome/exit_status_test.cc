#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "cordon/outcome.h"

namespace cordon {
namespace {

int status(Verdict verdict, int signal = 0) {
  Outcome o;
  o.verdict = verdict;
  o.termination.signal = signal;
  return exit_status(o);
}

int status_of(Verdict verdict, ErrorCode code, std::string stage = "exec") {
  Outcome o;
  o.verdict = verdict;
  o.error = Error{code, std::move(stage), 0, ""};
  return exit_status(o);
}

TEST(ExitStatusTest, PassesTheProgramsOwnCodeThrough) {  // C50 C51 C55
  for (const int code : {0, 1, 5, 42, 124, 127, 255}) {
    Outcome o;
    o.verdict = Verdict::exited;
    o.exit_code = code;
    EXPECT_EQ(exit_status(o), code);
  }
}

TEST(ExitStatusTest, SignalIs128AndItsNumber) {
  EXPECT_EQ(status(Verdict::signaled, SIGSEGV), 139);
  EXPECT_EQ(status(Verdict::signaled, SIGKILL), 137);
}

TEST(ExitStatusTest, TimeoutIs5HoweverItDied) {  // C53
  EXPECT_EQ(status(Verdict::timeout), 5);
  EXPECT_EQ(status(Verdict::timeout, SIGKILL), 5);
}

TEST(ExitStatusTest, EndedByCordonIs124) {  // C54
  for (const Verdict verdict : {Verdict::cpu_time, Verdict::memory, Verdict::processes,
                                Verdict::file_size, Verdict::output, Verdict::cancelled}) {
    EXPECT_EQ(status(verdict), 124) << to_string(verdict);
    EXPECT_EQ(status(verdict, SIGKILL), 124) << to_string(verdict);
  }
}

TEST(ExitStatusTest, DeniedIs126BeforeTheStartAnd124After) {
  EXPECT_EQ(status_of(Verdict::denied, ErrorCode::not_permitted), 126);
  EXPECT_EQ(status(Verdict::denied, SIGSYS), 124);
}

TEST(ExitStatusTest, FailedStartTellsWhy) {
  EXPECT_EQ(status_of(Verdict::failed_to_start, ErrorCode::not_found), 127);  // C52
  EXPECT_EQ(status_of(Verdict::failed_to_start, ErrorCode::not_found, "chdir"), 125)
      << "127 is for the program alone";
  EXPECT_EQ(status_of(Verdict::failed_to_start, ErrorCode::not_executable), 126);
  EXPECT_EQ(status_of(Verdict::failed_to_start, ErrorCode::not_permitted), 125);
  for (const ErrorCode code :
       {ErrorCode::invalid_argument, ErrorCode::unsupported, ErrorCode::wrong_state,
        ErrorCode::closed, ErrorCode::timed_out, ErrorCode::limit_not_applied,
        ErrorCode::resource_exhausted, ErrorCode::system}) {
    EXPECT_EQ(status_of(Verdict::failed_to_start, code), 125) << to_string(code);
  }
  EXPECT_EQ(status(Verdict::failed_to_start), 125);
}

}  // namespace
}  // namespace cordon
