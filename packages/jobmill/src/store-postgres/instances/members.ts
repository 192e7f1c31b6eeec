/**
 * What an instance leaves behind when it ends, apart from its jobs, and the version that announces the
 * change.
 */
import { DUTIES_LEFT } from './duties.ts'
import { SLOTS_LEFT } from './slots.ts'

/**
 * For the instances `over(id)`: releases their duties, their slots, and the permits they hold outside of
 * jobs. The permits of jobs are released with the jobs. If two statements end the same instance, the second
 * finds nothing.
 */
export const MEMBER_LEFT = `${DUTIES_LEFT}, ${SLOTS_LEFT}, others_freed AS (
  DELETE FROM jobmill.permit AS t WHERE t.instance = ANY (ARRAY(SELECT id FROM over)) AND t.token IS NULL
  RETURNING t.limit_name
)`

/**
 * Every change of members writes this one row. Update it as late as possible, because it stays locked until
 * the commit.
 */
export const MEMBERS_CHANGED = `UPDATE jobmill.members SET version = version + 1`
