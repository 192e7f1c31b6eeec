/**
 * Several gateways on one database: cleanup, notifications and clocks. On both stores. Most of the time is
 * waiting, so all stories run concurrently before the first test, and each test only checks its outcome.
 */
import type { Platform } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import { openTables } from 'jobmill-tables'
import { beforeAll, describe, expect, vi } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { startChild } from './support/child.ts'
import { leasesAreOver } from './support/leases-are-over.ts'
import { PATIENCE_MS, patientTelegram } from './support/patient-telegram.ts'
import {
  anUpdate,
  envOf,
  freshDatabase,
  saidBy,
  scene,
  type Scene,
  type SceneOptions,
  SECRET,
  STORES,
  type StoreName,
} from './support/scene.ts'

const HOUR_MS = 3_600_000
const DURABLE = { handler: 'moody', async: true, requireAuth: false }

const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: PATIENCE_MS })

interface Place {
  readonly store: StoreName
  readonly on: (options: Omit<SceneOptions, 'store'>) => Promise<Scene>
  readonly closing: (() => unknown)[]
}

/** Waits until any process leads the retention duty. */
async function retentionIsLed(database: string): Promise<void> {
  const { store, tables } = await openTables(database, { app: 'telegram', steps: [] })
  await store.open()
  try {
    await until(async () =>
      expect(
        (await store.instances.duties()).find(({ name }) => name === 'retain')?.leader ?? null,
      ).not.toBeNull(),
    )
  } finally {
    await store.close()
    await tables.close()
  }
}

async function leaderDies({ store, on, closing }: Place): Promise<void> {
  const port = await freePort()
  const database = freshDatabase(store)
  const bots = { moody: { ...DURABLE, ordered: false } }
  const telegram = await patientTelegram({ retryScale: 0.02 })
  closing.push(telegram.close)
  const tokens = envOf(['moody'])
  telegram.addBot({ token: tokens['BOT_MOODY_TOKEN'] ?? '', username: 'moody_bot' })
  const yaml = { listen: `127.0.0.1:${port}`, admin: false, apiRoot: telegram.url, bots }
  // Leads all duties, because it is alone. Its next cleanup is an hour away.
  const { child, ended, hears } = await startChild({
    ...tokens,
    YAML: JSON.stringify(yaml),
    DATABASE_URL: database,
  })
  closing.push(() => child.kill('SIGKILL'))
  await retentionIsLed(database)
  const env = { QUEUE_DONE_RETENTION: '1ms' }
  const at = await on({ database, telegram, bots, env, handlers: { moody: ({ reply }) => reply('done') } })
  const { mill } = at.gateway
  const leader = async () => (await mill.duties()).find(({ name }) => name === 'retain')?.leader
  const done = async () => (await mill.counts()).find(({ queue }) => queue === 'telegram.moody')?.done
  const amount = async (name: string) =>
    Number(new RegExp(`^${name} (.*)$`, 'm').exec(await mill.prometheus())?.[1] ?? 0)
  const passes = () => amount('jobmill_store_call_seconds_count\\{verb="retain"\\}')
  expect(await leader()).not.toBe(mill.instance.id)
  const updates = Array.from({ length: 600 }, (_, n) => ({ update_id: n, poll: {} }))
  await mill.enqueueMany(
    'telegram.moody.7000.moody',
    updates.map((update) => ({ payload: { botId: 7_000, slug: 'moody', handler: 'moody', update } })),
  )
  await until(async () => expect(await done()).toBe(updates.length))

  const isAnswered = hears('slow').then(() => true)
  /** Repeats until the process that will die has the update, because the other one may be faster. */
  async function chatOfTheDying(): Promise<ReturnType<Scene['chat']>> {
    const chat = at.chat('moody')
    await fetch(`http://127.0.0.1:${port}/telegram/moody`, {
      method: 'POST',
      body: JSON.stringify(anUpdate('slow 60000', { userId: chat.id })),
      headers: { 'x-telegram-bot-api-secret-token': SECRET },
    })
    const answered = chat.until((all) => all.some(({ by }) => by === 'bot')).then(() => false)
    return (await Promise.race([isAnswered, answered])) ? chat : chatOfTheDying()
  }
  const chat = await chatOfTheDying()
  const before = await passes()
  child.kill('SIGKILL')
  await ended
  await leasesAreOver(database, mill)
  await chat.until((all) => all.some(({ by }) => by === 'bot'))
  expect(saidBy(chat)).toEqual(['done'])
  await until(async () => expect(await leader()).toBe(mill.instance.id))
  await until(async () => expect(await done()).toBeLessThan(3))
  const swept = await amount('jobmill_swept_rows_total\\{outcome="done"\\}')
  expect(swept).toBeGreaterThanOrEqual(updates.length)
  // No statement deleted all of them at once.
  expect((await passes()) - before).toBeGreaterThanOrEqual(swept / 500)
  expect(await amount('jobmill_reaped_jobs_total')).toBe(1)
}

const workers = async ({ gateway }: Scene) =>
  /^jobmill_workers\{queue="telegram.moody"\} (\d+)$/m.exec(await gateway.mill.prometheus())?.[1]

async function bellRings({ on }: Place): Promise<void> {
  let isDrowsy = false
  /** A platform whose timers never fire, so that this process polls for nothing. */
  const drowsy: Platform = {
    ...systemPlatform,
    timer: (ms, task, options) =>
      systemPlatform.timer(ms, () => (isDrowsy && ms > 200 ? undefined : task()), options),
  }
  const ran: string[] = []
  const gate = Promise.withResolvers<void>()
  const handler = (name: string) => ({
    moody({ text }: { readonly text: string }) {
      ran.push(`${name} ${text}`)
      return text === 'holds' ? gate.promise : undefined
    },
  })
  const bots = { moody: { ...DURABLE, ordered: false, concurrency: 2 } }
  const first = await on({ bots, handlers: handler('first'), leaseMs: 60_000 })
  const { database, fake: telegram } = first
  const second = await on({
    database,
    telegram,
    bots,
    handlers: handler('second'),
    platform: drowsy,
    leaseMs: 60_000,
  })
  for (const one of [first, second]) await until(async () => expect(await workers(one)).toBe('1'))
  isDrowsy = true
  try {
    await first.post('moody', anUpdate('holds'))
    await until(() => expect(ran).toHaveLength(1))
    // Its own worker is busy now, so the other process must be notified. Skipped if the other one was faster.
    if (ran[0] === 'first holds') await first.post('moody', anUpdate('notifies'))
    await until(() => expect(ran.filter((one) => one.startsWith('second'))).toHaveLength(1))
  } finally {
    gate.resolve()
    isDrowsy = false
  }
}

async function clockIsWrong({ on }: Place, offMs: number): Promise<void> {
  const failed = new Set<string>()
  const retry = { attempts: 3, backoff: ['300ms'], jitterPercent: 0 }
  const at = await on({
    yaml: { mode: 'polling' },
    platform: { ...systemPlatform, now: () => systemPlatform.now() + offMs },
    handlers: {
      moody({ text, reply, bot }) {
        if (failed.has(bot.slug)) return reply(`did ${text}`)
        failed.add(bot.slug)
        throw new Error('not now')
      },
    },
    bots: { durable: { ...DURABLE, retry }, direct: { ...DURABLE, async: false, retry } },
  })
  const chats = [at.chat('durable'), at.chat('direct')]
  for (const chat of chats) chat.says('it')
  for (const chat of chats) await chat.until((all) => all.some(({ by }) => by === 'bot'))
  for (const queue of ['telegram.durable', 'telegram.direct']) {
    const [job] = (await at.gateway.mill.list({ queue })).jobs
    const { enqueuedAt = 0, endedAt = 0 } = job ?? {}
    // By the database clock, from its failure to its success.
    expect(endedAt ?? 0).toBeGreaterThanOrEqual(enqueuedAt + 300)
    expect(endedAt ?? 0).toBeLessThan(enqueuedAt + HOUR_MS / 2)
  }
}

const STORIES: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  'E6 E7 the process that cleans up dies: another one takes over, in batches, and recovers its jobs':
    leaderDies,
  'E18 an update that one process stores is handled by another immediately, through a notification':
    bellRings,
  'E11 P9 a process whose clock is an hour ahead waits as long as any other': (place) =>
    clockIsWrong(place, HOUR_MS),
  'E11 P9 a process whose clock is an hour behind waits as long as any other': (place) =>
    clockIsWrong(place, -HOUR_MS),
}

async function tell(store: StoreName, story: (place: Place) => Promise<void>): Promise<void> {
  const closing: (() => unknown)[] = []
  const on: Place['on'] = async (options) => {
    const at = await scene({ ...options, store })
    closing.push(at.stop)
    return at
  }
  try {
    await story({ store, on, closing })
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}

const answers = new Map<string, Promise<void>>()
beforeAll(async () => {
  for (const store of STORES)
    for (const [name, story] of Object.entries(STORIES)) answers.set(`${store} ${name}`, tell(store, story))
  await Promise.allSettled(answers.values())
})

describe.each(STORES)('several gateways on %s', (store) => {
  const test = inTurns(store, STORES)
  test.each(Object.keys(STORIES))('%s', async (name) => {
    await expect(answers.get(`${store} ${name}`)).resolves.toBeUndefined()
  })
})
