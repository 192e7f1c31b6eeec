/** Replies: sent until Telegram has taken them or never will, in order, within its limits, once where that can be known. On both stores. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Fault } from '../src/fake/types.ts'
import { saidBy, scene, type Scene, STORES } from './support/scene.ts'

describe.each(STORES)('replies on %s', (store) => {
  let at: Scene
  beforeAll(async () => {
    at = await scene({
      store,
      handlers: {
        many: ({ text, reply }) => {
          for (let n = 1; n <= Number(text); n += 1) reply(`${n}`)
        },
      },
      bots: {
        echo: { handler: 'echo', async: true, requireAuth: false },
        direct: { handler: 'echo', requireAuth: false },
        careful: { handler: 'echo', async: true, requireAuth: false, replies: 'at-most-once' },
        many: { handler: 'many', async: true, requireAuth: false },
        stormy: { handler: 'echo', async: true, requireAuth: false },
      },
      fake: { limits: { perChatPerSecond: 4, perBotPerSecond: 61 } },
    })
  })
  afterAll(() => at.stop())

  const sendsOf = async (slug: string, state: 'dead' | 'done') => {
    const { jobs = [] } = (await at.gateway.mill?.list({ state, queue: `telegram.${slug}.send` })) ?? {}
    return Promise.all(jobs.map(async ({ id }) => at.gateway.mill?.get(id)))
  }

  const callsTo = (chat: number) =>
    at.fake.calls.filter(({ method, payload }) => method === 'sendMessage' && payload['chat_id'] === chat)

  test.each([
    ['a 429', { error: 429, retryAfter: 1 }],
    ['a 500', { error: 500 }],
    ['a page instead of JSON', { error: 502, html: true }],
    ['a connection that breaks', 'reset'],
  ] as [string, Fault][])('E9 %s is tried again, and arrives once', async (_what, fault) => {
    for (const slug of ['echo', 'direct']) {
      const chat = at.chat(slug)
      at.fake.next('sendMessage', fault)
      chat.says('hello')
      await chat.until((all) => all.some(({ by }) => by === 'bot'), 30_000)
      expect(saidBy(chat)).toEqual(['hello'])
      expect(callsTo(chat.id)).toHaveLength(2)
    }
  })

  test('C a 429 is waited out for as long as Telegram says, and only that chat waits', async () => {
    const [one, other] = [at.chat('echo'), at.chat('echo')]
    at.fake.next('sendMessage', { error: 429, retryAfter: 2 })
    one.says('first')
    await at.fake.until(() => callsTo(one.id).length === 1)
    other.says('not held up')
    await other.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(one)).toEqual([])
    await one.until((all) => all.some(({ by }) => by === 'bot'), 30_000)
    const [refused, taken] = callsTo(one.id)
    expect((taken?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(2_000)
  })

  test.each([
    ['403 blocked', 'blocked'],
    ['400', 'Bad Request'],
  ])('E9 %s is never tried again: the reply is dead, and says why', async (what, words) => {
    const chat = at.chat('echo')
    if (what === '400')
      at.fake.next('sendMessage', { error: 400, description: 'Bad Request: chat not found' })
    else at.fake.chatIs(chat.id, 'blocked')
    chat.says('hello')
    await expect
      .poll(async () => (await sendsOf('echo', 'dead')).map((job) => job?.error ?? '').join())
      .toContain(words)
    expect(callsTo(chat.id)).toHaveLength(1)
  })

  test('C a group that became another chat is written to there', async () => {
    const chat = at.fake.chat({ bot: at.tokenOf('echo'), id: -55, type: 'group' })
    at.fake.chatIs(-55, 'migrated', { to: -100_055 })
    chat.says('where are you?')
    const there = at.fake.chat({ bot: at.tokenOf('echo'), id: -100_055, type: 'supergroup' })
    await there.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(there)).toEqual(['where are you?'])
  })

  test('E20 twice only where Telegram had taken it and nobody heard of that; not at all with at-most-once', async () => {
    const chat = at.chat('echo')
    at.fake.next('sendMessage', 'lost')
    chat.says('twice')
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2, 30_000)
    const careful = at.chat('careful')
    at.fake.next('sendMessage', 'lost')
    careful.says('once')
    await expect
      .poll(async () => (await sendsOf('careful', 'done')).map((job) => job?.result))
      .toContainEqual(expect.objectContaining({ sent: 'perhaps' }))
    careful.says('and on')
    await careful.until((all) => all.some(({ text, by }) => by === 'bot' && text === 'and on'))
    expect(saidBy(careful)).toEqual(['once', 'and on'])
  })

  test('at-most-once gives up nothing that certainly did not arrive', async () => {
    const careful = at.chat('careful')
    at.fake.next('sendMessage', { error: 429, retryAfter: 1 })
    careful.says('patient')
    await careful.until((all) => all.some(({ by }) => by === 'bot'), 30_000)
    expect(saidBy(careful)).toEqual(['patient'])
  })

  test('P13 groups and bots have budgets of their own', async () => {
    const group = at.fake.chat({ bot: at.tokenOf('echo'), id: -77, type: 'group' })
    group.says('hello all')
    await group.until((all) => all.some(({ by }) => by === 'bot'), 30_000)
    const limits = (await at.gateway.mill?.limits.list()) ?? []
    const used = limits.filter(({ keys }) => (keys ?? 0) > 0).map(({ name }) => name)
    expect(used.toSorted()).toEqual(['telegram-bot', 'telegram-chat', 'telegram-group'])
  })

  test('C P13 when Telegram refuses more than one chat, the whole bot waits', async () => {
    const chats = Array.from({ length: 40 }, () => at.chat('stormy'))
    at.fake.next('sendMessage', ...Array.from({ length: 39 }, () => ({ error: 429, retryAfter: 2 })))
    const before = at.fake.calls.length
    for (const chat of chats) chat.says('anybody?')
    const refusals = () => at.fake.calls.slice(before).filter(({ method }) => method === 'sendMessage').length
    await expect.poll(refusals).toBeGreaterThan(1)
    // All that were on their way when the second was refused, and no others.
    const limit = async () =>
      (await at.gateway.mill?.limits.list())?.find(({ name }) => name === 'telegram-bot')
    expect(await limit()).toBeDefined()
    for (const chat of chats) await chat.until((all) => all.some(({ by }) => by === 'bot'), 60_000)
    const times = at.fake.calls
      .slice(before)
      .filter(({ method }) => method === 'sendMessage')
      .map(({ at: when }) => when)
    const first = Math.min(...times)
    expect(times.filter((when) => when < first + 1_900).length).toBeLessThanOrEqual(30)
  }, 90_000)

  test('P13 replies keep the limits of a chat, arrive in order, and none is refused', async () => {
    const before = at.fake.calls.filter(
      ({ answer }) => typeof answer === 'object' && answer?.status === 429,
    ).length
    const chat = at.chat('many')
    chat.says('6')
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 6, 30_000)
    expect(saidBy(chat)).toEqual(['1', '2', '3', '4', '5', '6'])
    const after = at.fake.calls.filter(
      ({ answer }) => typeof answer === 'object' && answer?.status === 429,
    ).length
    expect(after).toBe(before)
  })
})
