// SPDX-License-Identifier: Apache-2.0
// Sessions: books that stay open for many calls.
#include <memory>
#include <utility>

#include "engine/decide/decided_plans.h"
#include "engine/study/asked.h"
#include "engine/study/files/differences.h"
#include "engine/study/price.h"
#include "engine/study/request.h"
#include "engine/study/scenarios/scenarios.h"
#include "engine/study/session/engine_state.h"
#include "engine/study/session/resources.h"
#include "tilewalk/differences.h"
#include "tilewalk/session.h"

namespace tilewalk {

namespace studies {

class open_book {
  public:
    open_book(std::shared_ptr<const engine_state> by, book trades)
        : by_(std::move(by)),
          trades_(std::move(trades)),
          resources_(*by_, resources::lasts::many_calls),
          decided_(trades_.size(), trades_.market()) {}

    results price(const market& in, const inner_options& options) {
        const closing end(resources_);
        refuse_combinations(study::price_in_session, features_asked(trades_, options));
        const book trades = with_tolerances_of(study::price_in_session, trades_, options);
        const with_journal kept(trades, {&in, 1}, {}, options);
        stages by;
        by.are_of_book = true;
        by.decide = [&](planned_run& r, threads::crew& crew, const progress_reporter& reporter) {
            decided_.decide(r, resources_.shapes(), crew, reporter);
        };
        results out = std::move(price_book(resources_, trades, in, kept.options(), by).result);
        add_answers(out, resources_, trades, in, kept.options());
        kept.finish(out.manifest);
        return out;
    }
    results greeks(const market& in, const greek_options& wanted, const inner_options& options) {
        const closing end(resources_);
        return greeks_as_asked(resources_, trades_, in, wanted, options, true);
    }
    scenario_results scenarios(const market& in, const scenario_list& asked, const inner_options& options) {
        const closing end(resources_);
        return scenarios_as_asked(resources_, trades_, in, asked, options, study::scenarios_in_session);
    }
    difference_results differences(const market& in, const difference_options& wanted,
                                   const inner_options& options) {
        const closing end(resources_);
        return differences_as_asked(resources_, trades_, in, wanted, options);
    }
    session_facts facts() const { return resources_.facts(); }

  private:
    // Drops unused programs at the end of a call.
    class closing {
      public:
        explicit closing(const resources& of) : of_(of) {}
        ~closing() { of_.drop_unused_programs(); }
        closing(const closing&) = delete;
        closing& operator=(const closing&) = delete;

      private:
        const resources& of_;
    };

    const std::shared_ptr<const engine_state> by_;
    const book trades_;
    const resources resources_;
    decided_plans decided_;
};

}  // namespace studies

session engine::open(const book& trades) const {
    return with_state<session>(std::make_shared<studies::open_book>(state_, trades));
}

results session::price(const market& in, const run_options& options) const {
    return open_->price(in, {options});
}

results session::greeks(const market& in, const greek_options& wanted, const run_options& options) const {
    return open_->greeks(in, wanted, {options});
}

scenario_results session::scenarios(const market& in, const scenario_list& asked,
                                    const run_options& options) const {
    return open_->scenarios(in, asked, {options});
}

difference_results session::differences(const market& in, const difference_options& wanted,
                                        const run_options& options) const {
    return open_->differences(in, wanted, {options});
}

session_facts session::facts() const {
    return open_->facts();
}

}  // namespace tilewalk
