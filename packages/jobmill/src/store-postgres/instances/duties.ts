/**
 * Leadership: one lease per duty. The heartbeat takes and renews it, and the end of the instance releases it.
 */
import type { DutyRecord } from '../../store/types/duty.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

const DUTIES = `
WITH ${GIVEN_CTE}
SELECT d.name, d.last_success_at AS "lastSuccessAt", d.failures, CASE WHEN d.expires_at > g.now THEN d.leader END AS leader,
       CASE WHEN d.expires_at > g.now THEN d.expires_at END AS "expiresAt"
  FROM given AS g, jobmill.duty AS d ORDER BY d.name COLLATE "C"`

export function duties(context: Context): Promise<DutyRecord[]> {
  return ask(context, DUTIES)
}
