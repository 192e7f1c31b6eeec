/** SQL fragments shared by the functions. */

export const PLANNED_ONCE = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`
/**
 * For a join of a list of ids with a table: hashes the list and looks up the table by `= ANY (ids)`. With
 * nested loops, the planner makes a table that was empty at its last vacuum the outer side. It then reads the
 * whole table, including dead rows, until the next vacuum.
 */
export const HASHED_ONCE = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off SET jit = off`
export const NOW = `coalesce(given_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)`

/**
 * A lease token: the time in microseconds. So a token is higher than all before it even in a restored backup,
 * whose sequences issue numbers again. The sequence is higher only after a transfer from a database whose
 * clock is ahead.
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
