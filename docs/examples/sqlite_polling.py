#!/usr/bin/env python3
"""Linear Road on SQLite: a table for the input of a second, tables for what is known, one SQL script a second.

    lrb run road1 --engine exec --command 'python3 docs/examples/sqlite_polling.py' --clock virtual

This is the paper's System X, a relational database that is polled, in one file and with the database that everyone
has.  Python only carries lines: the rules are SQL, numbered as in docs/linear-road.md, but for two sums that need exact
fractions and for the journey of rule 12.  The lines are those of docs/your-own-system.md.
It needs SQLite 3.35 or newer, which every Python from 3.10 on usually has.
"""

import csv
import json
import sqlite3
import sys
from fractions import Fraction
from math import floor
from pathlib import Path

TABLES = """
-- The input of the second under way.
CREATE TABLE report (vid INTEGER, speed INTEGER, xway INTEGER, lane INTEGER, dir INTEGER, seg INTEGER, pos INTEGER);
CREATE TABLE request (kind INTEGER, vid INTEGER, xway INTEGER, qid INTEGER, from_seg INTEGER, to_seg INTEGER,
                      weekday INTEGER, minute INTEGER, day INTEGER);
-- Its reports again, with what they mean: whether the car enters a segment, how often it has been on this very spot,
-- the toll that it owes for the segment before, and what holds in this segment in this minute.
CREATE TABLE move (vid INTEGER, xway INTEGER, dir INTEGER, seg INTEGER, lane INTEGER, pos INTEGER,
                   enters INTEGER, times INTEGER, owed INTEGER, lav INTEGER, toll INTEGER, accident INTEGER);
-- The last report of each trip; a car reports every 30 s, so the second within 30 tells its trips apart (rule 1).
CREATE TABLE trip (vid INTEGER, phase INTEGER, second INTEGER, xway INTEGER, dir INTEGER, seg INTEGER, lane INTEGER,
                   pos INTEGER, times INTEGER, owed INTEGER, PRIMARY KEY (vid, phase)) WITHOUT ROWID;
CREATE TABLE account (vid INTEGER PRIMARY KEY, balance INTEGER);
-- Cars that stand still on a travel lane, and until when that is taken to be so.
CREATE TABLE stop (vid INTEGER PRIMARY KEY, xway INTEGER, lane INTEGER, pos INTEGER, dir INTEGER, until INTEGER);
CREATE TABLE accident (minute INTEGER, xway INTEGER, dir INTEGER, seg INTEGER,
                       PRIMARY KEY (minute, xway, dir, seg)) WITHOUT ROWID;
-- The minute under way: what each car reported in each segment.  The five minutes before: the sums.
CREATE TABLE speed (xway INTEGER, dir INTEGER, seg INTEGER, vid INTEGER, total INTEGER, reports INTEGER,
                    PRIMARY KEY (xway, dir, seg, vid)) WITHOUT ROWID;
CREATE TABLE statistic (minute INTEGER, xway INTEGER, dir INTEGER, seg INTEGER, cars INTEGER, average TEXT);
-- What holds in this minute; a segment that is not there has no data and no accident ahead.
CREATE TABLE toll (xway INTEGER, dir INTEGER, seg INTEGER, lav INTEGER, toll INTEGER, accident INTEGER,
                   PRIMARY KEY (xway, dir, seg)) WITHOUT ROWID;
-- Ten weeks of the past.
CREATE TABLE toll_history (vid INTEGER, day INTEGER, xway INTEGER, tolls INTEGER,
                           PRIMARY KEY (vid, day, xway)) WITHOUT ROWID;
CREATE TABLE segment_average (weekday INTEGER, minute INTEGER, xway INTEGER, dir INTEGER, seg INTEGER,
                              lav INTEGER, cars INTEGER, days INTEGER,
                              PRIMARY KEY (xway, dir, seg, weekday, minute)) WITHOUT ROWID
"""

# When a minute is over; :minute is that one.
MINUTE = """
-- Rule 2: distinct cars, and the mean of their mean speeds.
INSERT INTO statistic
SELECT :minute, xway, dir, seg, count(*), mean_of_means(total, reports) FROM speed GROUP BY xway, dir, seg;

DELETE FROM speed;
DELETE FROM statistic WHERE minute <= :minute - 5;

-- Rules 3 and 4, without accidents.
DELETE FROM toll;

INSERT INTO toll
SELECT xway, dir, seg, lav, CASE WHEN lav < 40 AND cars > 50 THEN 2 * (cars - 50) * (cars - 50) ELSE 0 END, NULL
FROM (
    SELECT xway, dir, seg, floor_of_mean(average) AS lav, max(iif(minute = :minute, cars, 0)) AS cars
    FROM statistic GROUP BY xway, dir, seg
);

-- Rule 7: an accident acts on its own segment and on four upstream.  Where several are ahead, the nearest counts:
-- beside min(), SQLite takes the other columns from the row that has the minimum.
WITH distance (miles) AS (VALUES (0), (1), (2), (3), (4)),
ahead AS (
    SELECT xway, dir, iif(dir = 0, seg - miles, seg + miles) AS at, seg AS accident, min(miles)
    FROM accident, distance WHERE minute = :minute GROUP BY 1, 2, 3
)
INSERT INTO toll
SELECT xway, dir, at, -1, 0, accident FROM ahead WHERE at BETWEEN 0 AND 99
ON CONFLICT DO UPDATE SET toll = 0, accident = excluded.accident;

DELETE FROM accident WHERE minute < :minute;
DELETE FROM trip WHERE second < :second - 30
"""

# Each second, after its input has been inserted.
SECOND = """
-- Rule 2.
INSERT INTO speed SELECT xway, dir, seg, vid, speed, 1 FROM report WHERE true
ON CONFLICT DO UPDATE SET total = total + excluded.total, reports = reports + 1;

-- Rules 1, 5 and 6: what each report means, seen from the one 30 s before.
DELETE FROM move;

INSERT INTO move
SELECT
    now.vid, now.xway, now.dir, now.seg, now.lane, now.pos,
    before.vid IS NULL OR before.seg <> now.seg,
    iif((before.xway, before.dir, before.lane, before.pos) = (now.xway, now.dir, now.lane, now.pos),
        before.times + 1, 1),
    ifnull(before.owed, 0),
    ifnull(toll.lav, -1), ifnull(toll.toll, 0), toll.accident
FROM report AS now
LEFT JOIN trip AS before
    ON before.vid = now.vid AND before.phase = :second % 30 AND before.second = :second - 30
LEFT JOIN toll ON (toll.xway, toll.dir, toll.seg) = (now.xway, now.dir, now.seg);

-- Rule 9: who is in another segment pays for the one before.
INSERT INTO account SELECT vid, owed FROM move WHERE enters AND owed > 0
ON CONFLICT DO UPDATE SET balance = balance + excluded.balance;

INSERT OR REPLACE INTO trip
SELECT vid, :second % 30, :second, xway, dir, seg, lane, pos, times,
    CASE WHEN NOT enters THEN owed WHEN lane = 4 THEN 0 ELSE toll END
FROM move;

-- Rule 6: a stop ends with the next report or after 29 s, and two at one spot are an accident.
DELETE FROM stop WHERE until < :second OR vid IN (SELECT vid FROM report);

INSERT INTO stop
SELECT vid, xway, lane, pos, dir, :second + 29 FROM move WHERE times >= 4 AND lane BETWEEN 1 AND 3;

INSERT OR IGNORE INTO accident
SELECT :second / 60 + 1, xway, dir, pos / 5280 FROM stop GROUP BY xway, lane, pos, dir HAVING count(*) >= 2
"""

# The answers to a second, as lines; Emit is -1, as the driver sets it.
ANSWERS = """
-- Rules 5 and 8.
SELECT printf('0,%d,%d,-1,%d,%d', vid, :second, lav, toll) FROM move WHERE enters AND lane <> 4
UNION ALL
SELECT printf('1,%d,-1,%d,%d', :second, vid, accident) FROM move
WHERE enters AND lane <> 4 AND accident IS NOT NULL
UNION ALL
-- Rule 10: what has been paid by now.
SELECT printf('2,%d,-1,%d,%d,%d', :second, :second, qid, ifnull(balance, 0))
FROM request LEFT JOIN account USING (vid) WHERE kind = 2
UNION ALL
-- Rule 11.
SELECT printf('3,%d,-1,%d,%d', :second, qid, ifnull(tolls, 0))
FROM request LEFT JOIN toll_history USING (vid, day, xway) WHERE kind = 3
UNION ALL
-- Rule 12.
SELECT printf('4,%d,-1,%d,%s', :second, qid, travel(xway, from_seg, to_seg, weekday, minute))
FROM request WHERE kind = 4
"""


class MeanOfMeans:
    """SQL: mean_of_means(total, count), the mean of total / count, exact, as a text."""

    def __init__(self):
        self.sum, self.count = Fraction(0), 0

    def step(self, total, count):
        self.sum += Fraction(total, count)
        self.count += 1

    def finalize(self):
        return str(self.sum / self.count)


class FloorOfMean:
    """SQL: floor_of_mean(fraction) of such texts."""

    def __init__(self):
        self.sum, self.count = Fraction(0), 0

    def step(self, fraction):
        self.sum += Fraction(fraction)
        self.count += 1

    def finalize(self):
        return floor(self.sum / self.count)


def travel(database, xway, from_seg, to_seg, weekday, minute):
    """Rule 12: seconds and toll of a journey that starts then, with a comma between."""
    east = from_seg < to_seg
    now, tolls = Fraction(minute), Fraction(0)
    for seg in range(from_seg, to_seg, 1 if east else -1):
        days, within = divmod(floor(now) - 1, 1440)
        place = xway, 0 if east else 1, seg, (weekday - 1 + days) % 7 + 1, within + 1
        row = database.execute(
            "SELECT lav, cars, days FROM segment_average WHERE (xway, dir, seg, weekday, minute) = (?, ?, ?, ?, ?)",
            place,
        ).fetchone()
        if row is None or row[0] == 0:
            return "-1,-1"
        lav, cars = Fraction(row[0], row[2]), Fraction(row[1], row[2])
        if lav < 40 and cars > 50:
            tolls += 2 * (cars - 50) ** 2
        now += 60 / lav
    half = Fraction(1, 2)
    return f"{floor(60 * (now - minute) + half)},{floor(tolls + half)}"


class SystemX:
    """The database, and the input that waits for its second to be over."""

    def __init__(self, about):
        self.second = about["first_second"]
        self.reports, self.requests = [], []
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.database.create_aggregate("mean_of_means", 2, MeanOfMeans)
        self.database.create_aggregate("floor_of_mean", 1, FloorOfMean)
        self.database.create_function("travel", 5, lambda *journey: travel(self.database, *journey))
        self.database.executescript(TABLES)
        self.load(about["toll_history"], 4, "INSERT INTO toll_history VALUES (?, ?, ?, ?)")
        self.load(
            about["segment_history"],
            7,
            "INSERT INTO segment_average (weekday, minute, xway, dir, seg, lav, cars, days) "
            "VALUES ((7 - ? % 7) % 7 + 1, ?, ?, ?, ?, ?, ?, 1) "
            "ON CONFLICT DO UPDATE SET lav = lav + excluded.lav, cars = cars + excluded.cars, days = days + 1",
        )

    def load(self, files, columns, statement):
        self.database.execute("BEGIN")
        for name in files:
            with Path(name).open(newline="") as lines:
                self.database.executemany(statement, (row[:columns] for row in csv.reader(lines)))
        self.database.execute("COMMIT")

    def take(self, line):
        """One line of input; it closes the seconds before its own."""
        kind, second, vid, speed, xway, lane, direction, seg, pos, qid, *journey = line
        self.poll_until(second)
        if kind == 0:
            self.reports.append((vid, speed, xway, lane, direction, seg, pos))
        else:
            self.requests.append((kind, vid, xway, qid, *journey))

    def poll_until(self, second):
        """Answer every second before this one."""
        while self.second < second:
            self.poll()
            self.second += 1

    def poll(self):
        """One cycle: the input of a second goes in, the answers come out."""
        self.database.execute("BEGIN")
        self.database.execute("DELETE FROM report")
        self.database.execute("DELETE FROM request")
        self.database.executemany("INSERT INTO report VALUES (?, ?, ?, ?, ?, ?, ?)", self.reports)
        self.database.executemany("INSERT INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", self.requests)
        self.reports, self.requests = [], []
        if self.second % 60 == 0:
            self.run(MINUTE, second=self.second, minute=self.second // 60)
        self.run(SECOND, second=self.second)
        answers = self.database.execute(ANSWERS, {"second": self.second}).fetchall()
        self.database.execute("COMMIT")
        for (answer,) in answers:
            print(answer)

    def run(self, script, **numbers):
        for statement in script.split(";"):
            self.database.execute(statement, numbers)


def main():
    system = SystemX(json.loads(sys.stdin.readline()))
    print("ready", flush=True)
    for line in sys.stdin:
        if line.startswith("mark"):  # the second is complete: answer it, and say so
            system.poll_until(int(line.split()[1]) + 1)
            print(line, end="", flush=True)
        else:
            system.take([int(field) for field in line.split(",")])
    system.poll()


if __name__ == "__main__":
    main()
