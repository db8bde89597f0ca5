# SPDX-License-Identifier: Apache-2.0
"""Prices a portfolio by ORE itself in a flat market, and tells the dates of schedules as ORE finds them.

    ore_flat_market.py price FOLDER PORTFOLIO     writes FOLDER/npv.json: {trade: value in its currency, or null}
    ore_flat_market.py ids PORTFOLIO              prints how many trades ORE's own reader finds
    ore_flat_market.py schedules FILE             reads a list of rules, prints the dates of each
    ore_flat_market.py counts NAMES               prints how each index counts its years: {EUR-ESTER: Actual/360}

Run by tests with the Python that has the package open-source-risk-engine. The market is that of MARKET in
ore_import_test.py; rates hardly move, so that options on them are worth what they are in the money.
"""
import csv
import json
import math
import pathlib
import sys

import ORE

DAY = "2026-01-15"
RATES = {"USD": 0.04, "EUR": 0.025}
EQUITIES = {"ACME": (100, 0.01, 0.25), "RIC:.IDX": (5000, 0.015, 0.18)}
NO_VOLATILITY = "0.0000001"
INDEX = "EUR-EURIBOR-6M"
# A fixing of the 6-month rate on today's date, implied by the curve over the rate's period of 181 days.
FIXINGS = f"2026-01-13 {INDEX} {math.expm1(RATES['EUR'] * 181 / 365) * 360 / 181!r}\n"


def settings(folder, portfolio):
    values = {"asofDate": DAY, "inputPath": folder, "outputPath": folder / "out", "logFile": "log.txt", "logMask": 31,
              "marketDataFile": "market.txt", "fixingDataFile": "fixings.txt", "implyTodaysFixings": "Y",
              "curveConfigFile": "curves.xml", "conventionsFile": "conventions.xml", "marketConfigFile": "market.xml",
              "pricingEnginesFile": "engines.xml", "portfolioFile": portfolio.resolve(), "observationModel": "None",
              "continueOnError": "true", "buildFailedTrades": "true"}
    setup = "".join(f'<Parameter name="{name}">{value}</Parameter>' for name, value in values.items())
    markets = "".join(f'<Parameter name="{name}">default</Parameter>' for name in ("lgmcalibration", "pricing", "simulation"))
    return (f'<ORE><Setup>{setup}</Setup><Markets>{markets}</Markets><Analytics><Analytic type="npv">'
            '<Parameter name="active">Y</Parameter><Parameter name="baseCurrency">USD</Parameter>'
            '<Parameter name="outputFileName">npv.csv</Parameter></Analytic></Analytics></ORE>')


def quotes():
    yield from (f"ZERO/RATE/{c}/{c}-CURVE/A365/{tenor} {rate}" for c, rate in RATES.items() for tenor in ("1Y", "40Y"))
    yield from ("FX/RATE/EUR/USD 1.1", "FX_OPTION/RATE_LNVOL/EUR/USD/1Y/ATM 0.1")
    for name, (spot, dividends, volatility) in EQUITIES.items():
        yield f"EQUITY/PRICE/{name}/USD {spot}"
        yield from (f"EQUITY_DIVIDEND/RATE/{name}/USD/{day} {dividends}" for day in ("2027-01-15", "2046-01-15"))
        yield f"EQUITY_OPTION/RATE_LNVOL/{name}/USD/1Y/ATMF {volatility}"
    yield from (f"SWAPTION/RATE_NVOL/EUR/{a}/{b}/ATM {NO_VOLATILITY}" for a in ("1Y", "10Y") for b in ("1Y", "10Y"))
    yield from (f"CAPFLOOR/RATE_NVOL/EUR/{a}/6M/0/0/{k} {NO_VOLATILITY}" for a in ("1Y", "10Y") for k in ("0.01", "0.06"))


CONVENTIONS = f"""<Conventions>
<Zero><Id>ZERO</Id><TenorBased>true</TenorBased><DayCounter>A365</DayCounter><CompoundingFrequency>Annual</CompoundingFrequency>
<Compounding>Continuous</Compounding><TenorCalendar>NullCalendar</TenorCalendar><SpotLag>0</SpotLag>
<SpotCalendar>NullCalendar</SpotCalendar><RollConvention>Unadjusted</RollConvention><EOM>false</EOM></Zero>
<IborIndex><Id>{INDEX}</Id><FixingCalendar>WeekendsOnly</FixingCalendar><DayCounter>A360</DayCounter>
<SettlementDays>2</SettlementDays><BusinessDayConvention>MF</BusinessDayConvention><EndOfMonth>false</EndOfMonth></IborIndex>
<FX><Id>EUR-USD-FX</Id><SpotDays>0</SpotDays><SourceCurrency>EUR</SourceCurrency><TargetCurrency>USD</TargetCurrency>
<PointsFactor>10000</PointsFactor><AdvanceCalendar>NullCalendar</AdvanceCalendar><SpotRelative>true</SpotRelative></FX>
<SwapIndex><Id>EUR-CMS-1Y</Id><Conventions>EUR-SWAP</Conventions></SwapIndex>
<SwapIndex><Id>EUR-CMS-30Y</Id><Conventions>EUR-SWAP</Conventions></SwapIndex>
<Swap><Id>EUR-SWAP</Id><FixedCalendar>WeekendsOnly</FixedCalendar><FixedFrequency>Annual</FixedFrequency>
<FixedConvention>MF</FixedConvention><FixedDayCounter>30/360</FixedDayCounter><Index>{INDEX}</Index></Swap>
</Conventions>"""


def curves():
    def zero(c):
        both = "".join(f"<Quote>ZERO/RATE/{c}/{c}-CURVE/A365/{tenor}</Quote>" for tenor in ("1Y", "40Y"))
        return (f"<YieldCurve><CurveId>{c}-CURVE</CurveId><CurveDescription/><Currency>{c}</Currency><DiscountCurve/><Segments>"
                f"<Direct><Type>Zero</Type><Quotes>{both}</Quotes><Conventions>ZERO</Conventions></Direct></Segments>"
                "<InterpolationVariable>Zero</InterpolationVariable><InterpolationMethod>Linear</InterpolationMethod>"
                "<YieldCurveDayCounter>A365</YieldCurveDayCounter><Tolerance>1e-12</Tolerance></YieldCurve>")

    def equity(e):
        days = "".join(f"<Quote>EQUITY_DIVIDEND/RATE/{e}/USD/{day}</Quote>" for day in ("2027-01-15", "2046-01-15"))
        return (f"<EquityCurve><CurveId>{e}</CurveId><CurveDescription/><Currency>USD</Currency>"
                "<ForecastingCurve>USD-CURVE</ForecastingCurve><Type>DividendYield</Type>"
                f"<SpotQuote>EQUITY/PRICE/{e}/USD</SpotQuote><Quotes>{days}</Quotes><DayCounter>A365</DayCounter></EquityCurve>")

    def volatility(e):
        return (f"<EquityVolatility><CurveId>{e}</CurveId><CurveDescription/><Currency>USD</Currency><Constant>"
                f"<Quote>EQUITY_OPTION/RATE_LNVOL/{e}/USD/1Y/ATMF</Quote></Constant><DayCounter>A365</DayCounter></EquityVolatility>")

    common = ("<Extrapolation>Flat</Extrapolation><DayCounter>A365</DayCounter><Calendar>NullCalendar</Calendar>"
              "<BusinessDayConvention>Following</BusinessDayConvention>")
    return ("<CurveConfiguration><FXVolatilities><FXVolatility><CurveId>EURUSD</CurveId><CurveDescription/>"
            "<Dimension>ATM</Dimension><Expiries>1Y</Expiries><FXSpotID>FX/EUR/USD</FXSpotID>"
            "<FXForeignCurveID>Yield/EUR/EUR-CURVE</FXForeignCurveID><FXDomesticCurveID>Yield/USD/USD-CURVE</FXDomesticCurveID>"
            "<DayCounter>A365</DayCounter><Calendar>NullCalendar</Calendar></FXVolatility></FXVolatilities>"
            "<SwaptionVolatilities><SwaptionVolatility><CurveId>SWAPTIONS</CurveId><CurveDescription/><Dimension>ATM</Dimension>"
            f"<VolatilityType>Normal</VolatilityType>{common}<OptionTenors>1Y,10Y</OptionTenors><SwapTenors>1Y,10Y</SwapTenors>"
            "<ShortSwapIndexBase>EUR-CMS-1Y</ShortSwapIndexBase><SwapIndexBase>EUR-CMS-30Y</SwapIndexBase></SwaptionVolatility>"
            "</SwaptionVolatilities><CapFloorVolatilities><CapFloorVolatility><CurveId>CAPS</CurveId><CurveDescription/>"
            f"<VolatilityType>Normal</VolatilityType><InterpolationMethod>Bilinear</InterpolationMethod>{common}"
            f"<IncludeAtm>false</IncludeAtm><Tenors>1Y,10Y</Tenors><Strikes>0.01,0.06</Strikes><IborIndex>{INDEX}</IborIndex>"
            "<DiscountCurve>Yield/EUR/EUR-CURVE</DiscountCurve></CapFloorVolatility></CapFloorVolatilities>"
            f"<YieldCurves>{''.join(map(zero, RATES))}</YieldCurves><EquityCurves>{''.join(map(equity, EQUITIES))}</EquityCurves>"
            f"<EquityVolatilities>{''.join(map(volatility, EQUITIES))}</EquityVolatilities>"
            "<Securities><Security><CurveId>SECURITY_1</CurveId><CurveDescription/></Security></Securities></CurveConfiguration>")


def market():
    def group(name, entry, attribute, values):
        rows = "".join(f'<{entry} {attribute}="{key}">{value}</{entry}>' for key, value in values.items())
        return f'<{name} id="default">{rows}</{name}>'

    swap_indices = "".join(f'<SwapIndex name="EUR-CMS-{t}"><Discounting>{INDEX}</Discounting></SwapIndex>' for t in ("1Y", "30Y"))
    return ('<TodaysMarket><Configuration id="default"><DiscountingCurvesId>default</DiscountingCurvesId></Configuration>'
            + group("DiscountingCurves", "DiscountingCurve", "currency", {c: f"Yield/{c}/{c}-CURVE" for c in RATES})
            + group("IndexForwardingCurves", "Index", "name", {INDEX: "Yield/EUR/EUR-CURVE"})
            + f'<SwapIndexCurves id="default">{swap_indices}</SwapIndexCurves>'
            + group("FxSpots", "FxSpot", "pair", {"EURUSD": "FX/EUR/USD"})
            + group("FxVolatilities", "FxVolatility", "pair", {"EURUSD": "FXVolatility/EUR/USD/EURUSD"})
            + group("SwaptionVolatilities", "SwaptionVolatility", "currency", {"EUR": "SwaptionVolatility/EUR/SWAPTIONS"})
            + group("CapFloorVolatilities", "CapFloorVolatility", "currency", {"EUR": "CapFloorVolatility/EUR/CAPS"})
            + group("EquityCurves", "EquityCurve", "name", {e: f"Equity/USD/{e}" for e in EQUITIES})
            + group("EquityVolatilities", "EquityVolatility", "name", {e: f"EquityVolatility/USD/{e}" for e in EQUITIES})
            + group("Securities", "Security", "name", {"SECURITY_1": "Security/SECURITY_1"}) + "</TodaysMarket>")


def engines():
    differences = {"Scheme": "Douglas", "TimeGridPerYear": 500, "XGrid": 1000, "DampingSteps": 0}
    replication = {"Scheme": "GaussLobatto", "Bounds": "PriceThreshold", "Accuracy": "1E-9", "MaxIterations": 10000, "Steps": 100,
                   "PriceThreshold": "1E-10", "MaxPriceThresholdSteps": 100, "PriceThresholdStep": 0.1, "FixedMinStdDevs": -5.0,
                   "FixedMaxStdDevs": 5.0}
    paths = {"Engine": "MC", "Samples": 65536, "RegressionOrder": 2, "TimeStepsPerYear": 24, "Interactive": "false",
             "StateGridPoints": 300, "BootstrapTolerance": 0.1, "MesherEpsilon": "1E-4", "MesherScaling": 1.5,
             "MesherConcentration": 0.1, "MesherMaxConcentratingPoints": 9999, "MesherIsStatic": "true"}
    script = {"Model": "BlackScholes", "BaseCcy": "USD", "EnforceBaseCcy": "false", "FullDynamicFx": "true",
              "GridCoarsening": "", "DiscretisationTimeStepsPerYear": 24}
    black, analytic = "BlackScholesMerton", "AnalyticEuropeanEngine"
    known = [("EquityOption", black, analytic), ("EquityOptionAmerican", black, "FdBlackScholesVanillaEngine", differences),
             ("FxOption", "GarmanKohlhagen", analytic), ("EquityBarrierOption", black, "AnalyticBarrierEngine"),
             ("FxBarrierOption", "GarmanKohlhagen", "AnalyticBarrierEngine"),
             ("EquityDoubleBarrierOption", black, "AnalyticDoubleBarrierEngine"),
             ("FxDoubleBarrierOption", "GarmanKohlhagen", "AnalyticDoubleBarrierEngine"),
             ("EquityDigitalOption", black, analytic), ("FxDigitalOption", "GarmanKohlhagen", analytic),
             ("EquityTouchOption", black, "AnalyticDigitalAmericanEngine"),
             ("FxTouchOption", "GarmanKohlhagen", "AnalyticDigitalAmericanEngine"),
             ("FxDoubleTouchOption", "GarmanKohlhagen", "AnalyticDoubleBarrierBinaryEngine"),
             ("EquityVarianceSwap", black, "ReplicatingVarianceSwapEngine", replication),
             ("EquityCliquetOption", "BlackScholes", "MCScript", {"Samples": 65536, "RegressionOrder": 2, "Interactive": "false",
                                                                  "ScriptedLibraryOverride": "false"}),
             ("EquityAsianOptionArithmeticPrice", "ScriptedTrade", "ScriptedTrade"),
             ("ScriptedTrade", "Generic", "Generic", paths, script), ("Swap", "DiscountedCashflows", "DiscountingSwapEngine"),
             ("EuropeanSwaption", "BlackBachelier", "BlackBachelierSwaptionEngine"),
             ("CapFloor", "IborCapModel", "IborCapEngine"), ("CapFlooredIborLeg", "BlackOrBachelier", "BlackIborCouponPricer"),
             ("Bond", "DiscountedCashflows", "DiscountingRiskyBondEngine", {"TimestepPeriod": "3M"})]

    def parameters(given):
        return "".join(f'<Parameter name="{name}">{value}</Parameter>' for name, value in given.items())

    def product(kind, model, engine, of_engine=None, of_model=None):
        return (f'<Product type="{kind}"><Model>{model}</Model><ModelParameters>{parameters(of_model or {})}</ModelParameters>'
                f"<Engine>{engine}</Engine><EngineParameters>{parameters(of_engine or {})}</EngineParameters></Product>")

    return f"<PricingEngines>{''.join(product(*one) for one in known)}</PricingEngines>"


def price(folder, portfolio):
    (folder / "out").mkdir()
    files = {"ore.xml": settings(folder, portfolio), "market.txt": "".join(f"{DAY} {quote}\n" for quote in quotes()),
             "fixings.txt": FIXINGS, "conventions.xml": CONVENTIONS, "curves.xml": curves(), "market.xml": market(),
             "engines.xml": engines()}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    parameters = ORE.Parameters()
    parameters.fromFile(str(folder / "ore.xml"))
    ORE.OREApp(parameters, False).run()
    with open(folder / "out" / "npv.csv", newline="", encoding="utf-8") as file:
        found = {row["#TradeId"]: None if row["TradeType"] == "Failed" or row["NPV"] == "#N/A" else float(row["NPV"])
                 for row in csv.DictReader(file)}
    (folder / "npv.json").write_text(json.dumps(found), encoding="utf-8")


def schedules(file):
    out = []
    for rule in json.loads(pathlib.Path(file).read_text(encoding="utf-8")):
        calendar = ORE.parseCalendar(rule["Calendar"])
        made = ORE.Schedule(ORE.parseDate(rule["StartDate"]), ORE.parseDate(rule["EndDate"]), ORE.parsePeriod(rule["Tenor"]), calendar,
                            ORE.parseBusinessDayConvention(rule["Convention"]),
                            ORE.parseBusinessDayConvention(rule["TermConvention"]), ORE.parseDateGenerationRule(rule["Rule"]), False)
        out.append([date.ISO() for date in made])
    json.dump(out, sys.stdout)


def counts(names):
    found = {name: ORE.parseIborIndex(name).dayCounter().name() for name in str(names).split(",")}
    json.dump(found, sys.stdout)


def ids(portfolio):
    read = ORE.Portfolio()
    read.fromFile(str(portfolio))
    print(read.size())


if __name__ == "__main__":
    work, given = sys.argv[1], [pathlib.Path(one) for one in sys.argv[2:]]
    {"price": price, "schedules": schedules, "counts": counts, "ids": ids}[work](*given)
