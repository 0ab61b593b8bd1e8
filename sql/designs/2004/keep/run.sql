-- Option --keep run: position reports stay for the whole run.  Who had no reason to delete them would keep them.
CREATE FUNCTION lr.kept_minutes() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT NULL::integer';
