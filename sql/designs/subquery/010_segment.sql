-- Segment statistics of the last five minutes, which design subquery reads for each report that enters a segment.
--
-- A few hundred rows for each expressway: who would give them an index?  lr.segment_toll stays empty.
ALTER TABLE lr.segment_minute DROP CONSTRAINT segment_minute_pkey;
