-- What the driver may do, and nothing else: load a cycle's input, call the cycle's routines, read its answers.
--
-- The routines meant for the driver are those marked SECURITY DEFINER: they work with their owner's rights, and set a
-- search_path of their own.
-- Called  by the install, as lr_owner, where the server has the roles lr_owner and lr_driver.
GRANT USAGE ON SCHEMA lr TO lr_driver;
GRANT INSERT ON lr.position_report, lr.request TO lr_driver;
GRANT SELECT ON
lr.toll_notification, lr.accident_alert, lr.account_balance, lr.daily_expenditure, lr.travel_time,
lr.cycle, lr.cycle_step
TO lr_driver;

DO $$
DECLARE
    v_routine regprocedure;
BEGIN
    FOR v_routine IN SELECT oid FROM pg_catalog.pg_proc WHERE pronamespace = 'lr'::regnamespace AND prosecdef LOOP
        EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO lr_driver', v_routine);
    END LOOP;
END
$$;
