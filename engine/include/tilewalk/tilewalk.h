// SPDX-License-Identifier: Apache-2.0
// Everything a risk system needs to price a book inside its own process:
//
//     auto book = tilewalk::book::load("book.yaml");
//     tilewalk::engine engine;
//     for (const auto& row : engine.price(book).rows) use(row.trade, row.price, row.standard_error);
#pragma once

#include "tilewalk/book.h"
#include "tilewalk/calibration.h"
#include "tilewalk/choices.h"
#include "tilewalk/compare.h"
#include "tilewalk/decisions.h"
#include "tilewalk/devices.h"
#include "tilewalk/differences.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"
#include "tilewalk/files.h"
#include "tilewalk/manifest.h"
#include "tilewalk/market.h"
#include "tilewalk/market_numbers.h"
#include "tilewalk/measures.h"
#include "tilewalk/options.h"
#include "tilewalk/printable.h"
#include "tilewalk/products.h"
#include "tilewalk/results.h"
#include "tilewalk/rows.h"
#include "tilewalk/run_settings.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/session.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/shards.h"
#include "tilewalk/timings.h"
#include "tilewalk/trade_plan.h"
#include "tilewalk/value.h"
#include "tilewalk/version.h"
#include "tilewalk/write.h"
