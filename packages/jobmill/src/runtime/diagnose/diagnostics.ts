/**
 * `mill.diagnostics()`: everything that needs attention, most severe first. Runs only cheap checks; `jobmill
 * db doctor` runs all.
 */
import type { CheckName } from '../../job/alert/check-names.ts'
import { cache } from '../../platform/cache.ts'
import { spanText } from '../../job/text/span-text.ts'
import {
  broken,
  type Diagnostic,
  type PinningSession,
  type SchemaStatus,
  warning,
} from '../../store/admin/admin.ts'
import type { StoreTools } from '../../store/admin/tools.ts'
import type { MillTools } from '../tools.ts'
import { type MillDiagnostic, type NeedsAttention, runChecks, worstFirst } from './check.ts'
import { CHECKS, LIVE_CHECKS } from './checks.ts'
import { kindHealth, type KindHealth, queueHealth, type QueueHealth } from './health.ts'
import { type DiagnosedMill, liveScene, type LiveMill, sceneOf } from './scene.ts'

export interface Health {
  readonly diagnostics: NeedsAttention[]
  /** Sorted by name. */
  readonly queues: QueueHealth[]
  /** The kinds with attempts in the last 10 minutes, sorted by name. */
  readonly kinds: KindHealth[]
}

export interface Diagnostics {
  /** Problems that need attention and how to fix them, most severe first. Passed checks are left out. */
  diagnostics(): Promise<NeedsAttention[]>
  /** The diagnostics, and the health of each queue and each kind, from one read. */
  health(): Promise<Health>
}

/** The checks of the database need a connection of their own, and their results change within minutes. */
const DATABASE_EVERY_MS = 60_000

export function diagnostics({ options, storeTools, platform }: MillTools, mill: () => LiveMill): Diagnostics {
  const ofDatabase = cache(platform, DATABASE_EVERY_MS, () => database(storeTools))
  const health: Diagnostics['health'] = async () => {
    const scene = await liveScene(mill(), options)
    const found = runChecks<typeof scene>([...CHECKS, ...LIVE_CHECKS], scene)
    return {
      diagnostics: worstFirst([...(await ofDatabase()), ...found]),
      queues: queueHealth(scene),
      kinds: kindHealth(scene),
    }
  }
  return { health, diagnostics: async () => (await health()).diagnostics }
}

/** The checks of the doctor that do not depend on the store. */
export async function diagnoseMill(
  mill: DiagnosedMill,
  options: Parameters<typeof sceneOf>[1],
): Promise<MillDiagnostic[]> {
  return runChecks(CHECKS, await sceneOf(mill, options, false))
}

async function database(tools: StoreTools | null): Promise<MillDiagnostic[]> {
  if (tools === null) return []
  const looks = await Promise.allSettled([
    tools.schema().then(migrations),
    tools.health().then(({ pinned }) => pinned.map(pins)),
    tools.replica?.().then(unusable) ?? [],
  ])
  return looks
    .flatMap((look) => (look.status === 'fulfilled' ? look.value : [cannotLook(look.reason)]))
    .map((diagnostic) => ({ ...diagnostic, about: { what: 'database', name: null } }))
}

/** A schema that does not exist belongs to an in-memory store, which is always current. */
function migrations({ isThere, pending, refused }: SchemaStatus): Diagnostic<CheckName>[] {
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
function pins({ pid, ageMs, state }: PinningSession): Diagnostic<CheckName> {
  return warning(
    'horizon',
    `session ${pid} (${state}) has held a transaction open for ${spanText(ageMs)}, so vacuum cannot remove rows deleted since`,
    `Run SELECT pg_terminate_backend(${pid}), and set idle_in_transaction_session_timeout to end such sessions automatically`,
  )
}

/** Gives no details, because the message of the check contains host and user names. */
function unusable(found: readonly Diagnostic[]): Diagnostic<CheckName>[] {
  if (found.every(({ level }) => level === 'ok')) return []
  const what = 'the replica of readUrl is down or behind: lists and metrics are read from the primary'
  return [warning('replica', what, 'Run jobmill db doctor for details')]
}

/** Reports only the error code: the message may contain host and user names. */
function cannotLook(error: unknown): Diagnostic<CheckName> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'INTERNAL'
  return warning('database', `the database check failed: ${code}`, 'Run jobmill db doctor for details')
}
