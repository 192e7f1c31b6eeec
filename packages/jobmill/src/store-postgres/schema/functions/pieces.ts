/** SQL fragments shared by the functions. */

export const PLANNED_ONCE = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`
/**
 * For a join of a list of ids with a table: hashes the list and looks up the table by `= ANY (ids)`. With
 * nested loops, the planner makes a table that was empty at its last vacuum the outer side. It then reads
 * the whole table, including dead rows, until the next vacuum.
 */
export const HASHED_ONCE = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off SET jit = off`
export const NOW = `coalesce(given_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)`

/**
 * A lease token: the time in microseconds. So a token is higher than all before it even in a restored
 * backup, whose sequences issue numbers again. The sequence is higher only after a transfer from a
 * database whose clock is ahead.
 */
export const NEXT_TOKEN = `greatest((extract(epoch FROM clock_timestamp()) * 1000000)::int8, nextval('jobmill.token'))`

/**
 * The last issued sequence number. A statement that starts later sees every job up to it that has committed
 * by then.
 */
export const LAST_SEQ = `coalesce(pg_sequence_last_value('jobmill.seq'::regclass), 0)`
/**
 * Pages of the claim index that this session has read. Measures the cost of skipping dead rows and other
 * kinds without a clock.
 */
export const PAGES = `pg_stat_get_xact_blocks_fetched('jobmill.ready_pkey'::regclass)`
export const MS_SINCE_BEGUN = `extract(epoch FROM clock_timestamp() - began) * 1000`
/** Splits texts at separators that JSON text cannot contain. An empty item is null. */
export const LIST = (name: string): string => `unnest(string_to_array(${name}, E'\\x1e', ''))`
/**
 * Deletes these jobs, with the attempts of those that were `tried`. Needs the variables tagged and
 * their_tags. Looks for tags, attempts and steps only for jobs that can have them.
 */
export const FORGET = (jobs: string, tried: string): string => `WITH removed AS (
      DELETE FROM jobmill.job AS j WHERE j.id = ANY (${jobs}) RETURNING j.id, j.tags
    )
    SELECT array_agg(d.id), array_agg(DISTINCT t.tag) INTO tagged, their_tags
      FROM removed AS d CROSS JOIN LATERAL unnest(d.tags) AS t(tag) WHERE d.tags IS NOT NULL;
    IF tagged IS NOT NULL THEN
      DELETE FROM jobmill.job_tag AS t WHERE t.tag = ANY (their_tags) AND t.job_id = ANY (tagged);
    END IF;
    IF EXISTS (SELECT FROM jobmill.job_event) THEN
      DELETE FROM jobmill.job_event AS e WHERE e.job_id = ANY (${jobs});
    END IF;
    IF ${tried} IS NOT NULL THEN
      DELETE FROM jobmill.attempt AS a WHERE a.job_id = ANY (${tried});
      DELETE FROM jobmill.step AS s WHERE s.job_id = ANY (${tried});
      DELETE FROM jobmill.child AS c WHERE c.parent_id = ANY (${tried});
    END IF;`
/**
 * Deletes those of the given batches that all jobs have left: each is in `gone` or has an attempt.
 * Computes the open jobs first: a search in `gone` would read the stored array again for each job.
 */
export const DELETE_EMPTY = (
  tokens: string,
): string => `DELETE FROM jobmill.batch AS h WHERE h.token = ANY (${tokens}) AND (
      SELECT cardinality(o.open) = (SELECT count(*) FROM jobmill.attempt AS a WHERE a.job_id = ANY (o.open) AND a.token = h.token)
        FROM (SELECT CASE WHEN h.gone = '{}' THEN h.ids ELSE ARRAY(SELECT unnest(h.ids) EXCEPT SELECT unnest(h.gone)) END AS open OFFSET 0) AS o);`
