#!/usr/bin/env python3
"""Linear Road in plain Python: all rules, the standard library, and nothing clever.

    lrb run road1 --engine exec --command 'python3 docs/examples/plain_python.py' --clock virtual

Cars on expressways report every 30 seconds where they are and how fast.  From that, this program works out tolls that
rise with the traffic, warns of accidents, keeps accounts, and answers questions about the past.  It reads what the
driver sends on standard input and writes its answers to standard output (docs/your-own-system.md).  The rules have the
numbers of docs/linear-road.md.
"""

import csv
import json
import sys
from collections import defaultdict
from fractions import Fraction
from math import floor
from pathlib import Path

REPORT, BALANCE, EXPENDITURE, TRAVEL_TIME = 0, 2, 3, 4  # types of input lines
EXIT_LANE, TRAVEL_LANES = 4, (1, 2, 3)
EAST, WEST = 0, 1
SEGMENT_FT, LAST_SEG = 5280, 99
PERIOD_S = 30  # a car reports so often
STOP_REPORTS = 4  # as many reports from one spot make a stop
FREE_CARS, FREE_FLOW_MPH = 50, 40
LAV_MINUTES, ALERT_SEGMENTS = 5, 4
DAY_MINUTES = 1440
NOW = -1  # for Emit: the driver sets it when it has read the line


def minute_of(second):
    return second // 60 + 1


class Statistics:
    """How many cars there were in each segment in each minute, and how fast they were (rules 2 and 3).

    A place is an expressway, a direction and a segment.
    """

    def __init__(self):
        # The minute under way: for each place, of each car that reported there, the sum and the number of its speeds.
        self.speeds = defaultdict(lambda: defaultdict(lambda: [0, 0]))
        # Of the minutes before: how many cars, and the mean of the cars' means, by minute and place.
        self.cars = {}
        self.average = {}

    def note(self, place, vehicle, speed):
        """Enter one report."""
        entry = self.speeds[place][vehicle]
        entry[0] += speed
        entry[1] += 1

    def close_minute(self, minute):
        """Draw the sums of a minute that is over; forget what nobody will ask for."""
        self.cars[minute] = {place: len(vehicles) for place, vehicles in self.speeds.items()}
        self.average[minute] = {
            place: sum(Fraction(total, reports) for total, reports in vehicles.values()) / len(vehicles)
            for place, vehicles in self.speeds.items()
        }
        self.speeds.clear()
        self.cars.pop(minute - LAV_MINUTES, None)
        self.average.pop(minute - LAV_MINUTES, None)

    def cars_before(self, minute, place):
        """How many different cars reported from the place in the minute before."""
        return self.cars.get(minute - 1, {}).get(place, 0)

    def lav(self, minute, place):
        """Rule 3: the latest average velocity, over those of the five minutes before that have data."""
        minutes = range(minute - LAV_MINUTES, minute)
        known = [self.average[m][place] for m in minutes if m in self.average and place in self.average[m]]
        return floor(sum(known) / len(known)) if known else -1


class Accidents:
    """Who stands still where, and in which segments there was an accident (rules 6 and 7).

    A spot is an expressway, a lane, a position and a direction.
    """

    def __init__(self):
        self.stopped = {}  # vehicle -> its spot, and the last second at which it is taken to be there
        self.at_spot = defaultdict(set)  # spot -> vehicles that are stopped there
        self.seen = defaultdict(set)  # minute -> places with an accident

    def note(self, vehicle, second, spot, stops):
        """A car reported, which ends its earlier stop; if it has been on this spot for four reports, it stops there."""
        if vehicle in self.stopped:
            self.at_spot[self.stopped.pop(vehicle)[0]].discard(vehicle)
        if stops and spot[1] in TRAVEL_LANES:
            self.stopped[vehicle] = spot, second + PERIOD_S - 1
            self.at_spot[spot].add(vehicle)

    def close_second(self, second):
        """Rule 6: where two cars or more are stopped at this second, there is an accident."""
        for spot, vehicles in list(self.at_spot.items()):
            for vehicle in [one for one in vehicles if self.stopped[one][1] < second]:
                vehicles.discard(vehicle)
                del self.stopped[vehicle]
            if len(vehicles) >= 2:
                xway, _, position, direction = spot
                self.seen[minute_of(second)].add((xway, direction, position // SEGMENT_FT))
            if not vehicles:
                del self.at_spot[spot]

    def ahead(self, minute, place):
        """Rule 7: the segment of the nearest accident of the minute before, here or up to four segments downstream."""
        xway, direction, seg = place
        there = self.seen.get(minute - 1)
        if there:
            for distance in range(ALERT_SEGMENTS + 1):
                at = seg + distance if direction == EAST else seg - distance
                if 0 <= at <= LAST_SEG and (xway, direction, at) in there:
                    return at
        return None


class History:
    """Ten weeks of the past: what each car paid on each day, and how each segment was (rules 11 and 12)."""

    def __init__(self, toll_files, segment_files):
        self.tolls = {}
        for row in rows_of(toll_files):
            vehicle, day, xway, tolls = map(int, row)
            self.tolls[vehicle, day, xway] = tolls
        # By day of the week, minute and place: sums of LAV and of cars, and of how many days.
        self.sums = {}
        for row in rows_of(segment_files):
            day, minute, xway, direction, seg, lav, cars = map(int, row[:7])
            key = -day % 7 + 1, minute, xway, direction, seg
            before = self.sums.get(key, (0, 0, 0))
            self.sums[key] = before[0] + lav, before[1] + cars, before[2] + 1

    def expenditure(self, vehicle, day, xway):
        return self.tolls.get((vehicle, day, xway), 0)

    def travel(self, xway, from_seg, to_seg, weekday, minute):
        """Rule 12: seconds and toll of a journey that starts then, at the speeds of the past."""
        direction, step = (EAST, 1) if from_seg < to_seg else (WEST, -1)
        now, tolls = Fraction(minute), Fraction(0)
        for seg in range(from_seg, to_seg, step):
            days, within = divmod(floor(now) - 1, DAY_MINUTES)
            key = (weekday - 1 + days) % 7 + 1, within + 1, xway, direction, seg
            lav_sum, cars_sum, count = self.sums.get(key, (0, 0, 1))
            if lav_sum == 0:
                return -1, -1
            lav, cars = Fraction(lav_sum, count), Fraction(cars_sum, count)
            if lav < FREE_FLOW_MPH and cars > FREE_CARS:
                tolls += 2 * (cars - FREE_CARS) ** 2
            now += 60 / lav  # minutes for a mile
        return rounded(60 * (now - minute)), rounded(tolls)


def rows_of(files):
    for name in files:
        with Path(name).open(newline="") as lines:
            yield from csv.reader(lines)


def rounded(number):
    return floor(number + Fraction(1, 2))


class LinearRoad:
    """Takes input line by line, and gives the answers to a second when it is over."""

    def __init__(self, history, first_second):
        self.history = history
        self.second = first_second  # the one under way
        self.statistics = Statistics()
        self.accidents = Accidents()
        # Of each trip its last report: second, segment, spot, how often it was there, and the toll to be paid for the
        # segment.  A car reports every 30 s, so its number and the second within 30 name the trip (rule 1).
        self.trips = {}
        self.accounts = defaultdict(int)
        self.tolls = {}  # place -> LAV, toll and accident ahead, in this minute
        self.requests = []
        self.answers = []

    def take(self, line):
        """One line of input; those of a second come one after the other."""
        kind, second, vehicle, speed, xway, lane, direction, seg, position = line[:9]
        self.advance_to(second)
        if kind == REPORT:
            self.report(second, vehicle, speed, lane, (xway, direction, seg), (xway, lane, position, direction))
        else:
            self.requests.append(line)  # until all reports of the second are known

    def advance_to(self, second):
        """Close every second before this one."""
        while self.second < second:
            self.close_second()

    def report(self, second, vehicle, speed, lane, place, spot):
        """Rules 1, 5, 8 and 9: does the car begin a trip, enter a segment, owe a toll?"""
        self.statistics.note(place, vehicle, speed)
        trip = vehicle, second % PERIOD_S
        before = self.trips.get(trip)
        if before and before[0] != second - PERIOD_S:
            before = None  # an old trip: it has ended, and its last toll is not charged
        times_here = before[3] + 1 if before and before[2] == spot else 1
        self.accidents.note(vehicle, second, spot, times_here >= STOP_REPORTS)
        owed = before[4] if before else 0
        if not before or before[1] != place[2]:
            self.accounts[vehicle] += owed  # rule 9: the segment is left, and the toll for it is paid
            owed = self.enter(second, vehicle, place) if lane != EXIT_LANE else 0
        self.trips[trip] = second, place[2], spot, times_here, owed

    def enter(self, second, vehicle, place):
        """A car is in a segment that it was not in before: tell it the toll, and the accident if there is one."""
        if place not in self.tolls:
            self.tolls[place] = self.toll_of(minute_of(second), place)
        lav, toll, accident = self.tolls[place]
        self.answers.append(f"0,{vehicle},{second},{NOW},{lav},{toll}")
        if accident is not None:
            self.answers.append(f"1,{second},{NOW},{vehicle},{accident}")
        return toll

    def toll_of(self, minute, place):
        """Rule 4: tolls rise with the square of the traffic, where it is slow and no accident is to blame."""
        lav, cars = self.statistics.lav(minute, place), self.statistics.cars_before(minute, place)
        accident = self.accidents.ahead(minute, place)
        free = lav >= FREE_FLOW_MPH or cars <= FREE_CARS or accident is not None
        return lav, 0 if free else 2 * (cars - FREE_CARS) ** 2, accident

    def close_second(self):
        """All reports of the second are known: answer its requests, look for accidents, and go on."""
        for line in self.requests:
            self.answer(*line)
        self.requests.clear()
        self.accidents.close_second(self.second)
        self.second += 1
        if self.second % 60 == 0:
            self.close_minute(minute_of(self.second) - 1)

    def close_minute(self, minute):
        """Statistics and accidents of a minute are in force in the next one."""
        self.statistics.close_minute(minute)
        self.accidents.seen.pop(minute - 1, None)
        self.tolls.clear()
        over = self.second - PERIOD_S
        self.trips = {trip: last for trip, last in self.trips.items() if last[0] >= over}

    def answer(self, kind, second, vehicle, _, xway, *rest):
        """Rules 10 to 12."""
        query, from_seg, to_seg, weekday, minute, day = rest[4:]
        if kind == BALANCE:
            balance = self.accounts.get(vehicle, 0)
            self.answers.append(f"2,{second},{NOW},{second},{query},{balance}")
        elif kind == EXPENDITURE:
            paid = self.history.expenditure(vehicle, day, xway)
            self.answers.append(f"3,{second},{NOW},{query},{paid}")
        elif kind == TRAVEL_TIME:
            seconds, toll = self.history.travel(xway, from_seg, to_seg, weekday, minute)
            self.answers.append(f"4,{second},{NOW},{query},{seconds},{toll}")


def main():
    about = json.loads(sys.stdin.readline())
    history = History(about["toll_history"], about["segment_history"])
    road = LinearRoad(history, about["first_second"])
    print("ready", flush=True)
    for line in sys.stdin:
        if line.startswith("mark"):  # the second is complete: answer it, and say so
            road.advance_to(int(line.split()[1]) + 1)
            road.answers.append(line.strip())
            tell(road)
        else:
            road.take([int(field) for field in line.split(",")])
            if len(road.answers) > 1000:
                tell(road)
    road.advance_to(road.second + 1)
    tell(road)


def tell(road):
    if road.answers:
        print("\n".join(road.answers), flush=True)
        road.answers.clear()


if __name__ == "__main__":
    main()
