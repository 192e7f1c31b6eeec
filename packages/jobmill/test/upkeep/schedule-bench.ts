/** Schedules on the oracle, on a fake clock. */
import { DEFAULTS } from '../../src/job/defaults.ts'
import type { ScheduleDefinition } from '../../src/job/schedule/schedule.ts'
import type { ScheduleRecord } from '../../src/store/types/schedule.ts'

export const at = (iso: string): number => Date.parse(iso)

export function aSchedule(overrides: Partial<ScheduleDefinition> = {}): ScheduleDefinition {
  return {
    when: '0 * * * *',
    zone: 'UTC',
    jitterMs: 0,
    startAt: null,
    endAt: null,
    missed: 'last',
    missedWithinMs: DEFAULTS.missedWithinMs,
    overlap: 'allow',
    paused: false,
    kind: 'work',
    queue: 'default',
    payload: '{"a":1}',
    priority: 0,
    maxAttempts: 5,
    timeoutMs: null,
    tags: [],
    ...overrides,
  }
}

/** As read at `readAt`, with its next tick planned. */
export function aRecord(
  live: Partial<ScheduleDefinition>,
  known: Partial<ScheduleRecord> & Pick<ScheduleRecord, 'readAt'>,
): ScheduleRecord {
  return {
    name: 'nightly',
    code: null,
    version: null,
    operator: {},
    live: aSchedule(live),
    revision: 3,
    createdAt: at('2026-01-01T00:00:00Z'),
    planned: true,
    nextAt: null,
    lastAt: null,
    lastOutcome: null,
    lastJob: null,
    missed: 0,
    error: null,
    ...known,
  }
}
