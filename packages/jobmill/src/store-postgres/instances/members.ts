/**
 * Removes the records of an ended instance other than its jobs, and changes the version that announces it.
 */

/**
 * For the instances `over(id)`: releases their duties, their slots, and the permits they hold outside of
 * jobs. Locks the duties in the order of their names, like heartbeats do. The permits of jobs are released
 * with the jobs. If two statements end the same instance, the second finds nothing.
 */
export const MEMBER_LEFT = `left_behind AS MATERIALIZED (
  SELECT name FROM jobmill.duty WHERE leader = ANY (ARRAY(SELECT id FROM over)) ORDER BY name FOR UPDATE
), let_go AS (
  UPDATE jobmill.duty AS d SET leader = NULL, expires_at = NULL FROM left_behind AS b
   WHERE d.name = b.name AND d.leader = ANY (ARRAY(SELECT id FROM over))
), slots_left AS (
  DELETE FROM jobmill.slot AS s WHERE s.instance = ANY (ARRAY(SELECT id FROM over))
), others_freed AS (
  DELETE FROM jobmill.permit AS t WHERE t.instance = ANY (ARRAY(SELECT id FROM over)) AND t.token IS NULL
  RETURNING t.limit_name
)`

/**
 * Every change of members writes this one row. Update it as late as possible, because it stays locked until
 * the commit.
 */
export const MEMBERS_CHANGED = `UPDATE jobmill.members SET version = version + 1`
