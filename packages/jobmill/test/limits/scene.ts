/** Limits on a database: several processes that share it, each with its own handle, on a fake clock. */
import { onTestFinished } from 'vitest'
import { completeLimit, type LimitOptions, limitParts } from '../../src/job/limit/limit.ts'
import { type Limits, limits } from '../../src/limits/limits.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { FullStore } from '../../src/store/store.ts'
import { type Faults, faultyStore, type TestPlatform, testPlatform } from '../../src/testing/index.ts'
import { aClaim, aJob, anInstance, oracle, oracleDatabase } from '../../../conformance/src/index.ts'

/** Creates handles on one new database. */
export type Database = (clock: () => number) => () => FullStore

export const oracles: Database = (clock) => {
  const database = oracleDatabase()
  return () => oracle(database, { clock })
}

/** The parts of a process that limits need. */
export interface Process {
  readonly instance: string
  readonly store: FullStore & Faults
  readonly limits: Limits
  /** Like kill -9: no later request reaches the database. */
  readonly die: () => void
}

export interface Scene {
  readonly platform: TestPlatform
  readonly processes: readonly Process[]
  readonly first: Process
  /** Adds a process on the same database. */
  readonly another: () => Promise<Process>
}

export async function scene(
  declared: Readonly<Record<string, LimitOptions>>,
  {
    database = oracles,
    processes: many = 1,
  }: { readonly database?: Database; readonly processes?: number } = {},
): Promise<Scene> {
  const platform = testPlatform()
  const handle = database(platform.now)
  const another = (): Promise<Process> => newProcess(platform, handle())
  const first = await another()
  const processes = [first]
  while (processes.length < many) processes.push(await another())
  await first.store.limits.declare(
    Object.entries(declared).map(([name, options]) => ({
      name,
      settings: completeLimit(limitParts(options, name)),
    })),
  )
  return { platform, processes, first, another }
}

async function newProcess(platform: TestPlatform, handle: FullStore): Promise<Process> {
  const store = platform.track(faultyStore(handle))
  await store.open()
  onTestFinished(() => store.close())
  const instance = platform.id()
  let isDead = false
  const opened = (): Promise<FullStore> => (isDead ? new Promise(() => {}) : Promise.resolve(store))
  return {
    instance,
    store,
    limits: limits({ opened, platform, instance, started: notStarted, emit: () => {} }),
    die: () => void (isDead = true),
  }
}

async function notStarted(what: string): Promise<void> {
  throw new Error(`${what} needs a started mill`)
}

/** A lease without a claim: a rate limit does not check it. */
export function aLease(platform: TestPlatform, overrides: Partial<Lease> = {}): Lease {
  return {
    id: platform.id(),
    token: 1,
    kind: 'work',
    queue: 'default',
    priority: 0,
    attempt: 1,
    maxAttempts: 5,
    crashes: 0,
    payload: 'null',
    timeoutMs: null,
    tags: [],
    metadata: null,
    group: null,
    orderKey: null,
    enqueuedAt: 0,
    readyAt: 0,
    waitedMs: 0,
    ...overrides,
  }
}

/** `limit` of a handler that runs under this lease. */
export function insideOf({ limits: own }: Process, lease: Lease, signal = new AbortController().signal) {
  return own.inside({ lease, signal, checkLive: () => {}, queueLimit: () => null })
}

/** Jobs that run under the instance of a process. */
export async function running({ store, instance }: Process, many: number): Promise<Lease[]> {
  await store.instances.register(anInstance({ id: instance, leaseMs: 3_600_000 }))
  await store.enqueue(Array.from({ length: many }, () => aJob()))
  return store.claim(aClaim(instance))
}

/** Held permits of the first limit. */
export const held = async ({ first }: Scene): Promise<number | undefined> =>
  (await first.store.limits.list())[0]?.held

/** The error that it rejects with. */
export const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  )

export const isPending = (work: Promise<unknown>): Promise<boolean> =>
  Promise.race([work.then(() => false), Promise.resolve(true)])
