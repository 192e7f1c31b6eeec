/**
 * `mill.readiness()`: whether this process can do its work (store, schema, loops). Problems elsewhere in the
 * cluster are reported separately.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import { spanText } from '../../job/text/span-text.ts'
import type { Platform } from '../../platform/platform.ts'
import { within } from '../../platform/within.ts'
import type { DutyRecord } from '../../store/types/duty.ts'
import type { FullStore } from '../../store/store.ts'
import type { DutyStatus } from '../../upkeep/duty-log.ts'
import type { Lifecycle } from '../lifecycle.ts'
import type { MillTools } from '../tools.ts'

interface ReadyCheck {
  readonly ok: boolean
  readonly message: string
}

export interface Readiness {
  readonly ready: boolean
  readonly checks: {
    readonly store: ReadyCheck
    /** Applied and checked when the store was opened. */
    readonly schema: ReadyCheck
    /** The heartbeat of this instance. */
    readonly heartbeat: ReadyCheck
    readonly duties: ReadyCheck
  }
  /** Overdue duties of the cluster: a problem, but not of this process. */
  readonly degraded: readonly string[]
}

const DEADLINE_MS = 2_000
/**
 * A duty is overdue after three of its periods plus this time. The longest built-in period is assumed for a
 * duty that this process does not know.
 */
const OVERDUE_MS = 120_000
const FAILURES = 3

export function readiness({ opened, lifecycle, platform }: MillTools): {
  readonly readiness: () => Promise<Readiness>
} {
  return {
    async readiness() {
      const looked = await look(opened, platform)
      const here = lifecycle.engine?.duties() ?? []
      const checks = {
        store: check(looked.error === null, looked.error ?? 'responding'),
        schema: check(looked.isOpen, looked.isOpen ? 'matches this release' : 'not checked yet'),
        heartbeat: heartbeatOf(lifecycle),
        duties: ownDuties(here),
      }
      const ready = Object.values(checks).every(({ ok }) => ok)
      return { ready, checks, degraded: looked.duties.flatMap((duty) => overdue(duty, here, platform.now())) }
    },
  }
}

const check = (ok: boolean, message: string): ReadyCheck => ({ ok, message })

/** Reports only the error code: the message may contain host and user names. */
async function look(
  opened: () => Promise<FullStore>,
  platform: Platform,
): Promise<{ isOpen: boolean; duties: readonly DutyRecord[]; error: string | null }> {
  let isOpen = false
  const looking = async (): Promise<DutyRecord[]> => {
    const store = await opened()
    isOpen = true
    return store.instances.duties()
  }
  try {
    return { duties: await within(platform, DEADLINE_MS, 'the store', looking()), isOpen: true, error: null }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'INTERNAL'
    return { isOpen, duties: [], error: `not available: ${code}` }
  }
}

function heartbeatOf({ engine, isStarting, isStopping }: Lifecycle): ReadyCheck {
  if (isStopping) return check(false, 'this process is stopping')
  if (isStarting) return check(false, 'this process is starting')
  if (engine === null) return check(true, 'not started, so no heartbeat is needed')
  return check(engine.alive, engine.alive ? 'renewed in time' : 'not renewed within the lease')
}

function ownDuties(duties: readonly DutyStatus[]): ReadyCheck {
  const failing = duties.filter(({ leading, failures }) => leading && failures >= FAILURES)
  if (failing.length === 0) return check(true, 'running')
  return check(
    false,
    failing.map(({ name, failures }) => `${name} failed ${failures} times in a row`).join(', '),
  )
}

function overdue(
  { name, lastSuccessAt, failures }: DutyRecord,
  here: readonly DutyStatus[],
  now: number,
): string[] {
  const everyMs = here.find((one) => one.name === name)?.everyMs ?? DEFAULTS.retainEveryMs
  if (failures >= FAILURES) return [`${name} failed ${failures} times in a row`]
  if (lastSuccessAt === null || now - lastSuccessAt < OVERDUE_MS + 3 * everyMs) return []
  return [`${name} last succeeded ${spanText(now - lastSuccessAt)} ago`]
}
