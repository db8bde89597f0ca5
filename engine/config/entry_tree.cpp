// SPDX-License-Identifier: Apache-2.0
#include "engine/config/entry_tree.h"

#include <iterator>
#include <utility>

#include "engine/config/plain_entry.h"
#include "engine/config/tree_parts.h"

namespace tilewalk::config {

namespace {

// Moves the last of `all`, from `first` on, into a vector of their own.
template <class value>
std::vector<value> taken_from(std::vector<value>& all, std::size_t first) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<value> out(std::make_move_iterator(begin), std::make_move_iterator(all.end()));
    all.erase(begin, all.end());
    return out;
}

}  // namespace

entry_tree::entry_tree(const node::scope& in, std::unordered_set<std::string>& keys)
    : in_(std::make_shared<const node::scope>(in)), keys_(keys) {}

bool entry_tree::read(std::string_view text, int line, int column, int index, node& into) {
    line_ = line;
    column_ = column;
    index_ = index;
    into_ = &into;
    has_key_twice_ = false;
    plain_entry(text, *this).scan();
    return !has_key_twice_;
}

void entry_tree::key(std::size_t at, std::string_view text) {
    level& in = open_.back();
    key_ = text;
    in.key = &*keys_.insert(key_).first;
    in.key_column = column_ + static_cast<int>(at);
    for (std::size_t m = in.first; m < members_.size(); ++m)
        has_key_twice_ = has_key_twice_ || members_[m].value.key_ == in.key;
}

void entry_tree::word(std::size_t at, std::string_view text) {
    node scalar = begun(at, node::shape::scalar);
    std::get<std::string>(scalar.content_) = text;
    add(std::move(scalar));
}

void entry_tree::mapping_ends() {
    level done = closed();
    done.container.content_ = taken_from(members_, done.first);
    add(std::move(done.container));
}

void entry_tree::sequence_ends() {
    level done = closed();
    done.container.content_ = taken_from(items_, done.first);
    add(std::move(done.container));
}

node entry_tree::begun(std::size_t at, node::shape kind) const {
    node made;
    made.kind_ = kind;
    made.line_ = line_;
    made.column_ = column_ + static_cast<int>(at);
    if (open_.empty()) {
        made.scope_ = in_;
        made.index_ = index_;
        return made;
    }
    const level& in = open_.back();
    made.scope_ = in.scope;
    made.key_ = in.key;
    if (in.container.is_sequence()) made.index_ = static_cast<int>(items_.size() - in.first);
    return made;
}

void entry_tree::open(std::size_t at, node::shape kind) {
    node container = begun(at, kind);
    container.is_closed_ = true;
    auto inside = std::make_shared<node::scope>();
    inside->from = in_->from;
    inside->outer = container.scope_;
    inside->key = container.key_;
    inside->index = container.index_;
    const std::size_t first = kind == node::shape::mapping ? members_.size() : items_.size();
    open_.push_back({std::move(container), std::move(inside), first});
}

void entry_tree::add(node&& value) {
    if (open_.empty()) {
        *into_ = std::move(value);
        return;
    }
    level& in = open_.back();
    if (in.container.is_sequence()) {
        items_.push_back(std::move(value));
    } else {
        members_.push_back({*in.key, std::move(value), line_, in.key_column});
        in.key = nullptr;
    }
}

entry_tree::level entry_tree::closed() {
    level done = std::move(open_.back());
    open_.pop_back();
    return done;
}

}  // namespace tilewalk::config
