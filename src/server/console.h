// The console: a page for people that comes with the server, made from the folder console/ when the server is built.
#pragma once

#include <string_view>

#include "wire/http_exchange.h"

namespace tenure::server {

// One of its files, by its path as the table of pages has it.
wire::HttpReply console_page(std::string_view path);

}  // namespace tenure::server
