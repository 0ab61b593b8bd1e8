-- Whose state this is: one row, in the first worker's schema, written by the install and looked at by a resume.
CREATE UNLOGGED TABLE lr.run (token text NOT NULL);
