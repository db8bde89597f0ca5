// SPDX-License-Identifier: Apache-2.0
#include "products/language/checking/variables.h"

#include "products/language/checking/wording.h"

namespace tilewalk::language::checking {

void variables::note_assigned(const statements& list) {
    for (const statement& s : list) {
        if (const auto* a = std::get_if<assignment>(&s.does)) assigned_.insert(a->name);
        if (const auto* l = std::get_if<loop>(&s.does)) note_assigned(l->body);
        if (const auto* b = std::get_if<branch>(&s.does)) {
            for (const auto& arm : b->arms) note_assigned(arm.body);
            note_assigned(b->otherwise);
        }
    }
}

std::vector<std::string> variables::names_to_set(const std::string& but) const {
    std::vector<std::string> out;
    for (const std::string& name : assigned_) {
        if (name != but) out.push_back(name);
    }
    return out;
}

std::optional<std::size_t> variables::find(std::string_view name) const {
    for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
        if (tree_.variables[i].name == name && (i < states_ || i >= first_local_)) return i;
    }
    return std::nullopt;
}

std::vector<std::string> variables::names() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
        if (i < states_ || i >= first_local_) out.push_back(tree_.variables[i].name);
    }
    return out;
}

void variables::end_top() {
    for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
        if (!defined_.contains({i, whole})) {
            fail(tree_, tree_.variables[i].where,
                 in_quotes(tree_.variables[i].name) +
                     " gets its first value in some cases only; set it in all cases");
        }
    }
    states_ = tree_.variables.size();
}

void variables::begin_block() {
    first_local_ = tree_.variables.size();
    defined_.clear();
}

void variables::begin_right_side(const std::string& name) {
    setting_ = name;
    reads_the_trade_ = false;
}

std::size_t variables::set(const std::string& name, place where, type of, std::optional<std::size_t> list,
                           bool is_state) {
    if (const auto known = find(name)) {
        fates_[*known].is_set_again = true;
        return *known;
    }
    tree_.variables.push_back({name, where, of, list, is_state});
    fates_.push_back({false, false, reads_the_trade_});
    return tree_.variables.size() - 1;
}

bool variables::has_value(std::size_t number, std::size_t depth) const {
    const bool is_kept = states_ != whole && number < states_;
    return is_kept || defined_.contains({number, depth}) || defined_.contains({number, whole});
}

void variables::note_read(std::size_t number) {
    if (tree_.variables[number].name != setting_) fates_[number].is_read = true;
    if (fates_[number].depends_on_the_trade) reads_the_trade_ = true;
}

void variables::leave_loop(std::size_t depth) {
    definite kept;
    for (const auto& [number, index] : defined_) kept.insert({number, index == depth ? whole : index});
    defined_ = std::move(kept);
}

// An unused name is most often a misspelt one.
void variables::check_none_is_idle() const {
    for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
        const variable& v = tree_.variables[i];
        if (fates_[i].is_read) continue;
        fail(tree_, v.where,
             in_quotes(v.name) + " is set and never read" + suggestion(v.name, names_to_set(v.name)));
    }
    for (std::size_t i = 0; i < states_; ++i) {
        const variable& v = tree_.variables[i];
        if (fates_[i].is_set_again || fates_[i].depends_on_the_trade) continue;
        const std::string meant = suggestion(v.name, names_to_set(v.name));
        fail(tree_, v.where,
             in_quotes(v.name) + " is never set after its first value" + meant +
                 (meant.empty() ? "; write" : " Write") +
                 " the number where it is read, or make it a parameter with a default");
    }
}

}  // namespace tilewalk::language::checking
