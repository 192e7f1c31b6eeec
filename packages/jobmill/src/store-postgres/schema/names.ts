/**
 * Which history the ids of queues and kinds belong to. A process caches ids; after a restored backup or a failover to a lagging standby the same id may
 * mean another name. Every statement that adds a name adds a row with a random version here. A cached id is true as long as the version under which it was
 * read is still in this table: names are only added, so whatever came later keeps it true. docs/internals/decisions/table-layout.md says more.
 */
/** The lock keeps `n` in the order of commits, so that the last row stands for all names that are visible with it. */
const NAMES = `
CREATE TABLE jobmill.names (n int8 NOT NULL, version uuid NOT NULL);
CREATE INDEX names_version ON jobmill.names (version);
CREATE FUNCTION jobmill.add_names_version() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('jobmill.names', 0));
  INSERT INTO jobmill.names (n, version) SELECT coalesce(max(v.n), 0) + 1, gen_random_uuid() FROM jobmill.names AS v;
END $$;
SELECT jobmill.add_names_version();`

/** A name that is changed or removed makes every version before it untrue. */
const TRIGGERS = `
CREATE FUNCTION jobmill.names_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM added) THEN PERFORM jobmill.add_names_version(); END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION jobmill.names_altered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
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

/** Called instead of a value by a statement whose ids are not those of this database, before it writes anything. */
const UNKNOWN = `
CREATE FUNCTION jobmill.names_unknown() RETURNS int8 LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RAISE EXCEPTION 'the cached ids of queues and kinds are not those of this database' USING ERRCODE = 'JMN01';
END $$;`

export const NAMES_VERSIONS = NAMES + TRIGGERS + UNKNOWN
