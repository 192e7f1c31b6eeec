/**
 * The scene of the tasks, next to the filled jobs: a shop with two worker processes. Version 2.14.0 worked;
 * since 2.15.0 every payment fails, with another request id in each error.
 */
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { JobKind, Mill } from 'jobmill'
import type { Place } from '../../cluster/places.ts'
import type { Closers } from '../../closing.ts'
import { CUSTOMER } from '../fill.ts'
import { until } from '../until.ts'
import * as kinds from './kinds.ts'
import { startWorker, stopAll } from './processes.ts'

export const SCHEDULE = 'nightly-report'

export interface Scene {
  readonly mill: Mill<never>
  /** Mission Control, without a trailing slash. */
  readonly url: string
  /** All jobs of CUSTOMER: some of the shop, and one of the filled ones. */
  readonly ofCustomer: readonly string[]
  /** The number of payments that failed. */
  readonly failedPayments: number
  readonly deadWebhooks: number
  /** Two shipments of one customer: the first runs, and the second waits for it. */
  readonly blocking: string
  readonly blocked: string
  /** A video job that runs until its signal aborts: the current one, or a new one if it was cancelled. */
  readonly runaway: () => Promise<string>
  /** Fixes the cause of the failures, in every process. */
  readonly fixCause: () => void
}

interface Setting {
  readonly mill: Mill<never>
  readonly url: string
  readonly place: Place
  readonly folder: string
  readonly closers: Closers
  /** The filled job of CUSTOMER. */
  readonly filled: string
}

const WORKED = 60
const FAILED = 40
const DEAD_WEBHOOKS = 12
const IMPORTS = 900

export async function setScene({ mill, url, place, folder, closers, filled }: Setting): Promise<Scene> {
  const fixed = path.join(folder, `${place.store}.fixed`)
  const start = async (version: string): Promise<ChildProcess[]> => {
    const children = await Promise.all(
      ['a', 'b'].map((one) => startWorker({ place, fixed, version, label: `shop-${version}-${one}` })),
    )
    closers.add(() => stopAll(children))
    return children
  }
  const isDone = (kind: { readonly kind: string }, state: 'done' | 'dead', jobs: number) =>
    until(
      `${jobs} ${state} jobs of ${kind.kind}`,
      () => mill.count({ kind: kind.kind, state }),
      (found) => found.jobs === jobs,
    )
  const ticks = (state: 'done' | 'dead', runs: number) =>
    until(
      `${runs} ${state} runs of ${SCHEDULE}`,
      async () => (await mill.schedules.history(SCHEDULE)).filter((tick) => tick.state === state).length,
      (found) => found >= runs,
    )
  const many = (kind: JobKind<kinds.OfCustomer>, jobs: number) =>
    mill.enqueueMany(
      kind,
      Array.from({ length: jobs }, (_, n) => ({ payload: { customer: { id: `cus_shop${n}` } } })),
    )

  const before = await start('2.14.0')
  await mill.pause('mail')
  await mill.schedules.create({
    name: SCHEDULE,
    job: kinds.report.kind,
    queue: 'reports',
    maxAttempts: 1,
    when: 'every 1s',
  })
  const worked = [kinds.charge, kinds.resize, kinds.confirm, kinds.index, kinds.invoice, kinds.sync]
  for (const kind of worked) await many(kind, WORKED)
  await mill.enqueueMany(
    kinds.webhook,
    Array.from({ length: WORKED + DEAD_WEBHOOKS }, (_, n) => ({
      payload: {
        customer: { id: `cus_shop${n}` },
        host: n < DEAD_WEBHOOKS ? 'broken.example.com' : 'shop.example.com',
      },
    })),
  )
  await mill.enqueue(kinds.sweep, { customer: { id: 'cus_shop0' } })
  for (const kind of worked) await isDone(kind, 'done', WORKED)
  await isDone(kinds.webhook, 'done', WORKED)
  await isDone(kinds.webhook, 'dead', DEAD_WEBHOOKS)
  await ticks('done', 3)
  await mill.schedules.pause(SCHEDULE)
  await stopAll(before)

  await start('2.15.0')
  await many(kinds.charge, FAILED)
  await isDone(kinds.charge, 'dead', FAILED)
  await mill.schedules.resume(SCHEDULE)
  await ticks('dead', 2)
  await mill.schedules.change(SCHEDULE, { when: '0 3 * * *' })
  await many(kinds.mail, 15)
  await many(kinds.importing, IMPORTS)

  const of = { customer: { id: CUSTOMER } }
  const ofCustomer = [
    filled,
    (await mill.enqueue(kinds.invoice, of)).id,
    (await mill.enqueue(kinds.mail, of)).id,
  ]
  const inOrder = { orderKey: 'cus_shop17' }
  const blocking = (await mill.enqueue(kinds.ship, { customer: { id: 'cus_shop17' } }, inOrder)).id
  const blocked = (await mill.enqueue(kinds.ship, { customer: { id: 'cus_shop17' } }, inOrder)).id
  const runs = (id: string) =>
    until(
      `the job ${id} runs`,
      () => mill.get(id),
      (job) => job?.state === 'running',
    )
  await runs(blocking)
  const runaway = async (): Promise<string> => {
    const [known] = (await mill.list({ kind: kinds.transcode.kind, state: 'running' })).jobs
    const id = known?.id ?? (await mill.enqueue(kinds.transcode, { customer: { id: 'cus_shop3' } })).id
    await runs(id)
    return id
  }
  await runaway()
  return {
    mill,
    url,
    ofCustomer,
    failedPayments: FAILED,
    deadWebhooks: DEAD_WEBHOOKS,
    blocking,
    blocked,
    runaway,
    fixCause: () => writeFileSync(fixed, ''),
  }
}
