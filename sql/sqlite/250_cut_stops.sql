-- End a stop where its car reported again before 30 s were over.
--
-- Spec    rule 6: a car stays stopped until its next report says otherwise.
-- Reads   sighting
-- Writes  stopped_car
UPDATE lr.stopped_car
SET
    until_second = min(
        until_second,
        coalesce(
            (
                SELECT min(sighting.second) - 1
                FROM lr.sighting
                WHERE
                    sighting.vehicle_id = stopped_car.vehicle_id
                    AND sighting.second > stopped_car.from_second
                    AND NOT sighting.ended
            ),
            until_second
        )
    )
WHERE vehicle_id IN (SELECT sighting.vehicle_id FROM lr.sighting);
