// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/named_files.h"

#include <utility>

#include "engine/base/digest.h"
#include "engine/base/wording.h"

namespace tilewalk::reading {

namespace fs = std::filesystem;

named_files::named_files(fs::path folder, const load_options& options)
    : folder_(std::move(folder)), strict_(options.strict) {
    if (options.confine) inside_ = folder_.empty() ? fs::path(".") : folder_;
}

template <class read>
auto named_files::at(const config::node& named, read&& from) {
    if (!named.is_scalar() || named.text().empty())
        named.fail("found " + named.found() + ", expected the name of a file");
    return read_named(named, (folder_ / named.text()).lexically_normal(), from);
}

config::document named_files::yaml(const fs::path& file) {
    config::document read = config::read_document(file, {}, inside_);
    note(file.string(), read.hash);
    return read;
}

config::document named_files::yaml(const config::node& named) {
    return at(named, [&](const fs::path& file) { return yaml(file); });
}

checked_text named_files::csv(const config::node& named) {
    return at(named, [&](const fs::path& file) {
        config::checked_source source(file, {}, inside_);
        checked_text read = whole(source);
        note(read.name, config::sha256(source.bytes()));
        return read;
    });
}

checked_text whole(config::checked_source& from) {
    while (from.grow()) {
    }
    return {from.name(), std::string(from.text())};
}

}  // namespace tilewalk::reading
