#include "cli/lock_cli.h"

#include "cli/lock_commands.h"

namespace tenure::cli {
namespace {

void add_names(CLI::App& app, std::string& domain, std::string& identifier, std::string& space) {
  app.add_option("domain", domain, "The domain: what groups locks")->required();
  app.add_option("identifier", identifier, "Which lock of the domain")->required();
  app.add_option("--space", space, "A name space of its own [soft-locks]")->type_name("NAME");
}

void add_lock(CLI::App& app, PlaceOptions& place, const std::vector<std::string>& behind, Chosen& chosen) {
  const Command<LockOptions> command{
      app.add_subcommand("lock", "Run a command while a lock is held: tenure lock DOMAIN IDENTIFIER -- COMMAND...")};
  LockOptions& options = *command.options;
  add_names(*command.app, options.domain, options.identifier, options.space);
  add_duration(*command.app, "--lease", options.lease,
               "It frees itself so long after this process has died; renewed until the command ends [30s]");
  add_duration(*command.app, "--wait", options.wait, "At most so long, 0s: not at all; then status 75 [for ever]");
  add_duration(*command.app, "--grace", options.grace,
               "If the lock is lost, the time from SIGTERM to SIGKILL for the command [10s]");
  auto* const hazelcast =
      command.app
          ->add_option_function<std::string>(
              "--hazelcast", [kept = command.options](const std::string& members) { kept->hazelcast = members; },
              "A lock of this Hazelcast cluster: one of its members, or several with commas between")
          ->type_name("HOST:PORT")
          ->group("Instead of an authority");
  command.app->add_option("--cluster", options.cluster, "The Hazelcast cluster's name [dev]")
      ->needs(hazelcast)
      ->type_name("NAME")
      ->group("Instead of an authority");
  add_place(*command.app, place);
  command.app->footer(
      "Examples:\n  tenure lock nightly backup -- ./backup.sh\n"
      "  tenure lock nightly backup --wait 0s -- ./backup.sh || echo somebody else does it\n"
      "  tenure lock orders 17 -- sh -c 'update --fence $TENURE_FENCE'\n"
      "  tenure lock --hazelcast 10.0.0.1:5701 nightly backup -- ./backup.sh\n"
      "The command has TENURE_FENCE, TENURE_LOCK_DOMAIN and TENURE_LOCK in its environment. Its exit status is passed\n"
      "on (128+N for the signal N); 70 if the lock was lost while it ran, 75 if it was not to be had, 127 if there is "
      "no\n"
      "such command.");
  command.app->callback([&chosen, &place, &behind, kept = command.options] {
    if (behind.empty()) throw CLI::ValidationError("lock", "expected a command behind --, found none");
    kept->command = behind;
    chosen = [&place, kept](const Desk& desk) {
      Signals signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD});
      if (kept->hazelcast) return run_locked_on_hazelcast(desk, place, signals, *kept);
      return run_errand(
          desk, place,
          [&](const Errand& errand) {
            return run_locked({.desk = desk, .locks = errand.authority.locks(), .json = errand.json}, signals, *kept);
          },
          &signals);
    };
  });
}

void add_locks(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<LocksOptions> command{app.add_subcommand("locks", "List the locks that are held, and by whom")};
  command.app->add_option_function<std::string>(
      "domain", [options = command.options](const std::string& text) { options->domain = text; },
      "Only this domain's; left out: all");
  command.app->add_option("--space", command.options->space, "The name space [soft-locks]")->type_name("NAME");
  command.app->add_option("--count", command.options->count, "At most so many [1000]")->type_name("N");
  command.app->footer("Examples:\n  tenure locks\n  tenure locks orders --json | jq -r '.locks[].owner'");
  command.ask(chosen, place, list_locks);
}

void add_force_unlock(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<ForceOptions> command{app.add_subcommand("force-unlock", "Free a lock, whoever holds it")};
  ForceOptions& options = *command.options;
  add_names(*command.app, options.domain, options.identifier, options.space);
  command.app
      ->add_option_function<std::uint64_t>(
          "--fence", [kept = command.options](const std::uint64_t& fence) { kept->fence = fence; },
          "Only if it is held under this fence")
      ->type_name("N");
  command.app->footer(
      "Examples:\n  tenure force-unlock orders 17\n  tenure force-unlock orders 17 --fence 42   # and nobody who came "
      "after\n"
      "Its holder learns of it at its next renewal. Status 66 if it was free, 73 if it is held under another fence.");
  command.ask(chosen, place, force_unlock);
}

void add_domain(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<DomainOptions> command{
      app.add_subcommand("domain", "Show a domain of ordered work: what is in flight, what waits, what is done")};
  DomainOptions& options = *command.options;
  command.app->add_option_function<std::string>(
      "domain", [kept = command.options](const std::string& text) { kept->domain = text; },
      "The domain; left out: the names of all");
  command.app->add_flag("--backlog", options.backlog, "The offsets that wait, head first");
  command.app->add_flag("--failed", options.failed, "The offsets that were given up");
  command.app->add_flag("--done", options.done, "The intervals that are done");
  command.app
      ->add_option_function<std::int64_t>(
          "--trim", [kept = command.options](const std::int64_t& below) { kept->trim = below; },
          "Declare everything below this offset done, first")
      ->type_name("OFFSET");
  command.app->add_option("--count", options.count, "At most so many [100]")->type_name("N");
  command.app->footer("Examples:\n  tenure domain\n  tenure domain account-7\n  tenure domain account-7 --failed");
  command.ask(chosen, place, show_domain);
}

}  // namespace

void add_lock_commands(CLI::App& app, PlaceOptions& place, const std::vector<std::string>& behind, Chosen& chosen) {
  add_lock(app, place, behind, chosen);
  add_locks(app, place, chosen);
  add_force_unlock(app, place, chosen);
  add_domain(app, place, chosen);
}

}  // namespace tenure::cli
