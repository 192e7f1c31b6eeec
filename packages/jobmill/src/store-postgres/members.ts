/** What an instance leaves behind beside its jobs when it ends, and the version that tells others of it. */
import { DUTIES_LEFT } from './duties.ts'
import { SLOTS_LEFT } from './slots.ts'

/**
 * Of the instances `over(id)`: their leases of duties, their slots, and the permits that they hold outside of jobs; those of jobs go with the jobs.
 * Where two statements end the same instance at once, the second finds nothing.
 */
export const MEMBER_LEFT = `${DUTIES_LEFT}, ${SLOTS_LEFT}, others_freed AS (
  DELETE FROM jobmill.permit AS t WHERE t.instance = ANY (ARRAY(SELECT id FROM over)) AND t.token IS NULL
  RETURNING t.limit_name
)`

/** One row that everybody writes: as late as possible, because it is locked until the commit. */
export const MEMBERS_CHANGED = `UPDATE jobmill.members SET version = version + 1`
