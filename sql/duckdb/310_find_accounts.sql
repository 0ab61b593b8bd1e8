-- Find the vehicles that ask for their balance: most report in that very second, on the only trip that they have.
--
-- Spec    rule 10.  Vehicles with reports of two trips within 30 s are irregular, unless one of them began in this
--         minute; so are those with a trip that ended in this minute beside the one under way.
-- Reads   request (this cycle's input), the ring's table of this cycle, movement, irregular_vehicle
-- Writes  account, anew: what was paid on the trip under way; `unsure` where there may be another
CREATE OR REPLACE TABLE lr.account AS
SELECT
    row_number() OVER () AS account_id,
    request.second,
    request.vehicle_id,
    request.query_id,
    coalesce(trip.paid, 0) AS paid,
    trip.vehicle_id IS NULL OR request.vehicle_id IN (
        SELECT movement.vehicle_id FROM lr.movement WHERE movement.started
        UNION ALL
        SELECT irregular.vehicle_id FROM lr.irregular_vehicle AS irregular
    ) AS unsure
FROM request
LEFT JOIN lr.ring_now AS trip
    ON trip.vehicle_id = request.vehicle_id AND trip.second = request.second AND NOT trip.ended
WHERE request.kind = lr.balance();
