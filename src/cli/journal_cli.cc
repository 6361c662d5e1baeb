#include "cli/journal_cli.h"

#include <algorithm>

#include "base/text.h"
#include "cli/journal_commands.h"
#include "cli/journal_etcd.h"

namespace tenure::cli {
namespace {

constexpr const char* kFolder = "The data folder of an authority, or a backup of one";
constexpr const char* kNewFolder = "A folder that is empty or missing";

// A sequence number, also with the zeros that it has in the names of files.
void add_sequence(CLI::App& app, const std::string& name, std::uint64_t& value, const std::string& what) {
  app.add_option_function<std::string>(
         name,
         [&value, name](const std::string& text) {
           const std::size_t digits = std::min(text.find_first_not_of('0'), text.size() - 1);
           const auto number = text.empty() ? std::nullopt : parse_decimal(std::string_view(text).substr(digits));
           if (!number) throw CLI::ValidationError(name, "expected a sequence number, found '" + text + "'");
           value = *number;
         },
         what)
      ->type_name("SEQ");
}

void add_dump(CLI::App& journal, Chosen& chosen) {
  const Command<DumpOptions> command{journal.add_subcommand("dump", "Print every record as one line of JSON")};
  command.app->add_option("folder", command.options->folder, kFolder)->required();
  add_sequence(*command.app, "--from", command.options->from, "The first sequence number");
  add_sequence(*command.app, "--to", command.options->to, "The last sequence number");
  command.app->add_flag("--all", command.options->all, "Also frames without records, which vouch for those before");
  command.app->footer(
      "Examples:\n  tenure journal dump data | grep '\"task_id\":\"T1\"'\n"
      "  tenure journal dump data --from 1000 --to 1099\n"
      "Works beside a running server. A torn last batch is noted, damage ends it with status 1.");
  command.choose(chosen, dump_journal);
}

void add_verify(CLI::App& journal, Chosen& chosen) {
  const Command<std::string> command{
      journal.add_subcommand("verify", "Check every byte, replay every record, compare every digest")};
  command.app->add_option("folder", *command.options, kFolder)->required();
  command.app->footer(
      "Example:\n  tenure journal verify backups/monday && echo sound\n"
      "Needs as much memory as a server with this state. Status 1, with the place, if anything is wrong.");
  command.choose(chosen, verify_journal);
}

void add_stat(CLI::App& journal, Chosen& chosen) {
  const Command<StatOptions> command{journal.add_subcommand("stat", "Say what the folder holds, in numbers")};
  command.app->add_option("folder", command.options->folder, kFolder)->required();
  command.app->add_flag("--json", command.options->json, "As one JSON object");
  command.app->footer("Example:\n  tenure journal stat data --json | jq .records");
  command.choose(chosen, stat_journal);
}

void add_history(CLI::App& journal, Chosen& chosen) {
  const Command<HistoryOptions> command{
      journal.add_subcommand("history", "Tell one task's story: why did it run twice?")};
  command.app->add_option("folder", command.options->folder, kFolder)->required();
  command.app->add_option("task", command.options->task, "The task's id")->required();
  command.app->add_flag("--json", command.options->json, "As JSON lines: the dump's, and what each means");
  command.app->footer("Example:\n  tenure journal history data T1\nStatus 1 if the journal does not know the task.");
  command.choose(chosen, tell_history);
}

void add_backup(CLI::App& journal, Chosen& chosen) {
  const Command<BackupOptions> command{journal.add_subcommand("backup", "Copy the journal, and check the copy")};
  command.app->add_option("folder", command.options->folder, kFolder)->required();
  command.app->add_option("to", command.options->to, kNewFolder)->required();
  command.app->footer(
      "Example:\n  tenure journal backup data backups/monday\n"
      "Works beside a running server. Bring it back with `tenure journal restore`, never by copying it: fences\n"
      "that were granted after the backup would be granted again.");
  command.choose(chosen, backup_journal);
}

void add_restore(CLI::App& journal, Chosen& chosen) {
  const Command<RestoreOptions> command{journal.add_subcommand(
      "restore", "Make a data folder of a backup, with a fence above all that was granted since")};
  command.app->add_option("from", command.options->from, "The backup's folder; it is not changed")->required();
  command.app->add_option("folder", command.options->folder, kNewFolder)->required();
  command.app->footer(
      "Example:\n  tenure journal restore backups/monday data\n"
      "Stop the old server for good first: two authorities of one journal grant the same things twice.\n"
      "Needs as much memory as a server with this state.");
  command.choose(chosen, restore_journal);
}

void add_copy(CLI::App& journal, Chosen& chosen) {
  const Command<CopyOptions> command{
      journal.add_subcommand("copy", "Copy a journal from a folder into etcd, or from etcd into a folder")};
  command.app->add_option("from", command.options->from, "A data folder, or etcd://[user@]host[:port],.../prefix")
      ->required();
  command.app->add_option("to", command.options->to, "The other of the two: empty, or missing")->required();
  const auto add_file = [&](const char* name, std::string& value, const char* what) {
    command.app->add_option(name, value, what)->type_name("FILE");
  };
  add_file("--etcd-ca", command.options->etcd_ca, "Who signs etcd's certificates, in PEM, with etcds://");
  add_file("--etcd-cert", command.options->etcd_certificate, "The certificate that is shown to etcd, in PEM");
  add_file("--etcd-key", command.options->etcd_key, "Its key, in PEM");
  add_file("--etcd-password", command.options->etcd_password, "The password of the user: the file's first line");
  command.app->footer(
      "Examples:\n  tenure journal copy data etcd://10.0.0.1,10.0.0.2,10.0.0.3/tenure\n"
      "  tenure journal copy etcd://10.0.0.1,10.0.0.2,10.0.0.3/tenure data\n"
      "Stop the servers of what is copied for good first: two authorities of one journal grant the same things\n"
      "twice. What is copied is the newest snapshot and all behind it; the fence is raised above all that was\n"
      "granted. Needs as much memory as a server with this state.");
  command.choose(chosen, copy_between);
}

void add_repair(CLI::App& journal, Chosen& chosen) {
  const Command<RepairOptions> command{
      journal.add_subcommand("repair", "Cut a damaged journal at the first bad place, and keep what was cut aside")};
  command.app->add_option("folder", command.options->folder, "The data folder; its server must be stopped")->required();
  command.app->add_flag("--accept-loss", command.options->accept_loss,
                        "Do it; without this it only tells what would be lost, and changes nothing");
  command.app->footer(
      "Examples:\n  tenure journal repair data                what is wrong, and what would be lost\n"
      "  tenure journal repair --accept-loss data  cut it there\n"
      "What was acknowledged behind the bad place is lost: restore a backup if there is a newer one. Needs as\n"
      "much memory as a server with this state.");
  command.choose(chosen, repair_journal);
}

}  // namespace

void add_journal_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* journal = app.add_subcommand("journal", "Look into a data folder, copy it, repair it; without a server");
  journal->require_subcommand(1);
  journal->footer("`tenure journal COMMAND --help` has examples. Only `repair --accept-loss` changes a data folder.");
  add_dump(*journal, chosen);
  add_verify(*journal, chosen);
  add_stat(*journal, chosen);
  add_history(*journal, chosen);
  add_backup(*journal, chosen);
  add_restore(*journal, chosen);
  add_copy(*journal, chosen);
  add_repair(*journal, chosen);
}

}  // namespace tenure::cli
