-- Nobody but the schema's owner may call anything here.
--
-- Called  by the install, when every routine is there.
REVOKE ALL ON ALL ROUTINES IN SCHEMA lr FROM public;
