#include "cli/user_cli.h"

#include "cli/password_prompt.h"
#include "cli/user_commands.h"

namespace tenure::cli {
namespace {

void add_file(CLI::App& app, std::string& file) {
  app.add_option("--users", file, "The users file, as the server's --users names it")->required()->type_name("FILE");
}

void add_add(CLI::App& user, Chosen& chosen) {
  const Command<UserAddOptions> command{user.add_subcommand("add", "Add a user, or give one a new password and roles")};
  add_file(*command.app, command.options->file);
  command.app->add_option("name", command.options->name, "The user's name, without blanks")->required();
  command.app->add_option("--role", command.options->roles, "submit, work, lock, read or admin; may be given again")
      ->type_name("ROLE[:PATTERN]");
  command.options->password = ask_password;
  command.app->footer(
      "Examples:\n  tenure user add --users users joe --role submit:mail.* --role read\n"
      "  tenure user add --users users root --role admin < password-file\n"
      "The password is asked for, or is the first line of standard input. PATTERN (* any text, ? one character)\n"
      "restricts a role to names of queues, work domains and lock domains. The file is made if it is missing.");
  command.choose(chosen, add_user);
}

void add_list(CLI::App& user, Chosen& chosen) {
  const Command<std::string> command{user.add_subcommand("list", "List the users with their roles")};
  add_file(*command.app, *command.options);
  command.app->footer("Example:\n  tenure user list --users users");
  command.choose(chosen, list_users);
}

void add_remove(CLI::App& user, Chosen& chosen) {
  const Command<UserRemoveOptions> command{user.add_subcommand("remove", "Remove a user")};
  add_file(*command.app, command.options->file);
  command.app->add_option("name", command.options->name, "The user's name")->required();
  command.app->footer("Example:\n  tenure user remove --users users joe && kill -HUP $(pidof tenured)");
  command.choose(chosen, remove_user);
}

}  // namespace

void add_user_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* user = app.add_subcommand("user", "Change the users file of a server; without a server");
  user->require_subcommand(1);
  user->footer("`tenure user COMMAND --help` has examples; docs/security.md tells what each role may do.");
  add_add(*user, chosen);
  add_list(*user, chosen);
  add_remove(*user, chosen);
}

}  // namespace tenure::cli
