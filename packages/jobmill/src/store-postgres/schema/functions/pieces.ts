/** What the functions of the fast path share. */

export const PLANNED_ONCE = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`
/**
 * The same for a join of a list of ids with a table: the list is hashed and the table looked up by `= ANY (ids)`. With nested loops the server takes a table that
 * was empty when it was last vacuumed for the outer side, and walks all of it, dead rows included, until the next vacuum.
 */
export const HASHED_ONCE = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off SET jit = off`
export const NOW = `coalesce(given_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)`

/** All places up to this one were given out: what is visible of them now is seen by a walk that begins now. */
export const LAST_SEQ = `coalesce(pg_sequence_last_value('jobmill.seq'::regclass), 0)`
/** Pages of the claim index that this session touched: what a walk over dead rows and foreign kinds costs, told without a clock. */
export const PAGES = `pg_stat_get_xact_blocks_fetched('jobmill.ready_pkey'::regclass)`
export const MS_SINCE_BEGUN = `extract(epoch FROM clock_timestamp() - began) * 1000`
/** Texts between separators, which JSON text cannot contain; an empty one is none. */
export const LIST = (name: string): string => `unnest(string_to_array(${name}, E'\\x1e', ''))`
