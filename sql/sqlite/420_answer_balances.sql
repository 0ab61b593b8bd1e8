-- Answer a cycle's requests for a vehicle's account balance.
--
-- Spec    rule 10, account balance, due 5 s after the request; the balance is that of the request's own second.
-- Reads   request; vehicle, for the trips that have ended; sighting, for those under way in the last 30 s
--
-- A trip settled in this cycle counts as one under way for the seconds before.
SELECT
    request.second,
    request.second AS result_second,
    request.query_id,
    coalesce(vehicle.balance, 0) + coalesce(
        (
            SELECT
                sum(
                    CASE
                        WHEN NOT sighting.ended AND sighting.second <= request.second THEN sighting.paid
                        WHEN sighting.ended AND sighting.second > request.second THEN -sighting.paid
                        ELSE 0
                    END
                )
            FROM lr.sighting
            WHERE
                sighting.vehicle_id = request.vehicle_id
                AND sighting.second > request.second - :report_period_s
        ),
        0
    )
FROM lr.request
LEFT JOIN lr.vehicle ON request.vehicle_id = vehicle.vehicle_id
WHERE request.kind = :balance;
