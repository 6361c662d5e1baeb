// Answers of the server's own verbs that need little or nothing of the server: what COMMAND tells comes from the table
// of verbs, in the shapes that Redis clients know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tenure/types.h>
#include "wire/requests.h"
#include "wire/resp_writer.h"

namespace tenure::wire {

void write_reply(RespWriter& out, const Ping& request);
void write_reply(RespWriter& out, const Echo& request);

// Commands with subcommands count once.
std::size_t command_count();
void write_reply(RespWriter& out, ListCommands request);
void write_reply(RespWriter& out, CountCommands request);
void write_reply(RespWriter& out, const DocumentCommands& request);
void write_reply(RespWriter& out, const DescribeCommands& request);

// HELLO's answer, in the protocol that was agreed on.
void write_greeting(RespWriter& out, std::uint64_t client_id, bool is_leading = true);
void write_time(RespWriter& out, Instant now);
// Of a node that leads.
void write_role(RespWriter& out);
// Of one that follows: the leader, if it is known, as host:port.
void write_follower_role(RespWriter& out, const std::optional<std::string>& leader, std::uint64_t applied);

}  // namespace tenure::wire
