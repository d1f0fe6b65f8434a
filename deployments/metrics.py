"""What is counted, in Prometheus's words. One registry an application, passed in; nothing is global."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from guards.verdict import Verdict

_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # to the client's timeout, 10 s


class Metrics:
    """Requests by route and status, their time, and canvases by where they came from."""

    content_type: Final = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter("readgate_requests", "Requests answered", ("route", "status"), registry=self.registry)
        self._seconds = Histogram(
            "readgate_request_seconds", "Time to the last byte", ("route",), registry=self.registry, buckets=_BUCKETS_S
        )
        self._in_flight = Gauge("readgate_requests_in_flight", "Requests being answered", registry=self.registry)
        self._canvases = Counter("readgate_canvases", "Canvases needed", ("source",), registry=self.registry)

        self._verdicts = Counter(
            "readgate_verdicts", "Verdicts", ("policy", "stage", "action", "read"), registry=self.registry
        )
        self._findings = Counter(
            "readgate_findings", "Checks' outcomes", ("policy", "check", "action", "shadow"), registry=self.registry
        )
        self._judging = Histogram(
            "readgate_verdict_seconds",
            "Time to a verdict",
            ("policy", "stage"),
            registry=self.registry,
            buckets=_BUCKETS_S,
        )
        self._audit_lost = Counter("readgate_audit_lost", "Audit records not written", registry=self.registry)

    def began(self) -> None:
        self._in_flight.inc()

    def answered(self, route: str, status: int, seconds: float) -> None:
        """`route` is a path template, never a client's own path: labels stay few."""
        self._in_flight.dec()
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def canvases(self, *, read: int, cached: int) -> None:
        if read:
            self._canvases.labels("engine").inc(read)
        if cached:
            self._canvases.labels("cache").inc(cached)

    def judged(self, verdict: Verdict, elapsed_s: float) -> None:
        """A stage of a conversation was judged: guards' Meter."""
        policy, stage = verdict.policy.name, verdict.stage.value
        self._verdicts.labels(policy, stage, verdict.action.value, str(verdict.read).lower()).inc()
        self._judging.labels(policy, stage).observe(elapsed_s)
        for finding in verdict.findings:
            action = "unread" if finding.unread else finding.action.value
            self._findings.labels(policy, finding.check.id, action, str(finding.check.shadow).lower()).inc()

    def audit_lost(self) -> None:
        self._audit_lost.inc()

    def render(self) -> bytes:
        return generate_latest(self.registry)
