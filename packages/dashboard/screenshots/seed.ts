/**
 * A realistic mill on a working day: two processes, some failures, and a day of history. A new version was
 * deployed a while ago. Since then, every charge fails.
 */
import { dirname } from 'node:path'
import { serve } from 'jobmill-server'
import { bulkJob, jobmill, type Mill, type MillOptions } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'
import { type Platform, systemPlatform } from 'jobmill/store'
import { DEPLOYED, VERSIONS, writeHistory } from './history.ts'
import { seededInbox } from './inbox.ts'
import { charge, kinds } from './kinds.ts'

export interface Demo {
  readonly url: string
  /** Ids of the jobs for the screenshots. */
  readonly ids: { readonly dead: string; readonly waiting: string; readonly running: string }
  /** The id of the mailbox for the screenshots. */
  readonly mailbox: string
  readonly close: () => Promise<void>
}

const NAMES = ['ada', 'grace', 'linus', 'margaret', 'ken', 'barbara', 'dennis', 'frances', 'edsger', 'radia']

/** What ran before the processes of the screenshots: when it started, its version, and its charges. */
const EARLIER = [
  { ago: 80, version: VERSIONS.before, charges: 30 },
  { ago: DEPLOYED, version: VERSIONS.broken, charges: 70 },
  { ago: 9, version: VERSIONS.broken, charges: 90 },
]

/** The clock of a past time. */
function past(agoMs: number): Platform {
  return { ...systemPlatform, now: () => systemPlatform.now() - agoMs }
}

const chargesOf = (charges: number) => many(charges, (n) => ({ order: 90_210 + n, cents: 1_990 + n * 10 }))

/** Errors that are not new in the broken version. */
async function enqueueFailing(mill: Mill<never>): Promise<void> {
  const once = { maxAttempts: 1 }
  for (const name of ['gone', 'full', 'late'])
    await mill.enqueueMany(
      'mail.send',
      many(3, (n) => to(name, n)).map((one) => ({ ...one, ...once })),
    )
  await mill.enqueueMany(
    'webhook.deliver',
    many(3, (n) => hook('broken', n)).map((one) => ({ ...one, ...once })),
  )
}

async function runEarlier(file: string): Promise<void> {
  for (const { ago, version, charges } of EARLIER) {
    const platform = past(ago * 60_000)
    const mill = jobmill({
      store: sqlite(file, { platform }),
      jobs: [...kinds, charge(version === VERSIONS.broken)],
      queues: { payments: { workers: 8 }, mail: {}, webhooks: {}, reports: {}, media: {}, default: {} },
      limits: { 'partner-api': { rate: 30, per: '1m', burst: 30 } },
      env: { JOBMILL_WORKER_PREFIX: 'shop', JOBMILL_WORKER_VERSION: version, JOBMILL_WORKER_ID: 'a1' },
      platform,
      log: 'silent',
    })
    await mill.start()
    await mill.enqueueMany('payments.charge', chargesOf(charges))
    if (version === VERSIONS.before) await enqueueFailing(mill)
    await idle(mill)
    await mill.stop()
  }
}

export async function seeded(file: string): Promise<Demo> {
  await runEarlier(file)
  const store = sqlite(file)
  const options = (id: string): MillOptions<ReturnType<typeof sqlite>> => ({
    store: id === 'a1' ? store : sqlite(file),
    jobs: [...kinds, charge(true), bulkJob(() => mill)],
    queues: {
      mail: { workers: 6 },
      payments: { workers: 8 },
      webhooks: { workers: 4, retain: { done: '3d', dead: '30d' } },
      reports: { workers: 3 },
      media: { workers: 4 },
      default: {},
    },
    limits: { 'partner-api': { rate: 30, per: '1m', burst: 30 }, smtp: { concurrency: 8 } },
    schedules: [
      {
        name: 'month-end-report',
        job: 'report.build',
        when: '0 6 1 * *',
        zone: 'Europe/Berlin',
        payload: { month: 'last', at: 0 },
      },
      { name: 'partner-sync', job: 'partner.sync', when: 'every 5m' },
      {
        name: 'reminders',
        job: 'mail.send',
        when: '30 8 * * 1-5',
        zone: 'Europe/Berlin',
        payload: { to: 'team@example.com', template: 'reminder' },
      },
      {
        name: 'thumbnails',
        job: 'image.resize',
        when: '15 3 * * *',
        payload: { file: 'all', width: 320 },
        paused: true,
      },
    ],
    env: { JOBMILL_WORKER_PREFIX: 'shop', JOBMILL_WORKER_VERSION: VERSIONS.broken, JOBMILL_WORKER_ID: id },
    log: 'silent',
    grace: 0,
  })
  const mill: Mill<never> = jobmill(options('a1'))
  const second = jobmill(options('b2'))
  await mill.start()
  await second.start()
  await writeHistory(store, Date.now())
  const ids = await enqueueAll(mill)
  const { inbox, mailbox, close } = await seededInbox(dirname(file))
  const served = await serve(mill, { port: 0, apps: { uploads: inbox.app } })
  return {
    url: served.url,
    ids,
    mailbox,
    async close() {
      await served.close()
      await Promise.all([mill.stop(), second.stop()])
      await close()
    },
  }
}

const to = (name: string, n: number): object => ({
  to: `${name}${n}@example.com`,
  template: n % 3 === 0 ? 'invoice' : 'welcome',
  locale: 'en',
})

const many = (count: number, make: (n: number) => object) =>
  Array.from({ length: count }, (_, n) => ({ payload: make(n) }))

const hook = (host: string, n: number): object => ({
  url: `https://${host}.example.com/hooks/${n}`,
  event: 'order.paid',
  signatureToken: 'whsec_9f2c',
})

async function enqueueAll(mill: Mill<never>): Promise<Demo['ids']> {
  await mill.enqueueMany(
    'mail.send',
    many(120, (n) => to(NAMES[n % NAMES.length] ?? '', n)),
  )
  await mill.enqueueMany(
    'mail.send',
    many(14, (n) => to('gone', n)),
  )
  await mill.enqueueMany(
    'mail.send',
    many(9, (n) => to('full', n)),
  )
  await mill.enqueueMany(
    'image.resize',
    many(60, (n) => ({ file: `products/${n}.jpg`, width: 320 + n })),
  )
  await mill.enqueueMany(
    'webhook.deliver',
    many(80, (n) => hook('shop', n)),
  )
  await mill.enqueueMany(
    'webhook.deliver',
    many(22, (n) => hook('broken', n)),
  )
  await mill.enqueueMany('payments.charge', chargesOf(60))
  await mill.enqueueMany(
    'partner.sync',
    many(34, () => ({})),
  )
  const dead = await mill.enqueue('mail.send', to('late', 7), {
    tags: ['customer:4711', 'vip'],
    maxAttempts: 2,
    metadata: { order: 90_210 },
  })
  await idle(mill)
  for (let n = 0; n < 3; n += 1) {
    await mill.runNow(dead.id)
    await idle(mill)
  }
  const running = await mill.enqueue('report.build', { month: '2026-10', at: 64 }, { tags: ['finance'] })
  await mill.enqueue('report.build', { month: '2026-09', at: 12 })
  await mill.pause('media')
  await mill.enqueueMany(
    'image.resize',
    many(40, (n) => ({ file: `new/${n}.jpg`, width: 640 })),
  )
  await mill.enqueueMany(
    'video.transcode',
    many(7, (n) => ({ payload: { file: `clip-${n}.mp4` } })),
  )
  await mill.enqueue('webhook.deliver', hook('slow', 1))
  const waiting = await mill.enqueue(
    'image.resize',
    { file: 'hero.jpg', width: 1_920 },
    { tags: ['homepage'] },
  )
  return { dead: dead.id, waiting: waiting.id, running: running.id }
}

/** Waits until no runnable job is left. */
async function idle(mill: Mill<never>): Promise<void> {
  for (;;) {
    const counts = await mill.counts()
    const left = counts.reduce((sum, { ready, running }) => sum + ready + running, 0)
    if (left === 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
