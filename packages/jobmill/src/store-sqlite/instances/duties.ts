/**
 * Leadership: one lease per duty, acquired and renewed under the write lock, so that each duty has at most
 * one leader.
 */
import type { DutyBid, DutyRecord } from '../../store/types/duty.ts'
import type { HeartbeatRequest } from '../../store/types/instance.ts'
import type { Look, Work } from '../work.ts'

// There is a handful of rows, one per duty, so no index is needed.
const ALL = `
  SELECT d.name, d.instance_pk, i.id AS leader, d.expires_at, d.last_success_at, d.failures
  FROM jobmill_duty AS d LEFT JOIN jobmill_instance AS i ON i.pk = d.instance_pk ORDER BY d.name`
const LEASES = `SELECT name, instance_pk, expires_at FROM jobmill_duty`
const LET_GO = `UPDATE jobmill_duty SET instance_pk = NULL, expires_at = NULL WHERE instance_pk = ?`

// By primary key. A leader without a success of its own keeps the recorded one.
const LEAD = `
  INSERT INTO jobmill_duty (name, instance_pk, expires_at, last_success_at, failures) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET instance_pk = excluded.instance_pk, expires_at = excluded.expires_at,
    last_success_at = coalesce(excluded.last_success_at, last_success_at), failures = excluded.failures`

interface LeaseRow {
  readonly name: string
  readonly instance_pk: number | null
  readonly expires_at: number | null
}

/** The leader of each duty by name, without expired leases. */
export type Leaders = ReadonlyMap<string, number>

/** Empty without bids. */
export function leadersOf({ sql, now }: Look, bids: readonly DutyBid[]): Leaders {
  const leaders = new Map<string, number>()
  if (bids.length === 0) return leaders
  for (const { name, instance_pk: pk, expires_at: until } of sql(LEASES).all() as LeaseRow[])
    if (pk !== null && until !== null && until > now) leaders.set(name, pk)
  return leaders
}

/** Acquires vacant duties; with `isRenewed`, also renews its own. The instance must be alive. */
export function leadDuties(
  work: Work,
  instancePk: number,
  { duties, leaseMs }: HeartbeatRequest,
  isRenewed: boolean,
): void {
  const { sql, now } = work
  const leaders = leadersOf(work, duties)
  for (const { name, succeededAgoMs, failures } of duties) {
    const leader = leaders.get(name)
    if (leader !== undefined && (leader !== instancePk || !isRenewed)) continue
    const succeededAt = succeededAgoMs === null ? null : now - succeededAgoMs
    sql(LEAD).run(name, instancePk, now + leaseMs, succeededAt, failures)
  }
}

/** The duties among its bids that it leads, sorted by name. */
export function ledBy(leaders: Leaders, instancePk: number, bids: readonly DutyBid[]): string[] {
  const names = new Set(bids.map(({ name }) => name))
  return [...names].filter((name) => leaders.get(name) === instancePk).toSorted()
}

/** The last success stays recorded. */
export function letGo({ sql }: Work, instancePk: number): void {
  sql(LET_GO).run(instancePk)
}

export function duties({ sql, now }: Look): DutyRecord[] {
  type Row = LeaseRow & { leader: string | null; last_success_at: number | null; failures: number }
  return (sql(ALL).all() as Row[]).map((row) => {
    const isLed = row.expires_at !== null && row.expires_at > now
    return {
      name: row.name,
      leader: isLed ? row.leader : null,
      expiresAt: isLed ? row.expires_at : null,
      lastSuccessAt: row.last_success_at,
      failures: row.failures,
    }
  })
}
