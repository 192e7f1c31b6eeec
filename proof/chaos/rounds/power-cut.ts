/**
 * Power cuts on SQLite: synced data survives, and later writes survive in part. Tested in two ways after
 * every answered call. On a disk image, only synced data survives a cut, and it must include everything
 * answered. And file copies are torn within the next write, where all earlier answers must survive.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import type { JobState, FullStore } from 'jobmill'
import { systemPlatform } from 'jobmill/store'
import { prepareJobs } from 'jobmill/internal'
import { sqlite } from 'jobmill/sqlite'
import { nowMs } from '../../cluster/clock.ts'
import type { Chance } from '../../simulate/chance.ts'
import { diskImage } from '../disks/disk-image.ts'

export interface PowerCuts {
  /** The number of power cuts. */
  readonly cuts: number
  /** How often the WAL had restarted in between: then pages of the database itself were torn. */
  readonly checkpoints: number
  readonly acknowledged: number
  /** Those whose completion was acknowledged too. */
  readonly finished: number
  /** How many acknowledged jobs were missing. */
  readonly lost: number
  /** The longest time to open the torn files. */
  readonly reopenMs: number
  /** What was lost or broken, in sentences. */
  readonly broken: readonly string[]
}

export interface Unsynced extends Pick<PowerCuts, 'cuts' | 'acknowledged' | 'finished' | 'lost' | 'broken'> {}

export interface PowerCutOptions {
  readonly folder: string
  /** The number of calls, each followed by every kind of power cut. */
  readonly steps: number
  readonly chance: Chance
  /** To test this test: a store that answers too early. */
  readonly around?: (store: FullStore<never>) => FullStore<never>
}

/** The unit of a disk write. */
const SECTOR = 512

interface Files {
  readonly database: Buffer
  readonly log: Buffer
}

export async function powerCuts({ folder, steps, chance, around }: PowerCutOptions): Promise<PowerCuts> {
  const file = path.join(folder, 'jobs.db')
  const opened = sqlite(file) as FullStore<never>
  const store = around?.(opened) ?? opened
  await store.open()
  const answered = new Map<string, JobState>()
  const broken: string[] = []
  const work = worker(store, answered, chance)
  let cuts = 0
  let checkpoints = 0
  let reopenMs = 0
  let safe = filesAt(file)
  let promised = new Map(answered)
  for (let step = 0; step < steps; step += 1) {
    await work()
    const after = filesAt(file)
    if (!after.log.subarray(0, 32).equals(safe.log.subarray(0, 32))) checkpoints += 1
    for (const [way, torn] of tornBetween(safe, after, chance)) {
      cuts += 1
      const { problems, tookMs } = await wrongWith(path.join(folder, 'cut'), torn, promised)
      reopenMs = Math.max(reopenMs, tookMs)
      broken.push(...problems.map((what) => `step ${step}, ${way}: ${what}`))
    }
    safe = after
    promised = new Map(answered)
  }
  await store.close()
  return { cuts, checkpoints, reopenMs, broken, ...countedIn(answered, broken) }
}

const IMAGE_MEGABYTES = 64

/** Cuts after which only synced data is left; null if no disk image can be created. */
export async function unsyncedCuts(options: PowerCutOptions): Promise<Unsynced | null> {
  const { folder, steps, chance, around } = options
  const disk = diskImage(folder, IMAGE_MEGABYTES)
  if (disk === null) return null
  const opened = sqlite(path.join(disk.folder, 'jobs.db')) as FullStore<never>
  const store = around?.(opened) ?? opened
  const answered = new Map<string, JobState>()
  const broken: string[] = []
  let cuts = 0
  try {
    await store.open()
    const work = worker(store, answered, chance)
    for (; cuts < steps; cuts += 1) {
      await work()
      const files = disk.cut((after) => filesAt(path.join(after, 'jobs.db')))
      const { problems } = await wrongWith(path.join(folder, 'reopened'), files, answered)
      broken.push(...problems.map((what) => `step ${cuts}, nothing but what was synced: ${what}`))
    }
    await store.close()
  } finally {
    disk.unmount()
  }
  return { cuts, ...countedIn(answered, broken), broken }
}

function countedIn(
  answered: ReadonlyMap<string, JobState>,
  broken: readonly string[],
): Pick<PowerCuts, 'acknowledged' | 'finished' | 'lost'> {
  return {
    acknowledged: answered.size,
    finished: [...answered.values()].filter((state) => state === 'done').length,
    lost: broken.filter((problem) => problem.endsWith('is gone')).length,
  }
}

function filesAt(file: string): Files {
  const log = `${file}-wal`
  return { database: readFileSync(file), log: existsSync(log) ? readFileSync(log) : Buffer.alloc(0) }
}

/** Makes one call after the other: bulk enqueues, some large, claims and completions. */
function worker(
  store: FullStore<never>,
  answered: Map<string, JobState>,
  chance: Chance,
): () => Promise<void> {
  const instance = systemPlatform.id()
  let isRegistered = false
  const held: { id: string; token: number }[] = []

  async function enqueue(): Promise<void> {
    const jobs = Array.from({ length: chance.whole(1, 40) }, () => ({
      kind: 'cut',
      payload: 'x'.repeat(chance.pick([1, 100, 20_000])),
    }))
    const prepared = prepareJobs(jobs, { mintId: () => systemPlatform.id() })
    for (const { id } of await store.enqueue(prepared)) answered.set(id, 'ready')
  }

  async function claim(): Promise<void> {
    if (!isRegistered) {
      const about = {
        label: null,
        version: null,
        queues: ['default'],
        kinds: ['cut'],
        onDead: [],
        capacity: 100,
      }
      await store.instances.register({ id: instance, ...about, leaseMs: 3_600_000 })
      isRegistered = true
    }
    const queues = [{ queue: 'default', room: 20 }]
    const leases = await store.claim({ instance, queues, kinds: ['cut'], limit: 20, quarantined: 'skip' })
    for (const { id, token } of leases) {
      held.push({ id, token })
      answered.set(id, 'running')
    }
  }

  async function finish(): Promise<void> {
    const items = held
      .splice(0, chance.whole(1, 20))
      .map(
        ({ id, token }) =>
          ({ id, token, outcome: 'returned', transition: { to: 'done', result: '{"ok":true}' } }) as const,
      )
    for (const { id, state } of await store.finish(items)) if (state !== null) answered.set(id, state)
  }

  return () => (held.length > 0 && chance.isIt(0.5) ? finish() : chance.isIt(0.3) ? claim() : enqueue())
}

/** The possible disk contents after a power cut between two synced states. */
function tornBetween(safe: Files, after: Files, chance: Chance): (readonly [string, Files])[] {
  const isSameLog = after.log.subarray(0, 32).equals(safe.log.subarray(0, 32))
  const logs: (readonly [string, Buffer])[] = isSameLog
    ? [
        ['nothing of the next write', safe.log],
        ['the next write cut off', after.log.subarray(0, chance.whole(safe.log.length, after.log.length))],
        ['sectors of the next write missing', withHoles(after.log, safe.log.length, chance)],
        ['all of it', after.log],
      ]
    : [['the WAL before its restart', safe.log]]
  const databases: (readonly [string, Buffer])[] = [['', safe.database]]
  // A checkpoint copies the WAL into the database while the WAL is still complete: database pages may be torn
  // then.
  if (!isSameLog)
    databases.push([', pages of the database half written', mixed(safe.database, after.database, chance)])
  const both = logs.flatMap(([way, log]) =>
    databases.map(([also, database]) => [`${way}${also}`, { database, log }] as const),
  )
  return [...both, ['everything', after] as const]
}

/** Sectors after `from` that never reached the disk. */
function withHoles(bytes: Buffer, from: number, chance: Chance): Buffer {
  const torn = Buffer.from(bytes)
  for (let at = Math.ceil(from / SECTOR) * SECTOR; at < torn.length; at += SECTOR)
    if (chance.isIt(0.3)) torn.fill(0, at, Math.min(at + SECTOR, torn.length))
  return torn
}

/** Each sector is either old or new. */
function mixed(before: Buffer, after: Buffer, chance: Chance): Buffer {
  const torn = Buffer.alloc(after.length)
  for (let at = 0; at < after.length; at += SECTOR) {
    const from = at < before.length && chance.isIt(0.5) ? before : after
    from.copy(torn, at, at, Math.min(at + SECTOR, after.length))
  }
  return torn
}

async function wrongWith(
  folder: string,
  { database, log }: Files,
  promised: ReadonlyMap<string, JobState>,
): Promise<{ readonly problems: readonly string[]; readonly tookMs: number }> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const file = path.join(folder, 'jobs.db')
  writeFileSync(file, database)
  writeFileSync(`${file}-wal`, log)
  const integrity = checked(file)
  if (integrity !== 'ok') return { problems: [`integrity_check says: ${integrity}`], tookMs: 0 }
  const store = sqlite(file)
  const from = nowMs()
  await store.open()
  const tookMs = nowMs() - from
  const ids = [...promised.keys()]
  const jobs: Awaited<ReturnType<typeof store.get>>[number][] = []
  for (let at = 0; at < ids.length; at += 500) jobs.push(...(await store.get(ids.slice(at, at + 500))))
  await store.close()
  const problems = ids.flatMap((id, n) => {
    const state = jobs[n]?.state
    if (state === undefined) return [`${id} is gone`]
    // Later writes may have survived too.
    return ORDER.indexOf(state) < ORDER.indexOf(promised.get(id) ?? 'ready')
      ? [`${id} is ${state} again`]
      : []
  })
  return { problems, tookMs }
}

const ORDER: readonly JobState[] = ['scheduled', 'ready', 'running', 'done']

function checked(file: string): string {
  // A copy, so that the store gets the original files.
  const copy = `${file}-copy`
  copyFileSync(file, copy)
  copyFileSync(`${file}-wal`, `${copy}-wal`)
  const database = new Database(copy)
  try {
    return String(database.pragma('integrity_check', { simple: true }))
  } finally {
    database.close()
  }
}
