// Makes clients of other streams than TCP's: for tests.
#pragma once

#include <memory>
#include <string>

#include <tenure/client.h>
#include "client/stream.h"

namespace tenure::client {

// Does not wait for a connection.
std::unique_ptr<Client> make_client(const std::string& address, const ClientSettings& settings,
                                    std::unique_ptr<Dialer> dialer);

}  // namespace tenure::client
