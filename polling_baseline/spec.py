"""The numbers and the ranges of Linear Road.  No I/O, and nothing here knows an engine."""

from __future__ import annotations

from types import MappingProxyType

# The road
SEGMENTS = 100
SEGMENT_FT = 5280
EAST, WEST = 0, 1
ENTRY_LANE, EXIT_LANE = 0, 4
TRAVEL_LANES = (1, 2, 3)
MAX_XWAYS = 1000
MAX_SPEED_MPH = 100

# Time
RUN_SECONDS = 10_800
MINUTE_S = 60
REPORT_PERIOD_S = 30
HOUR_MINUTES = 60
DAY_MINUTES = 1440
WEEK_DAYS = 7
HISTORY_DAYS = 69

# Tolls (rules 3 and 4)
LAV_MINUTES = 5
FREE_CARS = 50
FREE_FLOW_MPH = 40
NO_LAV = -1

# Accidents (rules 6 and 7)
STOP_REPORTS = 4
ACCIDENT_VEHICLES = 2
ALERT_SEGMENTS = 4

# Money (rule 10) and travel time (rule 12)
BALANCE_AGE_S = 60
NO_TRAVEL_TIME = -1

# Input
REPORT, BALANCE, EXPENDITURE, TRAVEL_TIME = 0, 2, 3, 4
MAX_VEHICLE_ID = 2**31 - 1
MAX_QUERY_ID = 2**63 - 1

# The 15 fields of a line, in order: the specification's word, and ours.
FIELDS = MappingProxyType(
    {
        "Type": "kind",
        "Time": "second",
        "VID": "vehicle_id",
        "Spd": "speed_mph",
        "XWay": "xway",
        "Lane": "lane",
        "Dir": "dir",
        "Seg": "seg",
        "Pos": "position_ft",
        "QID": "query_id",
        "Sinit": "from_seg",
        "Send": "to_seg",
        "DOW": "day_of_week",
        "TOD": "minute_of_day",
        "Day": "day",
    }
)

# The lowest and highest value of each field where its type uses it; XWay depends on L as well.
RANGES = MappingProxyType(
    {
        "Time": (0, RUN_SECONDS - 1),
        "VID": (0, MAX_VEHICLE_ID),
        "Spd": (0, MAX_SPEED_MPH),
        "XWay": (0, MAX_XWAYS - 1),
        "Lane": (ENTRY_LANE, EXIT_LANE),
        "Dir": (EAST, WEST),
        "Seg": (0, SEGMENTS - 1),
        "Pos": (0, SEGMENTS * SEGMENT_FT - 1),
        "QID": (0, MAX_QUERY_ID),
        "Sinit": (0, SEGMENTS - 1),
        "Send": (0, SEGMENTS - 1),
        "DOW": (1, WEEK_DAYS),
        "TOD": (1, DAY_MINUTES),
        "Day": (1, HISTORY_DAYS),
    }
)

# Which fields a type uses; the others are -1 in a data set.
USED = MappingProxyType(
    {
        REPORT: ("Time", "VID", "Spd", "XWay", "Lane", "Dir", "Seg", "Pos"),
        BALANCE: ("Time", "VID", "QID"),
        EXPENDITURE: ("Time", "VID", "XWay", "QID", "Day"),
        TRAVEL_TIME: ("Time", "VID", "XWay", "QID", "Sinit", "Send", "DOW", "TOD"),
    }
)
UNUSED = -1

# The history's columns, in order: the specification's word, and ours; and the range of each.
TOLL_HISTORY = MappingProxyType({"VID": "vehicle_id", "Day": "day", "XWay": "xway", "Tolls": "tolls"})
SEGMENT_HISTORY = MappingProxyType(
    {
        "Day": "day",
        "Min": "minute",
        "XWay": "xway",
        "Dir": "dir",
        "Seg": "seg",
        "Lav": "lav",
        "Cnt": "cars",
        "Toll": "toll",
    }
)

# The kinds of answer in the order of their number, and the response time that each is allowed.
ANSWERS = ("toll", "accident", "balance", "expenditure", "travel_time")
DEADLINE_S = MappingProxyType({"toll": 5, "accident": 5, "balance": 5, "expenditure": 10, "travel_time": 30})


def minute_of(second: int) -> int:
    return second // MINUTE_S + 1


def toll_for(cars: int, lav_mph: int, accident_ahead: bool) -> int:
    """Rule 4, for the cars of the minute before."""
    if accident_ahead or cars <= FREE_CARS or lav_mph >= FREE_FLOW_MPH:
        return 0
    return 2 * (cars - FREE_CARS) ** 2


def day_of_week(days_ago: int) -> int:
    """The day of the week `days_ago` days before today; today is 1."""
    return -days_ago % WEEK_DAYS + 1
