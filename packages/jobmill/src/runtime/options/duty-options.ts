/** Duties that an application defines. The supervisor that runs the built-in duties runs them too. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { type Duration, durationMs } from '../../job/duration.ts'
import { invalidValue } from '../../job/errors.ts'
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
const OURS = ['reap', 'stage', 'schedule', 'rebalance', 'retain', 'roll-up', 'alert', 'flush', 'listen']

/** The period of a duty. A shorter one would be a busy loop. */
export function periodMs(
  every: Duration,
  field: string,
  leastMs: number = BOUNDS.shortestDutyMs,
  fix = "Pass a duration such as '5s' or '5m'; plain numbers are milliseconds",
): number {
  const ms = durationMs(every, field)
  if (ms >= leastMs) return ms
  throw invalidValue(field, every, `must be at least ${leastMs} ms`, fix, 'DURATION_INVALID')
}

export function ownDuties(duties: readonly OwnDuty[], found: Problems): ResolvedDuty[] {
  const use = `a unique name; built-in duties are ${OURS.join(', ')}`
  const unique = found.unique('OPTION_CONFLICT', use, OURS)
  return (found.items(duties, 'duties') as OwnDuty[]).flatMap((given, at) => {
    const field = `duties[${at}]`
    if (!found.keys(given, field, KEYS)) return []
    return found.try(field, [], () => {
      const name = checkName(given.name, `${field}.name`)
      unique(name, `${field}.name`)
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
