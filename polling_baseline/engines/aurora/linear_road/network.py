"""Linear Road as a network: reports pass three subnetworks, requests read tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polling_baseline import spec
from polling_baseline.engines.aurora.linear_road import accidents, money, statistics, tolls, travel
from polling_baseline.engines.aurora.linear_road.accidents import Accidents
from polling_baseline.engines.aurora.linear_road.history import History
from polling_baseline.engines.aurora.linear_road.money import Accounts
from polling_baseline.engines.aurora.linear_road.statistics import Segments
from polling_baseline.engines.aurora.linear_road.tolls import TollDebts
from polling_baseline.engines.aurora.linear_road.vehicles import Vehicles
from polling_baseline.engines.aurora.model.box import Filter
from polling_baseline.engines.aurora.model.network import Network
from polling_baseline.engines.aurora.model.shedding import Policy

REPORTS, REQUESTS = "reports", "requests"
# A segment's Lav is a mean of its speeds, so what a Lav is worth, a speed is worth.
POLICIES = {REPORTS: Policy("vehicle_id", "speed_mph", spec.MAX_SPEED_MPH)}


@dataclass(frozen=True, slots=True)
class Tables:
    """What the boxes share."""

    vehicles: Vehicles
    accidents: Accidents
    segments: Segments
    owed: TollDebts
    accounts: Accounts


def new_tables() -> Tables:
    return Tables(Vehicles(), Accidents(), Segments(), TollDebts(), Accounts())


def build(history: History, tables: Tables, alone: bool, clock: Callable[[], float]) -> Network:
    """The whole network; one that is not alone asks others about vehicles that change from expressway to expressway."""
    network = Network(clock)
    network.input(REPORTS)
    network.connection_point(REPORTS, REPORTS, spec.MINUTE_S)
    known, accidents_entered = accidents.build(network, REPORTS, tables.vehicles, tables.accidents, alone)
    statistics_entered = statistics.build(network, known, tables.segments)
    signals = [accidents_entered, statistics_entered]
    charged = tolls.build(network, known, signals, tables.accidents, tables.segments, tables.owed, alone)
    network.input(REQUESTS)
    after = network.add(
        Filter("asks for balance", lambda columns: np.asarray(columns["kind"] == spec.BALANCE)), REQUESTS, money.GROUP
    )
    money.build(network, after, charged, tables.accounts, alone)
    travel.build(network, REQUESTS, history)
    return network
