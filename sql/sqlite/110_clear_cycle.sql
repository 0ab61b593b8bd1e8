-- Empty the tables that hold one cycle's input and what it means.
--
-- Writes  position_report, request, movement
DELETE FROM lr.position_report;

DELETE FROM lr.request;

DELETE FROM lr.movement;
