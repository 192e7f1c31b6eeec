/**
 * Schedules as users write them, checked at once and made complete: an instance that has no code for the kind can serve them. What an operator changes goes
 * through the same checks.
 */
import { DEFAULTS } from './defaults.ts'
import { type AnyJob, isDefinition } from './definition.ts'
import { JobmillError, shown } from './errors.ts'
import type { JobKind } from './job-kind.ts'
import { jsonText } from './json-text.ts'
import { checkScheduleKeys } from './schedule-keys.ts'
import { checkName } from './names.ts'
import { checkWhole } from './numbers.ts'
import {
  SCHEDULE_KEYS,
  type ScheduleDefinition,
  type ScheduleOption,
  type SchedulePatch,
} from './schedule.ts'
import { CHANGE_KEYS, converted, type ScheduleChange } from './schedule-change.ts'
import { fitted } from './schema.ts'
import { checkTiming, checkWhen } from './when/check-timing.ts'
import type { Timing } from './when/instants.ts'

export type { ScheduleChange } from './schedule-change.ts'

/** `Input` is what the job takes. */
export interface ScheduleOptions<Input = never> extends ScheduleChange {
  readonly name: string
  /** What `defineJob` returned, or the name of a kind. */
  readonly job: JobKind<Input> | string
  readonly when: string
  readonly payload?: [Input] extends [never] ? unknown : NoInfer<Input>
  /** Of two processes with different definitions, the higher version counts (default 1). */
  readonly version?: number
}

export interface ScheduleTools {
  /** What this process knows of a kind. */
  readonly definition: (kind: string) => AnyJob | undefined
  readonly queueOf: (kind: string) => string
  readonly payloadLimitBytes: number
}

/** `fits` is a promise where the schema of the payload gives one: await it before anything is written. */
export interface PreparedSchedule {
  readonly name: string
  readonly version: number
  readonly definition: ScheduleDefinition
  /** The options that were given; the others of the definition are defaults. */
  readonly named: readonly ScheduleOption[]
  readonly fits: Promise<unknown> | undefined
}

export interface PreparedChange {
  readonly patch: SchedulePatch
  readonly fits: Promise<unknown> | undefined
}

/** Every definition that does not say otherwise. */
const DEFAULT_DEFINITION = {
  zone: 'UTC',
  jitterMs: 0,
  startAt: null,
  endAt: null,
  missed: 'last',
  missedWithinMs: DEFAULTS.missedWithinMs,
  overlap: 'allow',
  paused: false,
  priority: DEFAULTS.priority,
  maxAttempts: DEFAULTS.maxAttempts,
  timeoutMs: null,
  tags: [],
} as const satisfies Partial<ScheduleDefinition>

/** Of a schedule that is created at run time. */
export const CREATE_KEYS: readonly string[] = [...CHANGE_KEYS, 'name', 'job']

export function prepareSchedule(
  options: ScheduleOptions,
  tools: ScheduleTools,
  field = 'schedule',
): PreparedSchedule {
  checkScheduleKeys(options, field, [...CREATE_KEYS, 'version'])
  const { name, job, version = 1, payload = null, ...rest } = options
  const { kind, known } = kindOf(job, tools, `${field}.job`)
  const when = checkWhen(rest.when, `${field}.when`)
  const given = converted(rest, field)
  const definition: ScheduleDefinition = {
    ...DEFAULT_DEFINITION,
    ...(known?.priority === undefined ? {} : { priority: known.priority }),
    ...(known?.maxAttempts === undefined ? {} : { maxAttempts: known.maxAttempts }),
    queue: rest.queue ?? known?.queue ?? tools.queueOf(kind),
    ...given,
    when,
    kind,
    payload: jsonText(payload, `${field}.payload`, tools.payloadLimitBytes),
  }
  checkTiming(definition, field)
  return {
    name: checkName(name, `${field}.name`),
    version: checkWhole(version, `${field}.version`, { least: 0, most: Number.MAX_SAFE_INTEGER }),
    definition,
    named: namedIn({
      ...given,
      kind,
      ...(options.payload === undefined ? {} : { payload: definition.payload }),
    }),
    fits: fits(known, definition.payload, `${field}.payload`),
  }
}

function namedIn(patch: SchedulePatch): ScheduleOption[] {
  return SCHEDULE_KEYS.filter((option) => option in patch)
}

/** Only when: to see what an expression means before it is written. */
export function timingOf(options: Pick<ScheduleOptions, 'when' | 'zone' | 'start' | 'end'>): Timing {
  const { when, zone = 'UTC', start = null, end = null } = options
  const timing = { ...DEFAULT_DEFINITION, when, ...converted({ when, zone, start, end }, 'schedule') }
  checkTiming(timing, 'schedule')
  return timing
}

/** `live` is what counts now: the payload is held against its kind, and the timing is looked at as a whole. */
export function prepareScheduleChange(
  change: ScheduleChange,
  live: ScheduleDefinition,
  tools: ScheduleTools,
  field = 'change',
): PreparedChange {
  checkScheduleKeys(change, field, CHANGE_KEYS)
  const { payload, ...rest } = change
  const patch: SchedulePatch = {
    ...converted(rest, field),
    ...(payload === undefined
      ? {}
      : { payload: jsonText(payload, `${field}.payload`, tools.payloadLimitBytes) }),
  }
  checkTiming({ ...live, ...patch }, field)
  const known = tools.definition(live.kind)
  return {
    patch,
    fits: patch.payload === undefined ? undefined : fits(known, patch.payload, `${field}.payload`),
  }
}

function kindOf(
  job: unknown,
  tools: ScheduleTools,
  field: string,
): { readonly kind: string; readonly known: AnyJob | undefined } {
  if (typeof job === 'string') return { kind: checkName(job, field), known: tools.definition(job) }
  if (isDefinition(job)) return { kind: job.kind, known: job }
  throw new JobmillError('OPTION_INVALID', 'is neither a job nor the name of a kind', {
    field,
    value: shown(job),
    fix: "Give what defineJob returned, or a kind such as 'email.send'",
  })
}

/** As the handler will see it: after its way through JSON. */
function fits(known: AnyJob | undefined, payload: string, field: string): Promise<unknown> | undefined {
  if (known?.payload === undefined) return undefined
  const checked = fitted(known.payload, JSON.parse(payload), field)
  if (!(checked instanceof Promise)) return undefined
  // Whoever writes the schedule awaits it, and that may be later.
  checked.catch(() => {})
  return checked
}
