/**
 * Validates and completes schedule definitions, so that an instance without code for the kind can serve them.
 * Changes by an operator pass the same checks.
 */
import { DEFAULTS } from '../defaults.ts'
import { checkTarget, type JobDeclaration } from '../kind/declaration.ts'
import type { JobKind } from '../kind/job-kind.ts'
import { jsonText } from '../text/json-text.ts'
import { checkName } from '../names.ts'
import { checkWhole } from '../numbers.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import { omitUndefined } from '../options/omit-undefined.ts'
import {
  SCHEDULE_KEYS,
  type ScheduleDefinition,
  type ScheduleOption,
  type SchedulePatch,
} from './schedule.ts'
import { CHANGE_KEYS, toStored, type ScheduleChange } from './schedule-change.ts'
import { applySchema } from '../payload/schema.ts'
import { checkTiming, checkWhen } from '../when/check-timing.ts'
import type { Timing } from '../when/instants.ts'

export type { ScheduleChange } from './schedule-change.ts'

/** `Input` is the payload type of the job. The payload is required unless the job takes null. */
export type ScheduleOptions<Input = never> = ScheduleFields<Input> & RequiredPayload<Input>

/** Never, the default, stands for the payload of any job. */
export type RequiredPayload<Input> = [Input] extends [never]
  ? unknown
  : null extends Input
    ? unknown
    : { readonly payload: NoInfer<Input> }

export interface ScheduleFields<Input = never> extends ScheduleChange {
  /** The name of the schedule, unique in the database. */
  readonly name: string
  /** A job definition, or the name of a kind. */
  readonly job: JobKind<Input> | string
  /** Five cron fields, or six with seconds first, `@daily`, or `every 10m`. */
  readonly when: string
  /** The payload of every job of the schedule (default null). Required unless the job takes null. */
  readonly payload?: [Input] extends [never] ? unknown : NoInfer<Input>
  /** If processes have different definitions, the highest version wins (default 1). */
  readonly version?: number
}

export interface ScheduleTools {
  /** The definition of a kind in this process, if there is one. */
  readonly definition: (kind: string) => JobDeclaration | undefined
  readonly queueOf: (kind: string) => string
  readonly payloadLimitBytes: number
}

/** `fits` is a promise if the payload schema is asynchronous: await it before writing anything. */
export interface PreparedSchedule {
  readonly name: string
  readonly version: number
  readonly definition: ScheduleDefinition
  /** The options that were set explicitly; the rest of the definition is defaults. */
  readonly named: readonly ScheduleOption[]
  readonly fits: Promise<unknown> | undefined
}

/** The default options of a schedule. */
export const DEFAULT_DEFINITION = {
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

/** The options of a schedule that is created at run time. */
export const CREATE_KEYS: readonly string[] = [...CHANGE_KEYS, 'name', 'job']

export function prepareSchedule(
  options: ScheduleOptions,
  tools: ScheduleTools,
  field = 'schedule',
): PreparedSchedule {
  checkObjectKeys(options, field, [...CREATE_KEYS, 'version'])
  const { name, job, version = 1, payload = null, ...rest } = options
  const { kind, known } = kindOf(job, tools, `${field}.job`)
  const when = checkWhen(rest.when, `${field}.when`)
  const given = toStored(rest, field)
  const definition: ScheduleDefinition = {
    ...DEFAULT_DEFINITION,
    ...omitUndefined({ priority: known?.priority, maxAttempts: known?.maxAttempts }),
    queue: rest.queue ?? known?.queue ?? tools.queueOf(kind),
    ...given,
    when,
    kind,
    payload: jsonText(payload, `${field}.payload`, tools.payloadLimitBytes),
  }
  checkTiming(definition, field)
  const named = { ...given, kind, ...(options.payload === undefined ? {} : { payload }) }
  return {
    name: checkName(name, `${field}.name`),
    version: checkWhole(version, `${field}.version`, { least: 0, most: Number.MAX_SAFE_INTEGER }),
    definition,
    named: SCHEDULE_KEYS.filter((option) => option in named),
    fits: fits(known, definition.payload, `${field}.payload`),
  }
}

/** Validates only the timing, to preview an expression before the schedule is written. */
export function timingOf(options: Pick<ScheduleOptions, 'when' | 'zone' | 'start' | 'end'>): Timing {
  const { when, zone = 'UTC', start = null, end = null } = options
  const timing = { ...DEFAULT_DEFINITION, when, ...toStored({ when, zone, start, end }, 'schedule') }
  checkTiming(timing, 'schedule')
  return timing
}

/**
 * `live` is the definition in effect: the payload is validated for its kind, and the timing is checked as a
 * whole.
 */
export function prepareScheduleChange(
  change: ScheduleChange,
  live: ScheduleDefinition,
  tools: ScheduleTools,
): Pick<PreparedSchedule, 'fits'> & { readonly patch: SchedulePatch } {
  const field = 'change'
  checkObjectKeys(change, field, CHANGE_KEYS)
  const { payload, ...rest } = change
  const at = `${field}.payload`
  const text = payload === undefined ? undefined : jsonText(payload, at, tools.payloadLimitBytes)
  const patch: SchedulePatch = { ...toStored(rest, field), ...omitUndefined({ payload: text }) }
  checkTiming({ ...live, ...patch }, field)
  return { patch, fits: text === undefined ? undefined : fits(tools.definition(live.kind), text, at) }
}

function kindOf(
  job: unknown,
  tools: ScheduleTools,
  field: string,
): { readonly kind: string; readonly known: JobDeclaration | undefined } {
  if (typeof job === 'string') return { kind: checkName(job, field), known: tools.definition(job) }
  const known = checkTarget(job, field)
  return { kind: known.kind, known }
}

/** Validates the payload after a round trip through JSON, as the handler will see it. */
function fits(
  known: JobDeclaration | undefined,
  payload: string,
  field: string,
): Promise<unknown> | undefined {
  if (known?.payload === undefined) return undefined
  const checked = applySchema(known.payload, JSON.parse(payload), field)
  if (!(checked instanceof Promise)) return undefined
  // The caller awaits it later, so mark the rejection as handled now.
  checked.catch(() => {})
  return checked
}
