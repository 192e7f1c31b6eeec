/** Chooses the jobs of a claim from a fair queue. */
import { FIRST_TURN, takeTurns } from '../../store/take-turns.ts'
import { type Lane, mergeLanes } from '../claim/lanes.ts'
import { byClaimOrder, type ReadyRow } from '../claim/ready-row.ts'
import type { Work } from '../work.ts'
import { PLACES, startAt, startOf } from './turns.ts'

// Uses the index on groups with settings of their own, which are few.
const WEIGHTS = `SELECT id, weight FROM jobmill_group WHERE queue_id = ? AND weight IS NOT NULL`

const FIRST = { priority: -1_000_000, seq: Number.NEGATIVE_INFINITY }

type ReadyLane = (queueId: number, kindId: number, after: typeof FIRST) => Lane<ReadyRow>

export function fairClaim(
  { sql, turns }: Work,
  queueId: number,
  kinds: readonly number[],
  lane: ReadyLane,
): (room: number) => ReadyRow[] {
  return (room) => {
    if (room <= 0) return []
    const rows = sql(WEIGHTS).all(queueId) as { id: number; weight: number }[]
    const weights = new Map(rows.map(({ id, weight }) => [startOf(id), weight]))
    const chosen = takeTurns<ReadyRow>(room, turns.get(queueId) ?? FIRST_TURN, {
      from(place, limit) {
        const after = place === null ? FIRST : { priority: place.priority, seq: place.seq - 1 }
        const lanes = kinds.map((kindId) => lane(queueId, kindId, after))
        return mergeLanes(lanes, byClaimOrder, limit)
      },
      bounds: ({ seq }) => {
        // Jobs without a group count as one group, the last one.
        if (seq >= 0) return [0, Number.POSITIVE_INFINITY]
        const start = startAt(seq)
        return [start, start + PLACES]
      },
      weight: (start) => weights.get(start) ?? 1,
    })
    turns.set(queueId, { ...chosen.turn, rest: turns.get(queueId)?.rest ?? 0 })
    return chosen.rows
  }
}
