/**
 * Each update is handled once, whether its bot is synchronous or durable, across processes and repeats. On
 * both stores.
 */
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import type { Handler } from '../src/index.ts'
import { anUpdate, freshDatabase, saidBy, scene, type Scene, STORES } from './support/scene.ts'

/** The status and the reported result. */
async function resultOf(answer: Promise<Response>) {
  const response = await answer
  return [response.status, ((await response.json()) as { result?: string }).result]
}

describe.each(STORES)('one update on %s', (store) => {
  const test = inTurns(store, STORES)
  let durable: Scene
  let direct: Scene
  const ran: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const ids = { bot: 7_000, closed: 7_001 }
  /** The name of the process in its replies. */
  const handler =
    (name: string): Handler =>
    async ({ text, reply }) => {
      ran.push(`${name} ${text}`)
      await gates.get(text)?.promise
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
  })
  afterAll(async () => {
    await direct.stop()
    await durable.stop()
  })
  afterEach(() => gates.clear())

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

  test('E21 an update that is being handled is a repeat in every process', async () => {
    const gate = Promise.withResolvers<void>()
    gates.set('held', gate)
    const update = anUpdate('held')
    const first = resultOf(direct.post('bot', update))
    await expect.poll(() => ran).toContainEqual(expect.stringMatching(/ held$/))
    expect(await resultOf(durable.post('bot', update))).toEqual([200, 'duplicate'])
    gate.resolve()
    expect(await first).toEqual([200, 'handled'])
    expect(await resultOf(durable.post('bot', update))).toEqual([200, 'duplicate'])
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
      expect(await at.gateway.mill.holder(`telegram ${ids.closed}:${refused.update_id}`)).toBeNull()
    }
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
    await before.gateway.mill.pause('telegram.bot')
    const chat = before.chat('bot')
    expect(await resultOf(before.post('bot', anUpdate('left', { userId: chat.id })))).toEqual([200, 'queued'])
    await before.stop()
    const after = await scene({ ...options, handlers: { mine: handler('after') }, bots: { bot: mine } })
    const gate = Promise.withResolvers<void>()
    gates.set('left', gate)
    await after.gateway.mill.resume('telegram.bot')
    await expect.poll(() => ran).toContain('after left')
    // New updates of this chat queue behind the job; other chats do not.
    const next = anUpdate('next', { userId: chat.id })
    const answer = resultOf(after.post('bot', next))
    await expect.poll(() => after.gateway.mill.holder(`telegram ${ids.bot}:${next.update_id}`)).not.toBeNull()
    expect(await resultOf(after.post('bot', next))).toEqual([200, 'duplicate'])
    expect(await resultOf(after.post('bot', anUpdate('elsewhere')))).toEqual([200, 'handled'])
    expect(ran).not.toContain('after next')
    gate.resolve()
    expect((await answer)[0]).toBe(200)
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(chat)).toEqual(['after did left', 'after did next'])
    expect(await resultOf(after.post('bot', anUpdate('last', { userId: chat.id })))).toEqual([200, 'handled'])
    await after.stop()
  })
})
