"""lr.advance_statement(second, reports); what its text does is tested with lr.advance_vehicles"""

from __future__ import annotations


def test_the_reports_come_from_where_it_is_told(sql, add):
    sql("CREATE TEMPORARY TABLE elsewhere (LIKE lr.position_report) ON COMMIT DROP")
    add("lr.position_report", report_second=100, vehicle_id=1)
    add("elsewhere", report_second=100, vehicle_id=2, speed_mph=30, xway=0, lane=1, dir=0, seg=0, position_ft=0)
    sql("DO $$ BEGIN EXECUTE lr.advance_statement(100, 'elsewhere') USING 100; END $$")
    assert sql("SELECT vehicle_id FROM lr.ring_100") == [(2,)]


def test_the_text_names_the_tables_of_its_second(sql):
    [(text,)] = sql("SELECT lr.advance_statement(100, 'arrived')")
    assert "INSERT INTO lr.ring_100" in text
    assert "FROM lr.ring_070" in text
    assert "FROM arrived" in text
