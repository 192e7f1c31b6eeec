/**
 * Versions of the queue and kind ids. Processes cache ids, but after a restored backup or a failover to a
 * lagging standby, the same id may refer to a different name. Every statement that adds a name also adds a
 * random version here. A cached id is valid as long as its version is in this table, because names are only
 * added. See docs/internals/decisions/table-layout.md.
 */
/** A setting that a transaction makes if it moves names back to the ids that jobs use. */
export const MAY_MOVE = 'jobmill_names.may_move'

/** The lock keeps `n` in commit order, so that the last version covers all names visible with it. */
const NAMES = `
CREATE TABLE jobmill.names (n int8 NOT NULL, version uuid NOT NULL);
CREATE INDEX names_version ON jobmill.names (version);
CREATE FUNCTION jobmill.add_names_version() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('jobmill.names', 0));
  INSERT INTO jobmill.names (n, version) SELECT coalesce(max(v.n), 0) + 1, gen_random_uuid() FROM jobmill.names AS v;
END $$;
SELECT jobmill.add_names_version();`

/**
 * Changing or removing a name invalidates all earlier versions. It is refused while jobs exist: they refer to
 * names by id and would run under another name, or not at all. The lock waits for transactions that enqueue.
 * After a TRUNCATE of several tables this runs when all of them are empty. Jobmill's own repair keeps the
 * names of jobs, so it sets MAY_MOVE.
 */
const TRIGGERS = `
CREATE FUNCTION jobmill.names_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM added) THEN PERFORM jobmill.add_names_version(); END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION jobmill.names_altered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('${MAY_MOVE}', true) IS DISTINCT FROM 'on' THEN
    LOCK TABLE jobmill.job IN SHARE MODE;
    IF EXISTS (SELECT FROM jobmill.job) THEN
      RAISE EXCEPTION '% refused: jobs refer to the rows of %.%', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'Delete the jobs first, or truncate all tables of the schema in one statement.';
    END IF;
  END IF;
  DELETE FROM jobmill.names;
  PERFORM jobmill.add_names_version();
  RETURN NULL;
END $$;
${['queue', 'kind']
  .map(
    (table) => `
CREATE TRIGGER names_added AFTER INSERT ON jobmill.${table} REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION jobmill.names_added();
CREATE TRIGGER names_altered AFTER UPDATE OF id, name OR DELETE OR TRUNCATE ON jobmill.${table}
  FOR EACH STATEMENT EXECUTE FUNCTION jobmill.names_altered();`,
  )
  .join('')}`

/** Raises an error in a statement whose ids do not belong to this database, before it writes anything. */
const UNKNOWN = `
CREATE FUNCTION jobmill.names_unknown() RETURNS int8 LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RAISE EXCEPTION 'the cached ids of queues and kinds are not those of this database' USING ERRCODE = 'JMN01';
END $$;`

export const NAMES_VERSIONS = NAMES + TRIGGERS + UNKNOWN
