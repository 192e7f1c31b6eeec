/** Duties that an application defines. The supervisor that runs the built-in duties runs them too. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { type Duration, durationMs } from '../../job/duration.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { checkName } from '../../job/names.ts'
import { checkBoolean } from '../../job/numbers.ts'
import type { Counts, DutyOptions } from '../../upkeep/duty.ts'
import type { Problems } from './problems.ts'

interface OwnPass {
  readonly signal: AbortSignal
  /** Requests another pass right after this one, so that each pass can be short. */
  readonly again: () => void
}

export interface OwnDuty {
  /** The name of the duty in logs, metrics and Mission Control. */
  readonly name: string
  /** The period, with some jitter. The first pass runs at the start. */
  readonly every: Duration
  /**
   * One pass. Check the signal between batches: it fires at the deadline, at a stop, and when another process
   * takes over. The returned counts are reported.
   */
  readonly run: (context: OwnPass) => Promise<Counts | void>
  /** How long a pass may take (default 30 s). */
  readonly deadline?: Duration
  /** Whether one process runs it for the whole cluster (default true). False: each process runs its own. */
  readonly forAll?: boolean
}

export type ResolvedDuty = Pick<DutyOptions, 'name' | 'everyMs' | 'deadlineMs' | 'forAll' | 'pass'>

const KEYS = ['name', 'every', 'run', 'deadline', 'forAll'] as const
const OURS = ['reap', 'stage', 'schedule', 'rebalance', 'retain', 'roll-up', 'flush', 'listen']

function periodMs(every: Duration, field: string): number {
  const ms = durationMs(every, field)
  if (ms >= BOUNDS.shortestDutyMs) return ms
  throw new JobmillError('DURATION_INVALID', `must be at least ${BOUNDS.shortestDutyMs} ms`, {
    field,
    value: quote(every),
    fix: "Pass a duration such as '5s' or '5m'; plain numbers are milliseconds",
  })
}

export function ownDuties(duties: readonly OwnDuty[], found: Problems): ResolvedDuty[] {
  if (!Array.isArray(duties)) {
    found.add('error', 'OPTION_INVALID', 'duties', 'must be an array. Pass [ … ]')
    return []
  }
  const seen = new Set(OURS)
  return duties.flatMap((given: OwnDuty, at) => {
    const field = `duties[${at}]`
    if (!found.keys(given, field, KEYS)) return []
    return found.try(field, [], () => {
      const name = checkName(given.name, `${field}.name`)
      if (seen.has(name))
        found.add(
          'error',
          'OPTION_CONFLICT',
          `${field}.name`,
          `is already in use: "${name}". Use a unique name; built-in duties are ${OURS.join(', ')}`,
        )
      seen.add(name)
      if (typeof given.run !== 'function')
        found.add('error', 'HANDLER_INVALID', `${field}.run`, 'must be a function. Pass ({ signal }) => …')
      return [
        {
          name,
          everyMs: periodMs(given.every, `${field}.every`),
          deadlineMs:
            given.deadline === undefined
              ? DEFAULTS.dutyDeadlineMs
              : periodMs(given.deadline, `${field}.deadline`),
          forAll: given.forAll === undefined ? true : checkBoolean(given.forAll, `${field}.forAll`),
          pass: async (signal: AbortSignal, _works: () => void, again: () => void) =>
            given.run({ signal, again }),
        },
      ]
    })
  })
}
