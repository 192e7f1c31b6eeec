/**
 * Each update is handled once, whether its bot is synchronous or durable, across processes and repeats. On
 * both stores.
 */
import { openTables, type Tables } from 'jobmill-tables'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { inTurns } from '../../../test/support/in-turns.ts'
import type { Handler } from '../src/index.ts'
import { startedReplies } from '../src/sessions/started-replies.ts'
import { updateClaims } from '../src/sessions/update-claims.ts'
import { type Schema, STEPS } from '../src/sessions/steps.ts'
import { upkeepDuty } from '../src/upkeep.ts'
import { anUpdate, freshDatabase, saidBy, scene, type Scene, STORES } from './support/scene.ts'

const DAY = 86_400_000

/** The status and the reported result. */
async function resultOf(answer: Promise<Response>) {
  const response = await answer
  return [response.status, ((await response.json()) as { result?: string }).result]
}

describe.each(STORES)('one update on %s', (store) => {
  const test = inTurns(store, STORES)
  let durable: Scene
  let direct: Scene
  let tables: Tables<Schema>
  const ran: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const ids = { bot: 7_000, closed: 7_001 }
  /** The name of the process in its replies. */
  const handler =
    (name: string): Handler =>
    async ({ text, reply }) => {
      ran.push(`${name} ${text}`)
      await gates.get(`${name} ${text}`)?.promise
      reply(`${name} did ${text}`)
    }

  beforeAll(async () => {
    const retry = { attempts: 1, backoff: ['0s'], jitterPercent: 0 }
    const bots = {
      bot: { handler: 'mine', requireAuth: false, retry },
      closed: { handler: 'mine', requireAuth: false, allowedUsers: [5] },
    }
    const options = { store, ids, leaseMs: 60_000 }
    durable = await scene({
      ...options,
      handlers: { mine: handler('durable') },
      bots: { bot: { ...bots.bot, async: true }, closed: { ...bots.closed, async: true } },
    })
    const { database, fake: telegram } = durable
    direct = await scene({ ...options, database, telegram, handlers: { mine: handler('direct') }, bots })
    tables = (await openTables<Schema>(database, { app: 'telegram', steps: [] })).tables
  })
  afterAll(async () => {
    await tables.close()
    await direct.stop()
    await durable.stop()
  })
  afterEach(() => gates.clear())

  /** Expires the lease of its holder. */
  const fallSilent = (updateId: number, also: { crashes?: number } = {}) =>
    tables.db
      .updateTable('telegram_update')
      .set({ until: 0, ...also })
      .where('update_id', '=', updateId)
      .execute()

  test('E21 an update handled synchronously is a repeat once the bot is durable, and the other way round', async () => {
    const chat = durable.chat('bot')
    const [first, second] = ['one', 'two'].map((text) => anUpdate(text, { userId: chat.id }))
    expect(await resultOf(direct.post('bot', first))).toEqual([200, 'handled'])
    expect(await resultOf(durable.post('bot', first))).toEqual([200, 'duplicate'])
    expect(await resultOf(durable.post('bot', second))).toEqual([200, 'queued'])
    expect(await resultOf(direct.post('bot', second))).toEqual([200, 'duplicate'])
    await chat.until((all) => all.some(({ text }) => text.endsWith('did two')))
    // The job has ended, and the update is still a repeat.
    expect(await resultOf(direct.post('bot', second))).toEqual([200, 'duplicate'])
    expect(saidBy(chat).map((text) => text.replace(/^\w+ /, ''))).toEqual(['did one', 'did two'])
    expect(ran.filter((one) => /one|two/.test(one))).toHaveLength(2)
  })

  test('E21 an update that one process handles synchronously is not enqueued by another', async () => {
    const gate = Promise.withResolvers<void>()
    gates.set('direct held', gate)
    const update = anUpdate('held')
    const first = resultOf(direct.post('bot', update))
    await expect.poll(() => ran).toContain('direct held')
    expect(await resultOf(durable.post('bot', update))).toEqual([503, 'busy'])
    gate.resolve()
    expect(await first).toEqual([200, 'handled'])
    expect(await resultOf(durable.post('bot', update))).toEqual([200, 'duplicate'])
  })

  test('E21 a job whose update was handled synchronously at the same time does nothing', async () => {
    const mill = durable.gateway.mill
    await mill?.pause('telegram.bot')
    const update = anUpdate('raced')
    expect(await resultOf(durable.post('bot', update))).toEqual([200, 'queued'])
    await tables.db
      .insertInto('telegram_update')
      .values({
        bot_id: ids.bot,
        update_id: update.update_id,
        state: 'handled',
        attempts: 1,
        crashes: 0,
        token: 1,
        until: Date.now() + DAY,
      })
      .execute()
    await mill?.resume('telegram.bot')
    const results = async () => {
      const { jobs = [] } = (await mill?.list({ state: 'done', queue: 'telegram.bot' })) ?? {}
      return Promise.all(jobs.map(async ({ id }) => (await mill?.get(id))?.result))
    }
    await expect.poll(results).toContainEqual(expect.objectContaining({ handled: 'no' }))
    expect(ran.filter((one) => one.endsWith('raced'))).toEqual([])
  })

  test('A5 repeats are detected before refusals; a refused update leaves no trace and is refused again', async () => {
    for (const at of [durable, direct]) {
      const update = anUpdate('while on the list', { userId: 5 })
      const [, result] = await resultOf(at.post('closed', update))
      expect(['queued', 'handled']).toContain(result)
      // Simulates a sender who was removed from the allow list.
      const stranger = { ...update, message: { ...update.message, from: { id: 6 } } }
      for (const other of [durable, direct])
        expect(await resultOf(other.post('closed', stranger))).toEqual([200, 'duplicate'])
      const refused = anUpdate('not on the list', { userId: 6 })
      for (let times = 0; times < 2; times += 1)
        expect(await resultOf(at.post('closed', refused))).toEqual([200, 'dropped'])
      const rows = await tables.db
        .selectFrom('telegram_update')
        .select('state')
        .where('update_id', '=', refused.update_id)
        .execute()
      expect(rows).toEqual([])
      expect(await at.gateway.mill?.holder(`telegram ${ids.closed}:${refused.update_id}`)).toBeNull()
    }
  })

  test('P5 a crash spends no attempt; after three crashes the user is notified', async () => {
    const chat = durable.chat('bot')
    // This bot has one attempt, so the update would be dead if crashes counted.
    const other = anUpdate('survives', { userId: chat.id })
    const claims = updateClaims(tables, { dedupeMs: DAY, leaseMs: 60_000 })
    const ref = { botId: ids.bot, updateId: other.update_id }
    for (const died of [0, 1]) {
      expect(await claims.claim(ref)).toMatchObject({ claimed: { attempt: 1, crashes: died } })
      expect(await resultOf(direct.post('bot', other))).toEqual([503, 'busy'])
      await fallSilent(other.update_id)
    }
    expect(await resultOf(direct.post('bot', other))).toEqual([200, 'handled'])

    const poison = anUpdate('kills', { userId: chat.id })
    await claims.claim({ botId: ids.bot, updateId: poison.update_id })
    await fallSilent(poison.update_id, { crashes: 2 })
    expect(await resultOf(direct.post('bot', poison))).toEqual([200, 'dead'])
    await chat.until((all) => all.filter(({ text }) => text.includes('something went wrong')).length === 1)
    expect(saidBy(chat)).toEqual(['direct did survives', expect.stringContaining('something went wrong')])
  })

  test('E2 an overtaken process writes neither its reply nor its outcome', async () => {
    const chat = durable.chat('bot')
    const update = anUpdate('overtaken', { userId: chat.id })
    gates.set('direct overtaken', Promise.withResolvers<void>())
    const first = resultOf(direct.post('bot', update))
    await expect.poll(() => ran).toContain('direct overtaken')
    await fallSilent(update.update_id)
    const claims = updateClaims(tables, { dedupeMs: DAY, leaseMs: 60_000 })
    const claim = await claims.claim({ botId: ids.bot, updateId: update.update_id })
    gates.get('direct overtaken')?.resolve()
    expect(await first).toEqual([503, 'busy'])
    // The other claim is still open.
    if (claim.outcome !== 'new') throw new Error('it was not overtaken')
    expect(await tables.transaction((db) => claims.handled(db, claim.claimed))).toBe(true)
    expect(await resultOf(direct.post('bot', update))).toEqual([200, 'duplicate'])
    const { jobs = [] } = (await direct.gateway.mill?.list({ queue: 'telegram.bot.send' })) ?? {}
    const sent = await Promise.all(jobs.map(async ({ id }) => (await direct.gateway.mill?.get(id))?.payload))
    expect(JSON.stringify(sent)).not.toContain('did overtaken')
  })

  test('jobs from before a switch to synchronous still run', async () => {
    const database = freshDatabase(store)
    const { fake: telegram } = durable
    const options = { store, ids, database, telegram }
    const mine = { handler: 'mine', requireAuth: false }
    const before = await scene({
      ...options,
      handlers: { mine: handler('before') },
      bots: { bot: { ...mine, async: true } },
    })
    await before.gateway.mill?.pause('telegram.bot')
    const chat = before.chat('bot')
    expect(await resultOf(before.post('bot', anUpdate('left', { userId: chat.id })))).toEqual([200, 'queued'])
    await before.stop()
    const after = await scene({ ...options, handlers: { mine: handler('after') }, bots: { bot: mine } })
    // New updates of this chat queue behind the job; other chats do not.
    const next = anUpdate('next', { userId: chat.id })
    expect(await resultOf(after.post('bot', next))).toEqual([200, 'queued'])
    expect(await resultOf(after.post('bot', next))).toEqual([200, 'duplicate'])
    expect(await resultOf(after.post('bot', anUpdate('elsewhere')))).toEqual([200, 'handled'])
    await after.gateway.mill?.resume('telegram.bot')
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(chat)).toEqual(['after did left', 'after did next'])
    expect(await resultOf(after.post('bot', anUpdate('last', { userId: chat.id })))).toEqual([200, 'handled'])
    await after.stop()
  })

  test('E13 E14 an update is forgotten when no repeat of it is possible, even if it never finished', async () => {
    let now = Date.now()
    const { tables: own, store: jobs } = await openTables<Schema>(freshDatabase(store), {
      app: 'telegram',
      steps: STEPS,
      clock: () => now,
    })
    await own.open()
    const claims = updateClaims(own, { dedupeMs: DAY, leaseMs: 1_000 })
    const duty = upkeepDuty({ tables: own, claims, replies: startedReplies(own, jobs), dedupeMs: DAY })
    const claimOf = async (updateId: number) => {
      const claim = await claims.claim({ botId: 1, updateId })
      if (claim.outcome !== 'new') throw new Error(claim.outcome)
      return claim.claimed
    }
    const [handled, failed] = [await claimOf(1), await claimOf(2)]
    await claimOf(3)
    await own.transaction((db) => claims.handled(db, handled))
    await claims.failed(failed, true)
    now += 2_000
    // Its process is gone, and Telegram may still redeliver it.
    expect(await duty.run({} as never)).toMatchObject({ updates: 0 })
    now += DAY - 2_000
    expect(await duty.run({} as never)).toMatchObject({ updates: 2 })
    expect(await claims.claim({ botId: 1, updateId: 1 })).toMatchObject({ outcome: 'new' })
    now += 1_000
    expect(await duty.run({} as never)).toMatchObject({ updates: 1 })
    await own.close()
  })
})
