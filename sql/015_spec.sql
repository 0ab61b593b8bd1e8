-- The numbers of the specification, each in one function, by the names of polling_baseline/spec.py.
--
-- IMMUTABLE, so that a plan has the number itself.  The functions stand before the tables, which need some of them.

-- The road
CREATE FUNCTION lr.segments() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 100';
CREATE FUNCTION lr.segment_ft() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 5280';
CREATE FUNCTION lr.east() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 0';
CREATE FUNCTION lr.west() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 1';
CREATE FUNCTION lr.exit_lane() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 4';
CREATE FUNCTION lr.travel_lanes() RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT ARRAY[1, 2, 3]';

-- Time
CREATE FUNCTION lr.minute_s() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 60';
CREATE FUNCTION lr.report_period_s() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 30';
CREATE FUNCTION lr.hour_minutes() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 60';
CREATE FUNCTION lr.day_minutes() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 1440';
CREATE FUNCTION lr.week_days() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 7';

-- Tolls (rules 3 and 4)
CREATE FUNCTION lr.lav_minutes() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 5';
CREATE FUNCTION lr.free_cars() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 50';
CREATE FUNCTION lr.free_flow_mph() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 40';
CREATE FUNCTION lr.no_lav() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT -1';

-- Accidents (rules 6 and 7)
CREATE FUNCTION lr.stop_reports() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 4';
CREATE FUNCTION lr.accident_vehicles() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 2';
CREATE FUNCTION lr.alert_segments() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 4';

-- Travel time (rule 12)
CREATE FUNCTION lr.no_travel_time() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT -1';

-- The kinds of request
CREATE FUNCTION lr.balance_kind() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 2';
CREATE FUNCTION lr.expenditure_kind() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 3';
CREATE FUNCTION lr.travel_time_kind() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 4';

-- Ours: the seconds that the ring holds.  A minute's end looks at its 60 s and at the 29 s before, while another worker
-- may already write 29 s of the next.
CREATE FUNCTION lr.ring_seconds() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT lr.minute_s() + 2 * lr.report_period_s()';
