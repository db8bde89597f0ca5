#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in PyTorch: eager, and through torch.compile."""
import math

import peer


def open_torch(arguments):
    import torch

    if not arguments.cpu and not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU")
    return torch_peer(torch, "cpu" if arguments.cpu else "cuda")


class torch_peer:
    def __init__(self, torch, where):
        self.torch, self.where = torch, where
        self.version = torch.__version__
        self.device = torch.cuda.get_device_name() if where == "cuda" else "CPU"
        torch.manual_seed(42)

    def pricers(self, precision):
        self.dtype = getattr(self.torch, precision)
        compiled = self.torch.compile
        return {
            ("eager", "asian"): lambda w: self.run(self.asian(w)),
            ("compile", "asian"): lambda w: self.run(compiled(self.asian(w))),
            ("eager", "heston"): lambda w: self.run(self.heston(w, self.heston_step(w))),
            ("compile", "heston"): lambda w: self.run(self.heston(w, compiled(self.heston_step(w)))),
            ("eager", "autocallable"): lambda w: self.run(self.autocallable(w)),
            ("compile", "autocallable"): lambda w: self.run(compiled(self.autocallable(w))),
            ("eager", "bermudan_put"): lambda w: self.run(self.bermudan_put(w)),
        }

    def run(self, payoffs_of):
        def price():
            with self.torch.no_grad():
                payoffs = payoffs_of().double()
                mean, deviation = payoffs.mean(), payoffs.std()
                # item() waits for the device.
                return mean.item(), deviation.item() / math.sqrt(payoffs.numel())
        return price

    def normals(self, *shape):
        return self.torch.randn(*shape, dtype=self.dtype, device=self.where)

    def asian(self, w):
        def payoffs():
            x = self.torch.cumsum(w["drift"] + w["step_volatility"] * self.normals(w["steps"], w["paths"]), 0)
            average = w["spot"] * self.torch.exp(x).mean(0)
            return w["discount"] * self.torch.clamp(average - w["strike"], min=0)
        return payoffs

    def heston_step(self, w):
        dt, rho = w["dt"], w["correlation"]

        def step(x, v):
            z, u = self.torch.randn_like(x), self.torch.randn_like(x)
            positive = self.torch.clamp(v, min=0)
            root = self.torch.sqrt(positive * dt)
            x = x + (w["rate"] - 0.5 * positive) * dt + root * z
            v = v + w["reversion"] * (w["mean_variance"] - positive) * dt + \
                w["volatility_of_variance"] * root * (rho * z + math.sqrt(1 - rho * rho) * u)
            return x, v
        return step

    def heston(self, w, step):
        def payoffs():
            x = self.torch.zeros(w["paths"], dtype=self.dtype, device=self.where)
            v = self.torch.full_like(x, w["variance"])
            for _ in range(w["steps"]):
                x, v = step(x, v)
            return w["discount"] * self.torch.clamp(w["spot"] * self.torch.exp(x) - w["strike"], min=0)
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


if __name__ == "__main__":
    raise SystemExit(peer.main("torch", open_torch))
