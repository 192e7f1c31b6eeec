/**
 * `mill.diagnostics()`: everything that needs attention, most severe first. Runs only cheap checks; `jobmill
 * db doctor` runs all.
 */
import { countText } from '../../job/text/count-text.ts'
import { spanText } from '../../job/text/span-text.ts'
import {
  broken,
  type Diagnostic,
  type PinningSession,
  type SchemaStatus,
  warning,
} from '../../store/admin/admin.ts'
import type { StoreTools } from '../../store/admin/tools.ts'
import { about, type DiagnosedMill, diagnoseMill, type MillDiagnostic, periodsOf } from './diagnose.ts'
import type { Limiting } from '../operate/limits.ts'
import type { Observation } from '../report/observation.ts'
import type { Operate } from '../operate/operate.ts'
import type { Resolved } from '../options/options.ts'
import {
  DEATHS_MS,
  deadJobDiagnostics,
  deathDiagnostics,
  limitDiagnostics,
  queueDiagnostics,
  scheduleDiagnostics,
} from './queue-diagnostics.ts'
import type { Schedules } from '../operate/schedules.ts'
import type { DutyView } from '../operate/duty-control.ts'

export interface Diagnostics {
  /** Problems that need attention and how to fix them, most severe first. Passed checks are left out. */
  diagnostics(): Promise<NeedsAttention[]>
}

/** A diagnostic that is a warning or an error. */
export interface NeedsAttention extends MillDiagnostic {
  readonly level: Exclude<Diagnostic['level'], 'ok'>
  readonly fix: string
}

interface AskedMill
  extends DiagnosedMill, Pick<Operate, 'counts'>, Pick<Limiting, 'limits'>, Pick<Observation, 'metrics'> {
  readonly schedules: Pick<Schedules, 'list'>
}

export interface DiagnosticsTools {
  readonly mill: () => AskedMill
  readonly options: Pick<Resolved, 'retain' | 'duties' | 'platform'>
  /** Null for a store without tools. */
  readonly tools: Pick<StoreTools, 'schema' | 'health'> | null
}

export function diagnostics({ mill: getMill, options, tools }: DiagnosticsTools): Diagnostics {
  const { platform } = options
  return {
    async diagnostics() {
      const mill = getMill()
      const [queues, counts, instances, limits, schedules, duties] = await Promise.all([
        mill.queues(),
        mill.counts(),
        mill.instances(),
        mill.limits.list(),
        mill.schedules.list(),
        mill.duties(),
      ])
      const now = platform.now()
      const names = queues.map(({ name }) => name)
      const { queues: series } = await mill.metrics({
        queues: names,
        from: Math.max(0, now - DEATHS_MS),
        resolution: '1m',
      })
      const deaths = deathDiagnostics(series)
      const all = [
        ...(await database(tools)),
        ...(await diagnoseMill(mill, periodsOf(options), { hidesPayloads: true })),
        ...deaths,
        ...deadJobDiagnostics(counts, deaths),
        ...queueDiagnostics({ queues, counts, instances }),
        ...limitDiagnostics(limits),
        ...scheduleDiagnostics(schedules),
        ...notifier(duties),
      ].filter(needsAttention)
      return (['error', 'warning'] as const).flatMap((level) => all.filter((one) => one.level === level))
    },
  }
}

function needsAttention(diagnostic: MillDiagnostic): diagnostic is NeedsAttention {
  return diagnostic.level !== 'ok'
}

async function database(tools: DiagnosticsTools['tools']): Promise<MillDiagnostic[]> {
  if (tools === null) return []
  const looks = await Promise.allSettled([
    tools.schema().then(migrations),
    tools.health().then(({ pinned }) => pinned.map(pins)),
  ])
  return looks
    .flatMap((look) => (look.status === 'fulfilled' ? look.value : [cannotLook(look.reason)]))
    .map((diagnostic) => about(diagnostic, 'database'))
}

/** A schema that does not exist belongs to an in-memory store, which is always current. */
function migrations({ isThere, pending, refused }: SchemaStatus): Diagnostic[] {
  if (!isThere) return []
  if (refused !== null) {
    const fix = 'Install the jobmill release that migrated this database, or a newer one'
    return [broken('schema', refused, fix)]
  }
  if (pending.length === 0) return []
  const names = pending.map(({ number, name }) => `${number} (${name})`).join(', ')
  const fix = 'Run jobmill db migrate, or start a process of the installed release'
  return [warning('schema', `pending migrations: ${names}`, fix)]
}

/** Leaves the statement out, because not every role may see it. */
function pins({ pid, ageMs, state }: PinningSession): Diagnostic {
  return warning(
    'horizon',
    `session ${pid} (${state}) has held a transaction open for ${spanText(ageMs)}, so vacuum cannot remove rows deleted since`,
    `Run SELECT pg_terminate_backend(${pid}), and set idle_in_transaction_session_timeout to end such sessions automatically`,
  )
}

/** Reports only the error code: the message may contain host and user names. */
function cannotLook(error: unknown): Diagnostic {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'INTERNAL'
  return warning('database', `the database check failed: ${code}`, 'Run jobmill db doctor for details')
}

/** Reports failures of this process to listen: a pooler refuses LISTEN, or the server cannot be reached. */
function notifier(duties: readonly DutyView[]): MillDiagnostic[] {
  const failures = duties.find(({ name }) => name === 'listen')?.here?.failures ?? 0
  if (failures === 0) return []
  const message = `this process cannot listen for notifications (${countText(failures, 'failure')} in a row) and polls instead`
  const fix = 'Set the notifier option to the URL of the server itself, not of the pooler, or to false'
  return [about(warning('notifier', message, fix), 'duty', 'listen')]
}
