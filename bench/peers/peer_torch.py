#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in PyTorch: operations on arrays, eager, and steps through torch.compile.

For speed the compiled style walks a chunk of steps in one kernel; all calls of a price, sums included, are
captured once as one CUDA graph, which a price replays, and two numbers leave the device. The normals of a
chunk are drawn ahead by one call: drawing them at their use, without going through memory, took two to six
times as long. The put's regressions are sums over paths in double and a written-out solution: nothing
waits for the host. Without a capture there is no row, rather than a slower one.

Gradients are those of reverse mode, of the mean payoff to all numbers at once. The compiled Asian is one
function of all normals, Heston's a chunk of steps; the replayed graph includes the way back. `launched` is
the same without a graph."""
import functools
import math

import peer

# Steps fused into one kernel, by workload; about 30 normals each.
CHUNKS = {"asian": 36, "heston": 14, "autocallable": 6}
# The compiler's default limit of 64 graph nodes a kernel is less than a chunk.
OPTIONS = {"max_fusion_size": 100000}


def open_torch(arguments):
    import torch

    if not arguments.cpu and not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU")
    return torch_peer(torch, "cpu" if arguments.cpu else "cuda", arguments)


class torch_peer:
    def __init__(self, torch, where, arguments):
        self.torch, self.where, self.chunk = torch, where, arguments.chunk
        self.version = torch.__version__
        self.device = torch.cuda.get_device_name() if where == "cuda" else "CPU"
        torch.manual_seed(42)

    def pricers(self, precision):
        self.dtype = getattr(self.torch, precision)
        names = ("asian", "heston", "autocallable", "bermudan_put")
        eager = {("eager", name): functools.partial(self.eager, getattr(self, name)) for name in names}
        gradients = {}
        for name in ("asian", "heston"):
            eager_of, compiled_of = getattr(self, name + "_by_numbers"), getattr(self, f"compiled_{name}_by_numbers")
            gradients |= {("eager", name + "_greeks"): functools.partial(self.launched, eager_of),
                          ("launched", name + "_greeks"): functools.partial(self.launched, compiled_of),
                          ("compile", name + "_greeks"):
                              functools.partial(self.captured, functools.partial(self.gradient, compiled_of))}
        return eager | gradients | {("compile", name): functools.partial(self.captured, getattr(self, "compiled_" + name))
                        for name in names}

    def eager(self, payoffs_of, w):
        payoffs = payoffs_of(w)

        def price():
            with self.torch.no_grad():
                return tuple(self.estimate(payoffs()).tolist())  # waits for the device
        return price

    def start_peak(self):
        if self.where == "cuda":
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()

    def peak_bytes(self):
        return self.torch.cuda.max_memory_allocated() if self.where == "cuda" else None

    def gradient(self, payoffs_of, w):
        """A function that returns the estimate and the derivatives of the mean, in one tensor."""
        torch = self.torch
        of = {"volatilities": "volatility", "rates": "rate"}
        numbers = [torch.full((count,), float(w[of.get(name, name)]), dtype=self.dtype, device=self.where,
                              requires_grad=True) for name, count in w["gradient"].items()]
        payoffs = payoffs_of(w)

        def run():
            paid = payoffs(*numbers)
            found = torch.autograd.grad(paid.mean(), numbers)
            return torch.cat((self.estimate(paid.detach()), *(g.double() for g in found)))
        return run

    def launched(self, payoffs_of, w):
        self.torch._dynamo.reset()
        run = self.gradient(payoffs_of, w)
        return lambda: tuple(run().tolist())  # waits for the device

    def asian_of(self, w):
        """The payoffs by all normals, spot, volatilities and rates."""
        torch, dt = self.torch, w["dt"]

        def payoffs(z, spot, volatilities, rates):
            drifts = (rates - 0.5 * volatilities * volatilities) * dt
            x = torch.cumsum(drifts[:, None] + (volatilities * math.sqrt(dt))[:, None] * z, 0)
            average = spot * torch.exp(x).mean(0)
            return torch.exp(-dt * rates.sum()) * torch.clamp(average - w["strike"], min=0)
        return payoffs

    def asian_by_numbers(self, w):
        payoffs = self.asian_of(w)
        return lambda *numbers: payoffs(self.normals(w["steps"], w["paths"]), *numbers)

    def compiled_asian_by_numbers(self, w):
        payoffs = self.torch.compile(self.asian_of(w), fullgraph=True, dynamic=False)
        return lambda *numbers: payoffs(self.normals(w["steps"], w["paths"]), *numbers)

    def heston_step_of(self, w):
        torch, dt = self.torch, w["dt"]

        def step(x, v, z, u, reversion, mean_variance, volatility, rho):
            # Guards the derivative, infinite for a root of 0: the root is taken of 1 there, and replaced by 0.
            is_positive = v > 0
            positive = torch.where(is_positive, v, 0)
            root = torch.where(is_positive, torch.sqrt(torch.where(is_positive, v, 1) * dt), 0)
            x = x + (w["rate"] - 0.5 * positive) * dt + root * z
            v = v + reversion * (mean_variance - positive) * dt + \
                volatility * root * (rho * z + torch.sqrt(1 - rho * rho) * u)
            return x, v
        return step

    def heston_in_chunks(self, w, steps, chunk):
        """The payoffs by Heston's numbers, walked by `steps`, a chunk at a time."""
        def payoffs(spot, variance, *parameters):
            x = self.zeros(w)
            v = x + variance
            for _ in range(w["steps"] // chunk):
                x, v = steps(self.normals(chunk, 2, w["paths"]), x, v, *parameters)
            return w["discount"] * self.torch.clamp(spot * self.torch.exp(x) - w["strike"], min=0)
        return payoffs

    def heston_by_numbers(self, w):
        step = self.heston_step_of(w)
        return self.heston_in_chunks(w, lambda z, x, v, *parameters: step(x, v, z[0, 0], z[0, 1], *parameters), 1)

    def compiled_heston_by_numbers(self, w):
        chunk, step = self.chunk or CHUNKS["heston"], self.heston_step_of(w)
        if w["steps"] % chunk:
            raise ValueError(f"{w['steps']} steps are no chunks of {chunk}")

        def steps(z, x, v, *parameters):
            for k in range(chunk):
                x, v = step(x, v, z[k, 0], z[k, 1], *parameters)
            return x, v
        return self.heston_in_chunks(w, self.compile(steps), chunk)

    def estimate(self, payoffs):
        payoffs = payoffs.double()
        return self.torch.stack((payoffs.mean(), payoffs.std() / math.sqrt(payoffs.numel())))

    def compile(self, function):
        return self.torch.compile(function, fullgraph=True, dynamic=False, options=OPTIONS)

    def captured(self, estimate_of, w):
        """Replays of one graph of everything that `estimate_of(w)()` launches."""
        torch = self.torch
        torch._dynamo.reset()  # code compiled before would count against the limit
        estimate = estimate_of(w)
        if self.where == "cpu":
            return lambda: tuple(estimate().tolist())
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):  # compiles, and lets libraries initialise
            for _ in range(3):
                estimate()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = estimate()

        def price():
            graph.replay()
            return tuple(result.tolist())  # waits for the device
        if price() == price():
            raise RuntimeError("two replays of the graph gave one price: they draw the same numbers")
        return price

    def normals(self, *shape):
        return self.torch.randn(*shape, dtype=self.dtype, device=self.where)

    def asian(self, w):
        def payoffs():
            x = self.torch.cumsum(w["drift"] + w["step_volatility"] * self.normals(w["steps"], w["paths"]), 0)
            average = w["spot"] * self.torch.exp(x).mean(0)
            return w["discount"] * self.torch.clamp(average - w["strike"], min=0)
        return payoffs

    def heston_step(self, w, x, v, z, u):
        dt, rho = w["dt"], w["correlation"]
        positive = self.torch.clamp(v, min=0)
        root = self.torch.sqrt(positive * dt)
        x = x + (w["rate"] - 0.5 * positive) * dt + root * z
        v = v + w["reversion"] * (w["mean_variance"] - positive) * dt + \
            w["volatility_of_variance"] * root * (rho * z + math.sqrt(1 - rho * rho) * u)
        return x, v

    def heston_payoffs(self, w, x):
        return w["discount"] * self.torch.clamp(w["spot"] * self.torch.exp(x) - w["strike"], min=0)

    def heston(self, w):
        def payoffs():
            x = self.torch.zeros(w["paths"], dtype=self.dtype, device=self.where)
            v = self.torch.full_like(x, w["variance"])
            for _ in range(w["steps"]):
                x, v = self.heston_step(w, x, v, self.torch.randn_like(x), self.torch.randn_like(x))
            return self.heston_payoffs(w, x)
        return payoffs

    def autocallable(self, w):
        torch = self.torch
        root = torch.tensor(w["root"], dtype=self.dtype, device=self.where)
        drifts = torch.tensor(w["drifts"], dtype=self.dtype, device=self.where)
        payments = torch.tensor(w["payments"], dtype=self.dtype, device=self.where)

        def payoffs():
            moves = torch.matmul(root, self.normals(w["steps"], len(w["drifts"]), w["paths"])) + drifts[:, None]
            worst = torch.cumsum(moves, 0).amin(1)
            above = worst >= math.log(w["call_level"])
            called, first = above.any(0), above.to(torch.uint8).argmax(0)
            performance = torch.exp(worst[-1])
            at_the_end = torch.where(performance >= w["protection"], torch.ones_like(performance), performance)
            return torch.where(called, payments[first], w["notional"] * w["discount"] * at_the_end)
        return payoffs

    def bermudan_put(self, w):
        """Longstaff and Schwartz: the rule from one set of paths, the price from another."""
        torch = self.torch
        discount = math.exp(-w["rate"] * w["dt"])

        def spots():
            x = torch.cumsum(w["drift"] + w["step_volatility"] * self.normals(w["steps"], w["paths"]), 0)
            return w["spot"] * torch.exp(x)

        def basis(s):
            x = (s - w["strike"]) / (0.2 * w["strike"])
            return torch.stack((torch.ones_like(x), x, x * x, x * x * x))

        def payoffs():
            s = spots()
            later = torch.clamp(w["strike"] - s[-1], min=0)
            rule = [None] * w["steps"]
            for k in range(w["steps"] - 2, -1, -1):
                later = discount * later
                inner = torch.clamp(w["strike"] - s[k], min=0)
                columns = basis(s[k]) * (inner > 0)
                matrix = (columns @ columns.T).double() + 1e-9 * torch.eye(4, dtype=torch.float64, device=self.where)
                rule[k] = torch.linalg.solve(matrix, (columns @ later).double()).to(self.dtype)
                exercised = (inner > 0) & (inner > rule[k] @ columns)
                later = torch.where(exercised, inner, later)
            s = spots()
            paid = torch.zeros_like(s[0])
            alive = torch.ones_like(s[0], dtype=torch.bool)
            for k in range(w["steps"]):
                inner = torch.clamp(w["strike"] - s[k], min=0)
                now = alive & (inner > 0)
                if k < w["steps"] - 1:
                    now = now & (inner > rule[k] @ basis(s[k]))
                paid = torch.where(now, inner * discount ** (k + 1), paid)
                alive = alive & ~now
            return paid
        return payoffs

    def walk(self, w, normals_of_step, step, start, payoffs):
        """The estimate after all steps, each chunk a kernel; `step(z, *state)` returns the next state,
        where z are the normals of a step."""
        chunk = self.chunk or CHUNKS[w["name"]]
        if w["steps"] % chunk:
            raise ValueError(f"{w['steps']} steps are no chunks of {chunk}")

        def steps(normals, *state):
            for k in range(chunk):
                state = step(normals[k], *state)
            return state
        compiled, estimate = self.compile(steps), self.compile(lambda *state: self.estimate(payoffs(*state)))

        def run():
            state = start()
            for _ in range(w["steps"] // chunk):
                state = compiled(self.normals(chunk, normals_of_step, w["paths"]), *state)
            return estimate(*state)
        return run

    def zeros(self, w):
        return self.torch.zeros(w["paths"], dtype=self.dtype, device=self.where)

    def compiled_asian(self, w):
        torch = self.torch

        def step(z, x, total):
            x = x + (w["drift"] + w["step_volatility"] * z[0])
            return x, total + torch.exp(x)

        def payoffs(x, total):
            return w["discount"] * torch.clamp(total * (w["spot"] / w["steps"]) - w["strike"], min=0)
        return self.walk(w, 1, step, lambda: (self.zeros(w), self.zeros(w)), payoffs)

    def compiled_heston(self, w):
        def step(z, x, v):
            return self.heston_step(w, x, v, z[0], z[1])

        def start():
            return self.zeros(w), self.zeros(w) + w["variance"]
        return self.walk(w, 2, step, start, lambda x, v: self.heston_payoffs(w, x))

    def compiled_autocallable(self, w):
        torch, count = self.torch, len(w["drifts"])
        payments = torch.tensor(w["payments"], dtype=self.dtype, device=self.where)

        def step(z, alive, first, *x):  # first: the step of the call
            x = [x[i] + w["drifts"][i] + sum([w["root"][i][j] * z[j] for j in range(i + 1)]) for i in range(count)]
            alive = alive & (functools.reduce(torch.minimum, x) < math.log(w["call_level"]))
            return alive, first + alive, *x

        def start():
            zeros = [self.zeros(w) for _ in range(count)]
            return zeros[0] == 0, torch.zeros_like(zeros[0], dtype=torch.int32), *zeros

        def payoffs(alive, first, *x):
            performance = torch.exp(functools.reduce(torch.minimum, x))
            at_the_end = torch.where(performance >= w["protection"], torch.ones_like(performance), performance)
            paid = payments[torch.clamp(first, max=w["steps"] - 1).long()]
            return torch.where(alive, w["notional"] * w["discount"] * at_the_end, paid)
        return self.walk(w, count, step, start, payoffs)

    def compiled_bermudan_put(self, w):
        """Seven dates at a time backward; then all dates forward, over other paths."""
        torch, strike, last = self.torch, w["strike"], w["steps"] - 1
        discount = math.exp(-w["rate"] * w["dt"])
        chunk = 7 if last % 7 == 0 else 1

        def exercised(s, rule):
            x = (s - strike) / (0.2 * strike)
            return (s < strike) & (strike - s > rule[0] + x * (rule[1] + x * (rule[2] + x * rule[3])))

        def spots():
            x = torch.cumsum(w["drift"] + w["step_volatility"] * self.normals(w["steps"], w["paths"]), 0)
            return w["spot"] * torch.exp(x)

        def back(later, s):
            rules = []
            for k in reversed(range(chunk)):
                later = discount * later
                x = ((s[k] - strike) / (0.2 * strike)).double()
                powers = [(s[k] < strike).double()]
                while len(powers) < 7:
                    powers.append(powers[-1] * x)
                sums = [p.sum() for p in powers] + [(p * later).sum() for p in powers[:4]]
                rules.append(torch.stack(peer.fitted_cubic(sums)).to(self.dtype))
                later = torch.where(exercised(s[k], rules[-1]), strike - s[k], later)
            return later, torch.stack(rules[::-1])

        def forth(normals, rules):
            x, paid = self.zeros(w), self.zeros(w)
            alive = x == 0
            for k in range(w["steps"]):
                x = x + (w["drift"] + w["step_volatility"] * normals[k])
                s = w["spot"] * torch.exp(x)
                now = alive & (s < strike if k == last else exercised(s, rules[k // chunk][k % chunk]))
                paid = torch.where(now, discount ** (k + 1) * (strike - s), paid)
                alive = alive & ~now
            return self.estimate(paid)
        spots, back, forth = self.compile(spots), self.compile(back), self.compile(forth)

        def run():
            s, rules = spots(), []
            later = torch.clamp(strike - s[last], min=0)
            for k in range(last - chunk, -1, -chunk):
                later, rule = back(later, s[k:k + chunk])
                rules.insert(0, rule)
            return forth(self.normals(w["steps"], w["paths"]), rules)
        return run


if __name__ == "__main__":
    raise SystemExit(peer.main("torch", open_torch, has_gradients=True))
