// `tenure journal copy`: a journal from a folder into etcd, or from etcd into a folder.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/desk.h"

namespace tenure::cli {

// One side is a folder, the other etcd://...; what is copied to is empty or missing. What is copied is the newest good
// snapshot and all behind it, and the fence is raised there: above all that may have been granted since. Into etcd it
// leads there meanwhile, so that no server does.
struct CopyOptions {
  std::string from;
  std::string to;
  std::string etcd_ca;  // files
  std::string etcd_certificate;
  std::string etcd_key;
  std::string etcd_password;
};
Result<Done> copy_between(const Desk& desk, const CopyOptions& options);

}  // namespace tenure::cli
