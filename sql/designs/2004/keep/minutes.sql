-- Option --keep minutes: position reports stay as long as the minutes that LAV looks at.
CREATE FUNCTION lr.kept_minutes() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT lr.lav_minutes()';
