/** Replaces the index entries of jobs, which are part of their tags, or all of their tags. */
import { isEntry } from '../../job/payload/indexed.ts'

const isMarked = (tag: string): string => `starts_with(${tag}, E'\\x01')`

/**
 * For rows `from(id, entries)`: `retagged(id, tags)` has the jobs that have entries before or after, with all
 * their tags. Jobs without entries cost nothing. Rows of `job_tag` are found by their primary key. A row that
 * stays is not touched, because one statement cannot delete and insert it. With `all`, the entries are all
 * new tags.
 */
export const retagged = (from: string, all = false): string => `retagged AS MATERIALIZED (
  SELECT j.id, j.tags AS before, ${all ? '' : `ARRAY(SELECT t.tag FROM unnest(j.tags) AS t(tag) WHERE NOT ${isMarked('t.tag')}) || `}f.entries AS tags
    FROM ${from} AS f JOIN jobmill.job AS j ON j.id = f.id
   WHERE f.entries <> '{}' OR EXISTS (SELECT FROM unnest(j.tags) AS t(tag)${all ? '' : ` WHERE ${isMarked('t.tag')}`})
), entries_removed AS (
  DELETE FROM jobmill.job_tag AS t WHERE t.ctid = ANY (ARRAY(
    SELECT x.ctid FROM retagged AS r CROSS JOIN LATERAL unnest(r.before) AS b(tag)
     CROSS JOIN LATERAL (SELECT o.ctid FROM jobmill.job_tag AS o WHERE o.tag = b.tag AND o.job_id = r.id OFFSET 0) AS x
     WHERE b.tag <> ALL (r.tags)))
), entries_added AS (
  INSERT INTO jobmill.job_tag (tag, job_id)
  SELECT a.tag, r.id FROM retagged AS r CROSS JOIN LATERAL unnest(r.tags) AS a(tag)
   WHERE a.tag <> ALL (coalesce(r.before, '{}')) ON CONFLICT DO NOTHING
)`

/** The new tags of `job` in an update that left-joins `retagged AS r`. */
export const NEW_TAGS = `CASE WHEN r.id IS NULL THEN j.tags ELSE nullif(r.tags, '{}') END`

/** The entries among these tags as a parameter. Undefined for none. */
export function entriesIn(tags: readonly string[]): string[] | undefined {
  const entries = tags.filter(isEntry)
  return entries.length === 0 ? undefined : entries
}
