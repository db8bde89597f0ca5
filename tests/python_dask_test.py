# SPDX-License-Identifier: Apache-2.0
# optional: python/tilewalk python/extension engine/walk/kept engine/study/shards
# tilewalk.dask on a cluster of two worker processes that have the package but none of our files: prices, sensitivities and gains have the
# bits of a single process, even if a worker is killed during its work.
import os
import pathlib
import shutil
import signal
import sys
import time

import pythons

pythons.in_python_with("numpy", "distributed")

import numpy as np  # noqa: E402
import tilewalk as tw  # noqa: E402
import tilewalk.dask  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

BOOK, SCENARIOS = "configs/books/demo.yaml", "configs/scenarios/demo.yaml"
PATHS = 16384


def same(first, second):
    assert [row.price for row in first] == [row.price for row in second]
    assert [row.standard_error for row in first] == [row.standard_error for row in second]


def test_prices(client):
    with tilewalk.dask.submit(tw.Book(BOOK), client=client, count=5, paths=PATHS) as asked:
        assert len(asked.futures) == 5
        same(asked.result(), tw.price(BOOK, paths=PATHS))
        folder = asked.plan.folder
    assert not pathlib.Path(folder).exists()


def test_workers_without_our_disk(client):
    """The plan's folder disappears before anything is walked: the submitted data must suffice."""
    class far_away:
        """Moves the folder away when the first shard is submitted, and back when all are done."""

        folder = None

        def scatter(self, parcel, **how):
            self.folder = pathlib.Path(parcel["at"])
            return client.scatter(parcel, **how)

        def submit(self, *arguments, **how):
            if self.folder.exists():
                self.folder.rename(f"{self.folder}.ours")
            future = client.submit(*arguments, **how)
            future.result()
            shutil.rmtree(self.folder)
            return future

    cluster = far_away()
    asked = tilewalk.dask.submit("configs/books/own_product.yaml", client=cluster, count=2, paths=PATHS)
    pathlib.Path(f"{cluster.folder}.ours").rename(cluster.folder)
    with asked:
        same(asked.result(), tw.price("configs/books/own_product.yaml", paths=PATHS))


def test_sensitivities_and_gains(client):
    with tilewalk.dask.submit(BOOK, client=client, count=3, paths=PATHS, greeks=["delta"], trades=["asian_eur", "acme_call"]) as asked:
        found = asked.result()
    one = tw.greeks(BOOK, wanted=["delta"], paths=PATHS, trades=["asian_eur", "acme_call"])
    assert found.greeks.columns["value"].tolist() == one.columns["value"].tolist()
    with tilewalk.dask.submit(BOOK, SCENARIOS, client, count=3, paths=1024, trades=["acme_call"]) as asked:
        found = asked.result()
    one = tw.scenarios(BOOK, SCENARIOS, paths=1024, trades=["acme_call"])
    assert np.array_equal(found.gains, one.gains) and np.array_equal(found.errors, one.errors, equal_nan=True)


RIGHT = """market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.035, model: {hull_white: {mean_reversion: 0.05, volatility: 0.01}}}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}
  correlations: [[A, USD.rate, 0]]
trades:
  - {id: right, product: american, option: put, underlying: A, strike: 100, exercise_dates: [0.5, 1], maturity: 1}
"""


def test_a_tolerance(client):
    """The first plan has too few paths."""
    book = tw.Book.parse(RIGHT)
    with tilewalk.dask.submit(book, client=client, count=2, tolerance="0.5bp") as asked:
        folder = pathlib.Path(asked.plan.folder)
        found = asked.result()
        assert asked.plan.folder == str(folder / "next"), asked.plan
    same(found, tw.price(book, tolerance="0.5bp"))
    assert not folder.exists()


def test_differences(client):
    wish = {"paths": 1024, "trades": ["acme_call"]}
    with tilewalk.dask.submit(BOOK, client=client, count=2, differences=True, **wish) as asked:
        assert asked.result().columns["delta"].tolist() == tw.differences(BOOK, **wish).columns["delta"].tolist()


def test_a_lost_worker(client):
    run = dict(paths=2**21, trades=["autocall", "autocall_eur"], controls="none", random="philox")
    victim = next(iter(client.run(os.getpid).values()))
    with tilewalk.dask.submit(BOOK, client=client, count=6, **run) as asked:
        while not any(future.done() for future in asked.futures):
            time.sleep(0.02)
        os.kill(victim, signal.SIGKILL)
        same(asked.result(), tw.price(BOOK, **run))


def test_what_cannot_travel(client):
    for wrong in (dict(replay="shocks.npy"), dict(policy="policies.json")):
        try:
            tilewalk.dask.submit(BOOK, client=client, **wrong)
        except tw.UsageError as e:
            assert "names a file" in str(e), e
        else:
            raise AssertionError(f"{wrong} was taken")


def main():
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        pythons.run_all({name: lambda test=test: test(client) for name, test in tests.items()})


if __name__ == "__main__":
    sys.exit(main())
