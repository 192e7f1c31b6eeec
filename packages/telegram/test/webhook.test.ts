/** The door: who is let in, what Telegram is told, and what a repeat is. On both stores, over a socket. */
import { once } from 'node:events'
import { request } from 'node:http'
import { createConnection } from 'node:net'
import { Snooze, systemPlatform } from 'jobmill'
import { openTables } from 'jobmill-tables'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTurns } from '../../../test/support/in-turns.ts'
import { listen } from '../src/intake/listen.ts'
import type { Handler } from '../src/index.ts'
import type { Schema } from '../src/sessions/steps.ts'
import { anUpdate, freshDatabase, saidBy, scene, type Scene, SECRET, STORES } from './support/scene.ts'

const OLD_SECRET = 'the-secret-of-before-the-rotation'

/** The status, and what it says became of it. */
async function told(answer: Promise<Response>) {
  const response = await answer
  return [response.status, ((await response.json()) as { result?: string }).result]
}

describe.each(STORES)('the webhook on %s', (store) => {
  const test = inTurns(store, STORES)
  let at: Scene
  const ran: string[] = []
  const counting: Handler = ({ text, reply }) => {
    ran.push(text)
    if (text === 'fail' || text === '') throw new Error('it failed')
    if (text === 'tomorrow') throw new Snooze(86_400_000, 'not today')
    reply(text === 'NUL' ? '\u0000' : `${text}!`)
  }

  beforeAll(async () => {
    at = await scene({
      store,
      handlers: { counting },
      bots: {
        durable: { handler: 'counting', async: true, requireAuth: false },
        direct: {
          handler: 'counting',
          requireAuth: false,
          retry: { attempts: 3, backoff: ['7s'], jitterPercent: 0 },
        },
        gated: { handler: 'counting', async: true },
        'gated-direct': { handler: 'counting' },
        wordy: { handler: 'counting', async: true, prompt: `${'a'.repeat(4_096)}${'b'.repeat(904)}` },
        once: { handler: 'counting', async: true, requireAuth: false, retry: { attempts: 1 } },
        closed: { handler: 'counting', async: true, allowedUsers: [5] },
        door: { handler: 'auth' },
      },
      env: { BOT_DURABLE_SECRET_OLD: OLD_SECRET },
    })
  })
  afterAll(() => at.stop())

  test('A5 404 for an unknown bot, 405 for what is not posted, 401 for a missing or wrong secret', async () => {
    expect((await at.post('nobody', anUpdate('x'))).status).toBe(404)
    expect((await fetch(`${at.gateway.url}/telegram/durable`)).status).toBe(405)
    expect((await at.post('durable', anUpdate('x'), { secret: null })).status).toBe(401)
    expect((await at.post('durable', anUpdate('x'), { secret: `${SECRET}x` })).status).toBe(401)
    expect((await at.post('durable', anUpdate('x'), { secret: '' })).status).toBe(401)
    expect((await fetch(`${at.gateway.url}/elsewhere`)).status).toBe(404)
  })

  test('E31 while a secret is being replaced both are taken', async () => {
    expect((await at.post('durable', anUpdate('old'), { secret: OLD_SECRET })).status).toBe(200)
    expect((await at.post('durable', anUpdate('new'), { secret: SECRET })).status).toBe(200)
    expect((await at.post('direct', anUpdate('x'), { secret: OLD_SECRET })).status).toBe(401)
  })

  test('A5 400 for what is no JSON and no update; F fields that nobody knows are accepted', async () => {
    for (const raw of [
      '',
      '{',
      '[]',
      '5',
      'null',
      '{}',
      '{"update_id":"5"}',
      '{"update_id":-1}',
      '{"update_id":1.5}',
    ])
      expect([raw, (await at.post('durable', null, { raw })).status]).toEqual([raw, 400])
    expect(await told(at.post('durable', { update_id: 12, from_the_future: [{}] }))).toEqual([200, 'queued'])
  })

  test('E31 413 for a body that is too long, also when it does not say so', async () => {
    const raw = `{"update_id":5,"x":"${'x'.repeat(1_100_000)}"}`
    expect((await at.post('durable', null, { raw })).status).toBe(413)
    const status = await new Promise((resolve, reject) => {
      const sent = request(
        `${at.gateway.url}/telegram/durable`,
        {
          method: 'POST',
          headers: { 'x-telegram-bot-api-secret-token': SECRET, 'transfer-encoding': 'chunked' },
        },
        (response) => resolve(response.statusCode),
      )
      sent.on('error', reject)
      sent.write(raw)
    })
    expect(status).toBe(413)
  })

  test('E15 E21 a repeat is told from what is new, and runs nothing, on both paths', async () => {
    for (const [slug, first] of [
      ['durable', 'queued'],
      ['direct', 'handled'],
    ] as const) {
      const chat = at.chat(slug)
      const { updateId } = chat.says(`once ${slug}`)
      await chat.until((all) => all.some(({ text }) => text === `once ${slug}!`))
      const again = await at.fake.redeliver(updateId, { bot: at.tokenOf(slug) })
      expect(again.status).toBe(200)
      const update = anUpdate(`twice ${slug}`, { userId: chat.id })
      expect(await told(at.post(slug, update))).toEqual([200, first])
      expect(await told(at.post(slug, update))).toEqual([200, 'duplicate'])
      await chat.until((all) => all.some(({ text }) => text === `twice ${slug}!`))
      expect(ran.filter((text) => text.endsWith(` ${slug}`))).toEqual([`once ${slug}`, `twice ${slug}`])
      expect(saidBy(chat)).toEqual([`once ${slug}!`, `twice ${slug}!`])
    }
  })

  test('E21 two deliveries of one update at once run once', async () => {
    const update = anUpdate('at once')
    const answers = await Promise.all(Array.from({ length: 5 }, () => told(at.post('direct', update))))
    expect(answers.filter(([, result]) => result === 'handled')).toHaveLength(1)
    for (const [status, result] of answers)
      expect([
        [200, 'handled'],
        [200, 'duplicate'],
        [503, 'busy'],
      ]).toContainEqual([status, result])
    expect(ran.filter((text) => text === 'at once')).toHaveLength(1)
  })

  test('A5 who is not on the list is dropped, and hears nothing', async () => {
    const chat = at.chat('closed')
    const { updateId } = chat.says('hello?')
    await at.fake.until(() =>
      at.fake.deliveries.some((one) => one.updateId === updateId && one.status === 200),
    )
    expect(await told(at.post('closed', anUpdate('hello', { userId: chat.id })))).toEqual([200, 'dropped'])
    expect(await told(at.post('closed', { update_id: 4, channel_post: { chat: { id: -5 } } }))).toEqual([
      200,
      'dropped',
    ])
    expect(saidBy(chat)).toEqual([])
  })

  test.each(['gated', 'gated-direct'])(
    'A5 who has no session is told where to get one, once for each update (%s)',
    async (slug) => {
      const chat = at.chat(slug)
      const update = anUpdate('let me', { userId: chat.id })
      expect(await told(at.post(slug, update))).toEqual([200, 'prompted'])
      expect(await told(at.post(slug, update))).toEqual([200, 'duplicate'])
      await chat.until((all) => all.some(({ by }) => by === 'bot'))
      expect(saidBy(chat)).toEqual(['Please log in first with @door_bot: send it /auth and your code.'])
    },
  )

  test('A5 a synchronous handler that fails is answered with 503, so that Telegram sends it again; after the last try the user is told', async () => {
    const chat = at.chat('direct')
    const update = anUpdate('fail', { userId: chat.id })
    const first = await at.post('direct', update)
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '7'])
    expect(await told(at.post('direct', update))).toEqual([503, 'failed'])
    expect(await told(at.post('direct', update))).toEqual([200, 'dead'])
    expect(await told(at.post('direct', update))).toEqual([200, 'duplicate'])
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(chat)).toEqual([expect.stringContaining('stopped trying')])
  })

  test('A5 Telegram is asked to wait for as long as it honours, and no longer', async () => {
    const { status, headers } = await at.post('direct', anUpdate('tomorrow'))
    expect([status, headers.get('retry-after')]).toEqual([503, '3600'])
  })

  test('A5 a prompt that is too long for one message is sent whole, once', async () => {
    const chat = at.chat('wordy')
    const update = anUpdate('let me', { userId: chat.id })
    expect(await told(at.post('wordy', update))).toEqual([200, 'prompted'])
    expect(await told(at.post('wordy', update))).toEqual([200, 'duplicate'])
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(chat)).toEqual(['a'.repeat(4_096), 'b'.repeat(904)])
  })

  test('A10 of what nobody said nobody is told that it failed', async () => {
    const chat = at.fake.chat({ bot: at.tokenOf('once'), id: -771, type: 'supergroup' })
    const base = { message_id: 1, date: 1, chat: { id: -771, type: 'supergroup' }, from: { id: 9 } }
    const joined = { new_chat_members: [{ id: 9 }], text: undefined }
    for (const message of [joined, { text: 'fail' }]) {
      const update = { update_id: message === joined ? 71 : 72, message: { ...base, ...message } }
      expect(await told(at.post('once', update))).toEqual([200, 'queued'])
    }
    await at.post('once', { update_id: 73, message: { ...base, text: 'goes on' } })
    await chat.until((all) => all.some(({ text }) => text === 'goes on!'))
    expect(saidBy(chat)).toEqual([expect.stringContaining('stopped trying'), 'goes on!'])
    const dead = (await at.gateway.mill?.list({ state: 'dead', queue: 'telegram.once' }))?.jobs
    expect(dead).toHaveLength(2)
  })

  test('E14 a new bot under an old slug does not collide with the old one', async () => {
    const update = anUpdate('same number')
    expect(await told(at.post('durable', update))).toEqual([200, 'queued'])
    at.fake.addBot({ token: '9999:abcdefghijklmnop', username: 'another_bot' })
    const second = await scene({
      store,
      database: at.database,
      telegram: at.fake,
      handlers: { counting },
      bots: { durable: { handler: 'counting', async: true, requireAuth: false } },
      ids: { durable: 9_999 },
    })
    expect(await told(second.post('durable', update))).toEqual([200, 'queued'])
    expect(await told(second.post('durable', update))).toEqual([200, 'duplicate'])
    await second.stop()
  })

  test('E21 what was said to somebody without a session is not done when they have one', async () => {
    const chat = at.chat('gated-direct')
    const update = anUpdate('too early', { userId: chat.id })
    expect(await told(at.post('gated-direct', update))).toEqual([200, 'prompted'])
    await at.gateway.sessions.open(chat.id, ['*'], 60_000)
    expect(await told(at.post('gated-direct', update))).toEqual([200, 'duplicate'])
    const next = anUpdate('in time', { userId: chat.id })
    expect(await told(at.post('gated-direct', next))).toEqual([200, 'handled'])
    await at.gateway.sessions.close(chat.id)
    expect(await told(at.post('gated-direct', next))).toEqual([200, 'duplicate'])
  })

  test('E28 accounts that many share are nobody: they get no session, and none of somebody else', async () => {
    const update = anUpdate('hello', { userId: 1_087_968_824 })
    await at.gateway.sessions.open(1_087_968_824, ['*'], 60_000)
    const anonymous = {
      ...update.message,
      from: { ...update.message.from, is_bot: true },
      sender_chat: { id: -5 },
    }
    expect(await told(at.post('gated', { ...update, message: anonymous }))).toEqual([200, 'prompted'])
  })

  test('who is in a chat without saying anything is not answered', async () => {
    const event = { chat: { id: 5 }, from: { id: 5 }, date: 1, new_chat_member: { status: 'kicked' } }
    expect(await told(at.post('gated', { update_id: 31, my_chat_member: event }))).toEqual([200, 'dropped'])
  })

  test('who pressed a button under the post of a channel is who pressed it', async () => {
    const post = {
      message_id: 9,
      date: 1,
      chat: { id: -1_001, type: 'channel' },
      sender_chat: { id: -1_001 },
    }
    const pressed = (id: number) => ({ id: 'x', from: { id, is_bot: false }, data: 'yes', message: post })
    for (const [updateId, userId, result] of [
      [41, 5, 'prompted'],
      [42, 6, 'dropped'],
    ] as const)
      expect(await told(at.post('closed', { update_id: updateId, callback_query: pressed(userId) }))).toEqual(
        [200, result],
      )
  })

  test('nobody is told to log in by what Telegram or a bot wrote into a chat, at once or when the job runs', async () => {
    const [user, bot] = [
      { id: 9, is_bot: false },
      { id: 99, is_bot: true },
    ]
    const base = { message_id: 1, date: 1, chat: { id: -770, type: 'supergroup' } }
    const silent = [
      { from: user, new_chat_members: [user] },
      { from: user, pinned_message: { text: 'x' } },
      { from: { id: 777_000 }, sender_chat: { id: -1_005 }, is_automatic_forward: true, text: 'news' },
      { from: bot, text: 'I am a bot' },
    ]
    for (const slug of ['gated', 'gated-direct'])
      for (const [n, message] of silent.entries())
        expect(await told(at.post(slug, { update_id: 50 + n, message: { ...base, ...message } }))).toEqual([
          200,
          'dropped',
        ])
    const { mill, sessions } = at.gateway
    await mill?.pause('telegram.gated')
    await sessions.open(user.id, ['*'], 60_000)
    const joined = { update_id: 60, message: { ...base, ...silent[0] } }
    expect(await told(at.post('gated', joined))).toEqual([200, 'queued'])
    await sessions.close(user.id)
    await mill?.resume('telegram.gated')
    const id = (await mill?.holder('telegram 7002:60')) ?? ''
    await expect
      .poll(async () => (await mill?.get(id))?.result)
      .toEqual({ handled: 'no', because: 'the session is over' })
    const sends = await mill?.list({ queue: 'telegram.gated.send', payloadText: '-770' })
    expect(sends?.jobs).toEqual([])
  })

  test('E29 who was taken off the list while the job waited is noticed when it runs', async () => {
    const ran: string[] = []
    const closed = { handler: 'mine', async: true, requireAuth: false }
    const options = {
      store,
      database: freshDatabase(store),
      telegram: at.fake,
      handlers: { mine: ({ text }: { text: string }) => void ran.push(text) },
      ids: { closed: 7_004 },
    }
    const before = await scene({ ...options, bots: { closed: { ...closed, allowedUsers: [5, 6] } } })
    await before.gateway.mill?.pause('telegram.closed')
    const updates = [5, 6].map((userId) => anUpdate(`of ${userId}`, { userId }))
    for (const update of updates) expect(await told(before.post('closed', update))).toEqual([200, 'queued'])
    await before.stop()
    const after = await scene({ ...options, bots: { closed: { ...closed, allowedUsers: [6] } } })
    const { mill } = after.gateway
    await mill?.resume('telegram.closed')
    const id = (await mill?.holder(`telegram 7004:${updates[0]?.update_id}`)) ?? ''
    await expect
      .poll(async () => (await mill?.get(id))?.result)
      .toEqual({ handled: 'no', because: 'the sender is not on the list any more' })
    await expect.poll(() => ran).toEqual(['of 6'])
    await after.stop()
  })

  test('F an object that nobody knows does not hide the message', async () => {
    const { update_id, message } = anUpdate('hidden?')
    const update = { update_id, invented: { from: { id: 1 } }, message }
    expect(await told(at.post('direct', update))).toEqual([200, 'handled'])
  })

  test('E9 what no database can keep is not asked for again', async () => {
    const [durable, direct, replying] = [at.chat('durable'), at.chat('direct'), at.chat('durable')]
    const update = anUpdate('\u0000', { userId: durable.id })
    expect(await told(at.post('durable', update))).toEqual([200, 'dead'])
    expect(await told(at.post('durable', update))).toEqual([200, 'duplicate'])
    // Nor can what is answered be kept.
    expect(await told(at.post('direct', anUpdate('NUL', { userId: direct.id })))).toEqual([200, 'dead'])
    const { update_id: id, ...said } = anUpdate('NUL', { userId: replying.id })
    expect(await told(at.post('durable', { update_id: id, ...said }))).toEqual([200, 'queued'])
    for (const chat of [durable, direct, replying]) {
      await chat.until((all) => all.some(({ by }) => by === 'bot'))
      expect(saidBy(chat)).toEqual([expect.stringContaining('stopped trying')])
    }
    const job = await at.gateway.mill?.get((await at.gateway.mill.holder(`telegram 7000:${id}`)) ?? '')
    expect(job).toMatchObject({ state: 'dead', attempt: 1 })
  })

  test("E1 a synchronous update that takes longer than a lease is nobody else's meanwhile", async () => {
    const gate = Promise.withResolvers<void>()
    let begun = 0
    const slow: Handler = async ({ reply }) => {
      begun += 1
      await gate.promise
      reply('slowly')
    }
    const options = {
      store,
      telegram: at.fake,
      handlers: { slow },
      bots: { direct: { handler: 'slow', requireAuth: false } },
      ids: { direct: 7_001 },
      leaseMs: 3_000,
    }
    const one = await scene({ ...options, database: at.database })
    const two = await scene({ ...options, database: at.database })
    const update = anUpdate('slow')
    const first = told(one.post('direct', update))
    await expect.poll(() => begun).toBe(1)
    const { tables } = await openTables<Schema>(at.database, { app: 'telegram', steps: [] })
    const until = async () =>
      (
        await tables.db
          .selectFrom('telegram_update')
          .select('until')
          .where('update_id', '=', update.update_id)
          .executeTakeFirst()
      )?.until ?? 0
    // As if the first lease were over: it has been renewed by then.
    await tables.db
      .updateTable('telegram_update')
      .set({ until: 1 })
      .where('update_id', '=', update.update_id)
      .execute()
    await expect.poll(until).toBeGreaterThan(1)
    expect(await told(two.post('direct', update))).toEqual([503, 'busy'])
    await tables.close()
    gate.resolve()
    expect(await first).toEqual([200, 'handled'])
    expect(await told(two.post('direct', update))).toEqual([200, 'duplicate'])
    expect(begun).toBe(1)
    await one.stop()
    await two.stop()
    await at.gateway.bots
      .find(({ slug }) => slug === 'direct')
      ?.api.setWebhook(`${at.gateway.url}/telegram/direct`, { secret_token: SECRET })
  })

  test('A5 it is alive, and ready', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect(await (await fetch(`${at.gateway.url}${path}`)).json()).toEqual({ ok: true })
  })

  test('every answer is counted', async () => {
    const text = (await at.gateway.mill?.prometheus()) ?? ''
    expect(text).toMatch(/jobmill_telegram_updates_total\{bot="durable",result="queued"\} [1-9]/)
    expect(text).toMatch(/jobmill_telegram_updates_total\{bot="direct",result="duplicate"\} [1-9]/)
    expect(text).toMatch(/jobmill_telegram_refused_total\{reason="secret"\} [1-9]/)
    expect(text).toMatch(
      /jobmill_telegram_sends_total\{bot="direct",method="sendMessage",result="sent"\} [1-9]/,
    )
    expect(text).toMatch(/jobmill_telegram_webhook_seconds_count \d+/)
  })
})

describe('sources of webhooks', () => {
  const bots = { direct: { handler: 'echo', requireAuth: false } }
  const from = async (yaml: Record<string, unknown>, headers: Record<string, string> = {}) => {
    const at = await scene({ store: 'none', bots, yaml })
    try {
      return await told(at.post('direct', anUpdate('x'), { headers }))
    } finally {
      await at.stop()
    }
  }

  test('E31 updates come from the networks that are named, by the connection or by what the proxy says last', async () => {
    expect(await from({ sources: ['127.0.0.0/8', '::1'] })).toEqual([200, 'handled'])
    expect(await from({ sources: 'telegram' })).toEqual([403, undefined])
    const proxied = { sources: 'telegram', sourceHeader: 'X-Forwarded-For' }
    expect(await from(proxied, { 'x-forwarded-for': '10.0.0.1, 149.154.167.220' })).toEqual([200, 'handled'])
    expect(await from(proxied, { 'x-forwarded-for': '149.154.167.220, 10.0.0.1' })).toEqual([403, undefined])
    expect(await from(proxied, { 'x-forwarded-for': 'nonsense' })).toEqual([403, undefined])
    expect(await from(proxied)).toEqual([403, undefined])
  })
})

test('S wrong secrets are rate-limited by address, and the right one is never held back', async () => {
  const at = await scene({
    store: 'none',
    bots: { direct: { handler: 'echo', requireAuth: false } },
    // No time passes, so nothing is given back.
    platform: { ...systemPlatform, monotonic: () => 0 },
  })
  const wrong: number[] = []
  for (let n = 0; n < 42; n += 1)
    wrong.push((await at.post('direct', anUpdate('x'), { secret: `guess ${n}` })).status)
  expect(wrong).toEqual([...Array<number>(40).fill(401), 429, 429])
  const late = await at.post('direct', anUpdate('x'), { secret: 'guess' })
  expect(late.headers.get('retry-after')).toBe('1')
  expect((await at.post('direct', anUpdate('x'))).status).toBe(200)
  await at.stop()
})

test('S headers that never end are cut off soon after their time', { timeout: 20_000 }, async () => {
  const door = await listen({ host: '127.0.0.1', port: 0 }, async () => {}, 100)
  const socket = createConnection(Number(new URL(door.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('POST /telegram/x HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
  await once(socket.resume(), 'close')
  expect(socket.closed).toBe(true)
  await door.close()
})
