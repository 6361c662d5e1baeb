#include "base/faulty_disk.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <ranges>
#include <vector>

#include "base/entropy.h"

namespace tenure {
namespace {

constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kFileSizeMax = std::uint64_t{1} << 43;
constexpr FaultyDisk::Id kRoot = 0;

}  // namespace

// Decides what a crash leaves of changes that were not synced. One thread.
class Wreck {
 public:
  using Damage = FaultyDisk::Damage;
  using Change = FaultyDisk::Change;
  using Content = FaultyDisk::Content;

  // `unsynced`: the numbers of the changes that were still on their way.
  Wreck(Damage damage, std::uint64_t seed, std::vector<std::uint64_t> unsynced) : damage_(damage), random_(seed) {
    std::ranges::sort(unsynced);
    unsynced.push_back(std::numeric_limits<std::uint64_t>::max());
    torn_ = unsynced[below(unsynced.size())];
  }

  void hit(FaultyDisk::Node& node) {
    lost_names_.clear();
    for (const Change& change : node.changes) {
      if (change.state == Change::State::kSynced) {
        change.apply_to(node.durable);
      } else {
        hit(change, node.durable);
      }
    }
    node.changes.clear();
    node.seen = node.durable;
  }

 private:
  void hit(const Change& change, Content& disk) {
    if (change.what == Change::What::kName || change.what == Change::What::kUnname) return hit_name(change, disk);
    if (change.what == Change::What::kWrite) {
      if (damage_ == Damage::kTear && change.number == torn_) return tear(change, disk);
      if (damage_ == Damage::kReorder || damage_ == Damage::kGarbage) return scatter(change, disk);
      if (damage_ == Damage::kZero) return zero(change, disk);
    }
    if (arrives(change)) change.apply_to(disk);
  }

  // Changes of the same name keep their order, or a file that was renamed could be lost to the next one created under
  // its old name.
  void hit_name(const Change& change, Content& disk) {
    const bool follows_lost = lost_names_.contains(change.text) || lost_names_.contains(change.from);
    if (!follows_lost && arrives(change)) return change.apply_to(disk);
    lost_names_.insert({change.text, change.from});
  }

  bool arrives(const Change& change) {
    switch (damage_) {
      case Damage::kLoseAll:
        return false;
      case Damage::kKeepAll:
      case Damage::kZero:
        return true;
      case Damage::kTear:
        if (change.state == Change::State::kInDoubt) return below(2) == 0;  // it had its turn before
        return change.number < torn_;
      case Damage::kReorder:
      case Damage::kGarbage:
        return below(2) == 0;
    }
    return false;
  }

  void tear(const Change& change, Content& disk) {
    std::uint64_t end = change.offset + below(change.text.size() + 1);
    if (below(2) == 0) end = std::max(change.offset, end - end % kSector);
    disk.bytes.write(change.offset, std::string_view(change.text).substr(0, end - change.offset));
  }

  void scatter(const Change& change, Content& disk) {
    std::uint64_t offset = change.offset;
    for (std::string_view left = change.text; !left.empty();) {
      const std::string_view sector = left.substr(0, kSector - offset % kSector);
      const std::uint64_t outcome = below(damage_ == Damage::kGarbage ? 4 : 2);
      if (outcome == 1) disk.bytes.write(offset, sector);
      if (outcome == 2) disk.bytes.write(offset, std::string(sector.size(), '\0'));
      if (outcome == 3) disk.bytes.write(offset, noise(sector.size()));
      offset += sector.size();
      left.remove_prefix(sector.size());
    }
  }

  static void zero(const Change& change, Content& disk) {
    const std::uint64_t end = change.offset + change.text.size();
    if (end > disk.bytes.size()) disk.bytes.resize(end);
  }

  std::string noise(std::size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_.next());
    return bytes;
  }

  std::uint64_t below(std::uint64_t limit) { return random_.next() % limit; }

  const Damage damage_;
  SeededEntropy random_;
  std::uint64_t torn_;  // the number of the change that kTear cuts; those before it arrive
  std::set<std::string> lost_names_;
};

std::string FaultyDisk::Extent::read(std::uint64_t offset, std::uint64_t length) const {
  std::string out;
  const std::uint64_t end = offset < size_ ? offset + std::min(length, size_ - offset) : offset;
  while (offset < end) {
    const std::uint64_t part = std::min(end - offset, kBlock - offset % kBlock);
    if (const auto found = blocks_.find(offset / kBlock); found != blocks_.end()) {
      out.append(*found->second, offset % kBlock, part);
    } else {
      out.append(part, '\0');
    }
    offset += part;
  }
  return out;
}

void FaultyDisk::Extent::write(std::uint64_t offset, std::string_view bytes) {
  if (!bytes.empty()) size_ = std::max(size_, offset + bytes.size());
  while (!bytes.empty()) {
    auto& block = blocks_[offset / kBlock];
    const std::string_view part = bytes.substr(0, kBlock - offset % kBlock);
    std::string changed = block ? *block : std::string(kBlock, '\0');
    changed.replace(offset % kBlock, part.size(), part);
    block = std::make_shared<const std::string>(std::move(changed));
    offset += part.size();
    bytes.remove_prefix(part.size());
  }
}

void FaultyDisk::Extent::resize(std::uint64_t size) {
  if (size < size_) {
    blocks_.erase(blocks_.lower_bound((size + kBlock - 1) / kBlock), blocks_.end());
    const auto last = blocks_.find(size / kBlock);
    if (last != blocks_.end()) {  // what is cut off must not be seen again when the file grows
      std::string changed = last->second->substr(0, size % kBlock);
      changed.resize(kBlock);
      last->second = std::make_shared<const std::string>(std::move(changed));
    }
  }
  size_ = size;
}

void FaultyDisk::Change::apply_to(Content& content) const {
  auto& names = content.names;
  switch (what) {
    case What::kWrite:
      return content.bytes.write(offset, text);
    case What::kResize:
      return content.bytes.resize(offset);
    case What::kName:
      // Whatever it was called: not `from` if the change before, which gave it that name, was in doubt and is lost.
      std::erase_if(names, [&](const auto& entry) { return entry.second == node; });
      names[text] = node;
      return;
    case What::kUnname:
      names.erase(text);
      return;
  }
}

tl::expected<FaultyDisk::Place, int> FaultyDisk::find(std::string_view path) const {
  Place place{.folder = kRoot, .name = "", .node = kRoot};
  for (const auto part : std::views::split(path, '/')) {
    const std::string_view name(part.begin(), part.end());
    if (name.empty() || name == ".") continue;
    if (!place.node) return tl::unexpected(ENOENT);
    if (!is_folder(*place.node)) return tl::unexpected(ENOTDIR);
    place = {.folder = *place.node, .name = std::string(name), .node = std::nullopt};
    const auto found = names(place.folder).find(place.name);
    if (found != names(place.folder).end()) place.node = found->second;
  }
  return place;
}

tl::expected<FaultyDisk::Id, int> FaultyDisk::find(std::string_view path, Kind kind) const {
  const auto place = find(path);
  if (!place) return tl::unexpected(place.error());
  if (!place->node) return tl::unexpected(ENOENT);
  if (nodes_.at(*place->node).kind != kind) return tl::unexpected(kind == Kind::kFolder ? ENOTDIR : EISDIR);
  return *place->node;
}

void FaultyDisk::change(Id id, Change what) {
  Node& node = nodes_.at(id);
  what.number = ++change_count_;
  what.apply_to(node.seen);
  node.changes.push_back(std::move(what));
}

FaultyDisk::Id FaultyDisk::create(const Place& place, Kind kind) {
  const Id id = next_id_++;
  nodes_[id].kind = kind;
  change(place.folder, {.what = Change::What::kName, .text = place.name, .from = place.name, .node = id});
  return id;
}

void FaultyDisk::rename(const Place& from, const Place& to) {
  change(to.folder, {.what = Change::What::kName, .text = to.name, .from = from.name, .node = from.node.value()});
}

void FaultyDisk::remove(const Place& place) {
  change(place.folder, {.what = Change::What::kUnname, .text = place.name, .from = place.name});
}

int FaultyDisk::write(Id file, std::uint64_t offset, std::string_view bytes) {
  if (offset > kFileSizeMax || bytes.size() > kFileSizeMax - offset) return EFBIG;
  const Extent& extent = nodes_.at(file).seen.bytes;
  std::optional<std::uint64_t> room;  // in blocks; only asked for when needed, since most writes need none
  std::uint64_t end = offset;
  while (end < offset + bytes.size()) {
    if (extent.is_hole(end / kBlock)) {
      if (!room) room = free() / kBlock;
      if (*room == 0) break;
      --*room;
    }
    end = (end / kBlock + 1) * kBlock;
  }
  const std::string_view fits = bytes.substr(0, end - offset);
  if (!fits.empty()) change(file, {.what = Change::What::kWrite, .offset = offset, .text = std::string(fits)});
  return fits.size() == bytes.size() ? 0 : ENOSPC;
}

int FaultyDisk::resize(Id file, std::uint64_t size) {
  if (size > kFileSizeMax) return EFBIG;
  change(file, {.what = Change::What::kResize, .offset = size});
  return 0;
}

void FaultyDisk::sync(Id id) {
  Node& node = nodes_.at(id);
  for (Change& change : node.changes) {
    if (change.state == Change::State::kUnsynced) change.state = Change::State::kSynced;
  }
  // Those behind one in doubt wait: they came later and must win where both overlap.
  while (!node.changes.empty() && node.changes.front().state == Change::State::kSynced) {
    node.changes.front().apply_to(node.durable);
    node.changes.pop_front();
  }
}

void FaultyDisk::sync_failed(Id id) {
  for (Change& change : nodes_.at(id).changes) {
    if (change.state == Change::State::kUnsynced) change.state = Change::State::kInDoubt;
  }
}

void FaultyDisk::crash(Damage damage, std::uint64_t seed) {
  std::vector<std::uint64_t> unsynced;
  for (const auto& [id, node] : nodes_) {
    for (const Change& change : node.changes) {
      if (change.state == Change::State::kUnsynced) unsynced.push_back(change.number);
    }
  }
  Wreck wreck(damage, seed, std::move(unsynced));
  for (auto& [id, node] : nodes_) {
    if (!node.changes.empty()) wreck.hit(node);
  }
  const std::set<Id> kept = reachable();
  std::erase_if(nodes_, [&](const auto& entry) { return !kept.contains(entry.first); });
}

std::uint64_t FaultyDisk::free() const {
  std::uint64_t used = 0;
  for (const Id id : reachable()) used += nodes_.at(id).seen.bytes.block_count() * kBlock;
  return capacity_ - std::min(capacity_, used);
}

std::set<FaultyDisk::Id> FaultyDisk::reachable() const {
  std::set<Id> found;
  std::vector<Id> next{kRoot};
  while (!next.empty()) {
    const Id id = next.back();
    next.pop_back();
    found.insert(id);
    for (const auto& [name, child] : names(id)) next.push_back(child);
  }
  return found;
}

FaultyDisk::Id FaultyDisk::put(const Place& place, Kind kind) {
  const Id id = place.node ? *place.node : next_id_++;
  nodes_[id].kind = kind;
  const Change name{.what = Change::What::kName, .text = place.name, .from = place.name, .node = id};
  name.apply_to(nodes_.at(place.folder).seen);
  name.apply_to(nodes_.at(place.folder).durable);
  return id;
}

void FaultyDisk::put_bytes(Id file, std::uint64_t offset, std::string_view bytes) {
  Node& node = nodes_.at(file);
  node.seen.bytes.write(offset, bytes);
  node.durable = node.seen;
  node.changes.clear();
}

void FaultyDisk::put_size(Id file, std::uint64_t size) {
  Node& node = nodes_.at(file);
  node.seen.bytes.resize(size);
  node.durable = node.seen;
  node.changes.clear();
}

std::map<std::string, std::string> FaultyDisk::state() const {
  std::map<std::string, std::string> out;
  add_state(out, "/", kRoot);
  return out;
}

void FaultyDisk::add_state(std::map<std::string, std::string>& out, const std::string& path, Id folder) const {
  for (const auto& [name, id] : names(folder)) {
    if (is_folder(id)) {
      out[path + name + "/"] = "";
      add_state(out, path + name + "/", id);
    } else {
      out[path + name] = read(id, 0, size(id));
    }
  }
}

}  // namespace tenure
