-- lr.paid_by(vehicles, asked, from_second, until_second, schema): the tolls that one worker has assessed to vehicles.
--
-- Spec    rule 10: the trips that have ended, and those under way.
-- Gives   amounts that count for the seconds first_second to last_second, where these lie in the cycle and no earlier
--         than the vehicle's own of `asked`
-- Reads   vehicle; the ring, for vehicles on their way
-- Called  by lr.answer_balances, when the worker has done the cycle from from_second until until_second.
CREATE OR REPLACE FUNCTION lr.paid_by(
    p_vehicles integer[], p_asked integer[], p_from_second integer, p_until_second integer, p_schema text
)
RETURNS TABLE (vehicle_id integer, first_second integer, last_second integer, amount bigint)
LANGUAGE plpgsql STABLE
AS $procedure$
BEGIN
    RETURN QUERY EXECUTE format($$
        WITH account AS MATERIALIZED (
            SELECT vehicle_id, request.asked, vehicle.balance, vehicle.trips_begun - vehicle.trips_ended AS under_way
            FROM unnest($1, $2) AS request (vehicle_id, asked)
            INNER JOIN %I.vehicle USING (vehicle_id)
        ),

        -- A vehicle asks when it reports: most were seen in this very cycle, and each trip is seen once in it.
        sighting AS MATERIALIZED (
            SELECT vehicle_id, report_second, paid
            FROM lr.sightings(ARRAY(SELECT vehicle_id FROM account WHERE under_way > 0), $3, $4, $5)
            WHERE NOT ended
        ),

        elsewhere AS MATERIALIZED (
            SELECT account.vehicle_id
            FROM account
            LEFT JOIN sighting
                ON sighting.vehicle_id = account.vehicle_id AND sighting.report_second <= account.asked
            GROUP BY account.vehicle_id, account.under_way
            HAVING account.under_way > count(sighting.vehicle_id)
        )

        -- A trip settled in this cycle ended 30 s before: all of it was assessed before any second of the cycle.
        SELECT vehicle_id, 0, $4, balance
        FROM account
        UNION ALL
        SELECT vehicle_id, report_second, report_second + $6 - 1, paid
        FROM sighting
        WHERE vehicle_id NOT IN (SELECT elsewhere.vehicle_id FROM elsewhere)
        UNION ALL
        -- Before it was settled, it counts as one under way, and once.
        SELECT
            vehicle_id,
            CASE WHEN ended THEN 0 ELSE report_second END,
            report_second + CASE WHEN ended THEN -1 ELSE $6 - 1 END,
            CASE WHEN ended THEN -paid ELSE paid END
        FROM lr.sightings(ARRAY(SELECT elsewhere.vehicle_id FROM elsewhere), $3 - $6 + 1, $4, $5)
        WHERE EXISTS (SELECT FROM elsewhere) AND (NOT ended OR report_second > $3)
    $$, p_schema) USING p_vehicles, p_asked, p_from_second, p_until_second, p_schema, lr.report_period_s();
END
$procedure$;
