/** The webhook endpoint: access, responses and repeats. On both stores, over a socket. */
import { once } from 'node:events'
import { request } from 'node:http'
import { createConnection } from 'node:net'
import { Snooze } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { listen } from '../src/intake/listen.ts'
import { START_MS } from '../src/intake/until-ended.ts'
import type { Handler } from '../src/index.ts'
import { anUpdate, freshDatabase, saidBy, scene, type Scene, SECRET, STORES } from './support/scene.ts'

const OLD_SECRET = 'the-secret-of-before-the-rotation'

/** The status and the reported result. */
async function resultOf(answer: Promise<Response>) {
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

  test('E31 during a rotation both secrets are accepted', async () => {
    expect((await at.post('durable', anUpdate('old'), { secret: OLD_SECRET })).status).toBe(200)
    expect((await at.post('durable', anUpdate('new'), { secret: SECRET })).status).toBe(200)
    expect((await at.post('direct', anUpdate('x'), { secret: OLD_SECRET })).status).toBe(401)
  })

  test('A5 400 for invalid JSON and for anything but an update; F unknown fields are accepted', async () => {
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
    expect(await resultOf(at.post('durable', { update_id: 12, from_the_future: [{}] }))).toEqual([
      200,
      'queued',
    ])
  })

  test('E31 413 for a body that is too long, even without a Content-Length', async () => {
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

  test('E15 E21 a repeat is recognized and runs nothing, on both paths', async () => {
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
      expect(await resultOf(at.post(slug, update))).toEqual([200, first])
      expect(await resultOf(at.post(slug, update))).toEqual([200, 'duplicate'])
      await chat.until((all) => all.some(({ text }) => text === `twice ${slug}!`))
      expect(ran.filter((text) => text.endsWith(` ${slug}`))).toEqual([`once ${slug}`, `twice ${slug}`])
      expect(saidBy(chat)).toEqual([`once ${slug}!`, `twice ${slug}!`])
    }
  })

  test('E21 two deliveries of one update at once run once', async () => {
    const update = anUpdate('at once')
    const answers = await Promise.all(Array.from({ length: 5 }, () => resultOf(at.post('direct', update))))
    expect(answers.filter(([, result]) => result === 'handled')).toHaveLength(1)
    for (const [status, result] of answers)
      expect([
        [200, 'handled'],
        [200, 'duplicate'],
      ]).toContainEqual([status, result])
    expect(ran.filter((text) => text === 'at once')).toHaveLength(1)
  })

  test('A5 updates of users who are not on the allow list are dropped silently', async () => {
    const chat = at.chat('closed')
    const { updateId } = chat.says('hello?')
    await at.fake.until(() =>
      at.fake.deliveries.some((one) => one.updateId === updateId && one.status === 200),
    )
    expect(await resultOf(at.post('closed', anUpdate('hello', { userId: chat.id })))).toEqual([
      200,
      'dropped',
    ])
    expect(await resultOf(at.post('closed', { update_id: 4, channel_post: { chat: { id: -5 } } }))).toEqual([
      200,
      'dropped',
    ])
    expect(saidBy(chat)).toEqual([])
  })

  test.each(['gated', 'gated-direct'])(
    'A5 a user without a session gets a login prompt, once per update (%s)',
    async (slug) => {
      const chat = at.chat(slug)
      const update = anUpdate('let me', { userId: chat.id })
      expect(await resultOf(at.post(slug, update))).toEqual([200, 'prompted'])
      expect(await resultOf(at.post(slug, update))).toEqual([200, 'duplicate'])
      await chat.until((all) => all.some(({ by }) => by === 'bot'))
      expect(saidBy(chat)).toEqual(['Please log in first with @door_bot: send /auth and your code.'])
    },
  )

  test('A5 a synchronous update that fails is stored and retried, and its repeats are duplicates; after the last attempt the user is notified', async () => {
    const chat = at.chat('direct')
    const update = anUpdate('fail', { userId: chat.id })
    expect(await resultOf(at.post('direct', update))).toEqual([200, 'queued'])
    const { mill } = at.gateway
    const id = (await mill.holder(`telegram 7001:${update.update_id}`)) ?? ''
    for (const attempt of [1, 2]) {
      await expect.poll(() => mill.get(id)).toMatchObject({ state: 'scheduled', attempt })
      expect(await resultOf(at.post('direct', update))).toEqual([200, 'duplicate'])
      await mill.runNow(id)
    }
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect(await resultOf(at.post('direct', update))).toEqual([200, 'duplicate'])
    expect(saidBy(chat)).toEqual([expect.stringContaining('something went wrong')])
    expect(ran.filter((text) => text === 'fail')).toHaveLength(3)
  })

  test('A5 a synchronous update that waits is stored, and the next of its chat stays behind it', async () => {
    const chat = at.chat('direct')
    const [first, next] = ['tomorrow', 'behind'].map((text) => anUpdate(text, { userId: chat.id }))
    expect(await resultOf(at.post('direct', first))).toEqual([200, 'queued'])
    const behind = resultOf(at.post('direct', next))
    const { mill } = at.gateway
    const idOf = (update?: { update_id: number }) => mill.holder(`telegram 7001:${update?.update_id}`)
    await expect.poll(() => idOf(next)).not.toBeNull()
    expect(ran).not.toContain('behind')
    await mill.cancel((await idOf(first)) ?? '')
    expect((await behind)[0]).toBe(200)
    await chat.until((all) => all.some(({ text }) => text === 'behind!'))
  })

  test('A5 the response waits for a running handler, but not for a job that has not started', async () => {
    const waits: (() => void)[] = []
    const gate = Promise.withResolvers<void>()
    const started: string[] = []
    const own = await scene({
      store,
      bots: { direct: { handler: 'gated', requireAuth: false } },
      handlers: {
        async gated({ text }) {
          started.push(text)
          await gate.promise
        },
      },
      platform: {
        ...systemPlatform,
        timer(ms, task, options) {
          if (ms === START_MS) waits.push(task)
          return systemPlatform.timer(ms, task, options)
        },
      },
    })
    onTestFinished(() => own.stop())
    /** Posts an update, and ends the wait for its start once `isReady`. */
    async function post(text: string, isReady: () => unknown) {
      waits.length = 0
      const answer = resultOf(own.post('direct', anUpdate(text, { userId: 78 })))
      await expect.poll(() => waits.length > 0 && isReady()).toBe(true)
      for (const end of waits) end()
      return { answer }
    }
    const running = await post('running', () => started.includes('running'))
    const behind = await post('behind', () => true)
    expect(await behind.answer).toEqual([200, 'queued'])
    expect(started).toEqual(['running'])
    gate.resolve()
    expect(await running.answer).toEqual([200, 'handled'])
    await expect.poll(() => started).toEqual(['running', 'behind'])
  })

  test('A5 a long prompt is split into several messages, sent once', async () => {
    const chat = at.chat('wordy')
    const update = anUpdate('let me', { userId: chat.id })
    expect(await resultOf(at.post('wordy', update))).toEqual([200, 'prompted'])
    expect(await resultOf(at.post('wordy', update))).toEqual([200, 'duplicate'])
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(chat)).toEqual(['a'.repeat(4_096), 'b'.repeat(904)])
  })

  test('A10 a failed service message causes no notice', async () => {
    const chat = at.fake.chat({ bot: at.tokenOf('once'), id: -771, type: 'supergroup' })
    const base = { message_id: 1, date: 1, chat: { id: -771, type: 'supergroup' }, from: { id: 9 } }
    const joined = { new_chat_members: [{ id: 9 }], text: undefined }
    for (const message of [joined, { text: 'fail' }]) {
      const update = { update_id: message === joined ? 71 : 72, message: { ...base, ...message } }
      expect(await resultOf(at.post('once', update))).toEqual([200, 'queued'])
    }
    await at.post('once', { update_id: 73, message: { ...base, text: 'goes on' } })
    await chat.until((all) => all.some(({ text }) => text === 'goes on!'))
    expect(saidBy(chat)).toEqual([expect.stringContaining('something went wrong'), 'goes on!'])
    const dead = (await at.gateway.mill.list({ state: 'dead', queue: 'telegram.once' })).jobs
    expect(dead).toHaveLength(2)
  })

  test('E14 a new bot under an old slug does not collide with the old one', async () => {
    const update = anUpdate('same number')
    expect(await resultOf(at.post('durable', update))).toEqual([200, 'queued'])
    at.fake.addBot({ token: '9999:abcdefghijklmnop', username: 'another_bot' })
    const second = await scene({
      store,
      database: at.database,
      telegram: at.fake,
      handlers: { counting },
      bots: { durable: { handler: 'counting', async: true, requireAuth: false } },
      ids: { durable: 9_999 },
    })
    expect(await resultOf(second.post('durable', update))).toEqual([200, 'queued'])
    expect(await resultOf(second.post('durable', update))).toEqual([200, 'duplicate'])
    await second.stop()
  })

  test('E21 an update that got a login prompt is not handled after the login', async () => {
    const chat = at.chat('gated-direct')
    const update = anUpdate('too early', { userId: chat.id })
    expect(await resultOf(at.post('gated-direct', update))).toEqual([200, 'prompted'])
    await at.gateway.sessions.open(chat.id, ['*'], 60_000)
    expect(await resultOf(at.post('gated-direct', update))).toEqual([200, 'duplicate'])
    const next = anUpdate('in time', { userId: chat.id })
    expect(await resultOf(at.post('gated-direct', next))).toEqual([200, 'handled'])
    await at.gateway.sessions.close(chat.id)
    expect(await resultOf(at.post('gated-direct', next))).toEqual([200, 'duplicate'])
  })

  test('E28 shared accounts have no user: they get no session and use no session of another user', async () => {
    const update = anUpdate('hello', { userId: 1_087_968_824 })
    await at.gateway.sessions.open(1_087_968_824, ['*'], 60_000)
    const anonymous = {
      ...update.message,
      from: { ...update.message.from, is_bot: true },
      sender_chat: { id: -5 },
    }
    expect(await resultOf(at.post('gated', { ...update, message: anonymous }))).toEqual([200, 'prompted'])
  })

  test('a membership change is not answered', async () => {
    const event = { chat: { id: 5 }, from: { id: 5 }, date: 1, new_chat_member: { status: 'kicked' } }
    expect(await resultOf(at.post('gated', { update_id: 31, my_chat_member: event }))).toEqual([
      200,
      'dropped',
    ])
  })

  test('the user of a button press is the one who pressed it', async () => {
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
      expect(
        await resultOf(at.post('closed', { update_id: updateId, callback_query: pressed(userId) })),
      ).toEqual([200, result])
  })

  test('service messages and bots get no login prompt, on receipt or when the job runs', async () => {
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
        expect(
          await resultOf(at.post(slug, { update_id: 50 + n, message: { ...base, ...message } })),
        ).toEqual([200, 'dropped'])
    const { mill, sessions } = at.gateway
    await mill.pause('telegram.gated')
    await sessions.open(user.id, ['*'], 60_000)
    const joined = { update_id: 60, message: { ...base, ...silent[0] } }
    expect(await resultOf(at.post('gated', joined))).toEqual([200, 'queued'])
    await sessions.close(user.id)
    await mill.resume('telegram.gated')
    const id = (await mill.holder('telegram 7002:60')) ?? ''
    await expect
      .poll(async () => (await mill.get(id))?.result)
      .toEqual({ handled: 'no', because: 'the sender is no longer logged in' })
    const sends = await mill.list({ queue: 'telegram.gated.send', payloadText: '-770' })
    expect(sends.jobs).toEqual([])
  })

  test('E29 a user removed from the allow list while the job was queued is detected when it runs', async () => {
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
    await before.gateway.mill.pause('telegram.closed')
    const updates = [5, 6].map((userId) => anUpdate(`of ${userId}`, { userId }))
    for (const update of updates)
      expect(await resultOf(before.post('closed', update))).toEqual([200, 'queued'])
    await before.stop()
    const after = await scene({ ...options, bots: { closed: { ...closed, allowedUsers: [6] } } })
    const { mill } = after.gateway
    await mill.resume('telegram.closed')
    const id = (await mill.holder(`telegram 7004:${updates[0]?.update_id}`)) ?? ''
    await expect
      .poll(async () => (await mill.get(id))?.result)
      .toEqual({ handled: 'no', because: 'the sender is no longer on the allow list' })
    await expect.poll(() => ran).toEqual(['of 6'])
    await after.stop()
  })

  test('F an unknown object does not hide the message', async () => {
    const { update_id, message } = anUpdate('hidden?')
    const update = { update_id, invented: { from: { id: 1 } }, message }
    expect(await resultOf(at.post('direct', update))).toEqual([200, 'handled'])
  })

  test('E9 an update that the database cannot store is not retried', async () => {
    const [durable, direct, replying] = [at.chat('durable'), at.chat('direct'), at.chat('durable')]
    const update = anUpdate('\u0000', { userId: durable.id })
    expect(await resultOf(at.post('durable', update))).toEqual([200, 'dead'])
    expect(await resultOf(at.post('durable', update))).toEqual([200, 'duplicate'])
    // Its answer cannot be stored either.
    expect(await resultOf(at.post('direct', anUpdate('NUL', { userId: direct.id })))).toEqual([200, 'dead'])
    const { update_id: id, ...fields } = anUpdate('NUL', { userId: replying.id })
    expect(await resultOf(at.post('durable', { update_id: id, ...fields }))).toEqual([200, 'queued'])
    for (const chat of [durable, direct, replying]) {
      await chat.until((all) => all.some(({ by }) => by === 'bot'))
      expect(saidBy(chat)).toEqual([expect.stringContaining('something went wrong')])
    }
    const job = await at.gateway.mill.get((await at.gateway.mill.holder(`telegram 7000:${id}`)) ?? '')
    expect(job).toMatchObject({ state: 'dead', attempt: 1 })
  })

  test('E1 E21 a synchronous update that is delivered to two processes runs in one', async () => {
    const gate = Promise.withResolvers<void>()
    let starts = 0
    const slow: Handler = async ({ reply }) => {
      starts += 1
      await gate.promise
      reply('slowly')
    }
    const options = {
      store,
      telegram: at.fake,
      handlers: { slow },
      bots: { direct: { handler: 'slow', requireAuth: false } },
      ids: { direct: 7_001 },
    }
    const one = await scene({ ...options, database: at.database })
    const two = await scene({ ...options, database: at.database })
    const update = anUpdate('slow')
    const first = resultOf(one.post('direct', update))
    await expect.poll(() => starts).toBe(1)
    expect(await resultOf(two.post('direct', update))).toEqual([200, 'duplicate'])
    gate.resolve()
    expect(await first).toEqual([200, 'handled'])
    expect(starts).toBe(1)
    await one.stop()
    await two.stop()
    await at.gateway.bots
      .find(({ slug }) => slug === 'direct')
      ?.api.setWebhook(`${at.gateway.url}/telegram/direct`, { secret_token: SECRET })
  })

  test('A5 health and readiness', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect(await (await fetch(`${at.gateway.url}${path}`)).json()).toEqual({ ok: true })
  })

  test('every answer is counted', async () => {
    const text = await at.gateway.mill.prometheus()
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
      return await resultOf(at.post('direct', anUpdate('x'), { headers }))
    } finally {
      await at.stop()
    }
  }

  test('S low the secret is read after many other headers, and 1,000 headers are refused', async () => {
    const at = await scene({ store: 'none', bots })
    onTestFinished(() => at.stop())
    const { hostname, port } = new URL(at.gateway.url)
    const body = JSON.stringify(anUpdate('behind'))
    const answerWith = async (headers: number): Promise<string> => {
      const socket = createConnection(Number(port), hostname)
      socket.write(
        [
          'POST /telegram/direct HTTP/1.1',
          `Host: ${hostname}:${port}`,
          'Connection: close',
          'Content-Type: application/json',
          `Content-Length: ${Buffer.byteLength(body)}`,
          ...Array.from({ length: headers - 5 }, () => 'te:'),
          `X-Telegram-Bot-Api-Secret-Token: ${SECRET}`,
          '',
          body,
        ].join('\r\n'),
      )
      let answer = ''
      for await (const chunk of socket) answer += String(chunk)
      return answer
    }
    expect(await answerWith(999)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await answerWith(2_100)).toMatch(/^HTTP\/1\.1 431 /)
  })

  test('E31 updates are accepted only from the configured networks, by connection or by the last address from the proxy', async () => {
    expect(await from({ sources: ['127.0.0.0/8', '::1'] })).toEqual([200, 'handled'])
    expect(await from({ sources: 'telegram' })).toEqual([403, undefined])
    const proxied = { sources: 'telegram', sourceHeader: 'X-Forwarded-For' }
    expect(await from(proxied, { 'x-forwarded-for': '10.0.0.1, 149.154.167.220' })).toEqual([200, 'handled'])
    expect(await from(proxied, { 'x-forwarded-for': '149.154.167.220, 10.0.0.1' })).toEqual([403, undefined])
    expect(await from(proxied, { 'x-forwarded-for': 'nonsense' })).toEqual([403, undefined])
    expect(await from(proxied)).toEqual([403, undefined])
  })
})

test('S low the bodies in progress are limited together, and a body that ends makes room', async () => {
  const at = await scene({ store: 'none', bots: { direct: { handler: 'echo', requireAuth: false } } })
  onTestFinished(() => at.stop())
  const { hostname, port } = new URL(at.gateway.url)
  const sockets = Array.from({ length: 64 }, () => {
    const socket = createConnection(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    const lines = [
      'POST /telegram/direct HTTP/1.1',
      `Host: ${hostname}`,
      `Content-Length: ${1_024 ** 2}`,
      `X-Telegram-Bot-Api-Secret-Token: ${SECRET}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    return socket
  })
  let last: Response | null = null
  const post = async (): Promise<number> => {
    last = await at.post('direct', anUpdate('x'))
    return last.status
  }
  await expect.poll(post).toBe(503)
  expect((last as Response | null)?.headers.get('retry-after')).toBe('5')
  expect(await (last as Response | null)?.json()).toMatchObject({ problem: 'too many bodies in progress' })
  sockets[0]?.destroy()
  await expect.poll(post).toBe(200)
})

const with20k = (part: string): object => ({
  ...anUpdate('x'),
  extra: JSON.parse(`[${part.repeat(10_000)}0]`) as unknown,
})

test('S1 a body with too many values gets 413 before it is parsed', async () => {
  const at = await scene({ store: 'none', bots: { direct: { handler: 'echo', requireAuth: false } } })
  onTestFinished(() => at.stop())
  const refused = await at.post('direct', with20k('[],'))
  expect(refused.status).toBe(413)
  expect(await refused.json()).toEqual({
    ok: false,
    problem: 'body has too many values (max 20000 list items, keys and values)',
  })
  expect((await at.post('direct', with20k('0,'))).status).toBe(200)
  expect((await at.post('direct', { ...anUpdate('x'), extra: '[,'.repeat(20_000) })).status).toBe(200)
})

test('S1 a client that aborts a body causes no log line, and is counted', async () => {
  const lines: unknown[] = []
  const hear = (...line: unknown[]): void => void lines.push(line)
  const at = await scene({
    store: 'none',
    bots: { direct: { handler: 'echo', requireAuth: false } },
    log: { debug() {}, info() {}, warn: hear, error: hear },
  })
  onTestFinished(() => at.stop())
  const { hostname, port } = new URL(at.gateway.url)
  const socket = createConnection(Number(port), hostname)
  const request = ['POST /telegram/direct HTTP/1.1', 'Host: x', `X-Telegram-Bot-Api-Secret-Token: ${SECRET}`]
  socket.write(`${request.join('\r\n')}\r\nContent-Length: 100\r\n\r\n{"upd`)
  // The gateway reads connections in order, so it has read what was written before.
  await fetch(`${at.gateway.url}/healthz`)
  socket.destroy()
  await expect
    .poll(() => at.gateway.mill.prometheus())
    .toMatch(/jobmill_telegram_refused_total\{reason="aborted"\} 1/)
  expect(lines).toEqual([])
})

test('S wrong secrets are rate-limited by address, and the right one never is', async () => {
  const at = await scene({
    store: 'none',
    bots: { direct: { handler: 'echo', requireAuth: false } },
    // The clock does not move, so no permit is returned.
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

test('S endless headers are cut off soon after their deadline', { timeout: 20_000 }, async () => {
  const door = await listen({ host: '127.0.0.1', port: 0 }, async () => {}, 100)
  const socket = createConnection(Number(new URL(door.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('POST /telegram/x HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
  await once(socket.resume(), 'close')
  expect(socket.closed).toBe(true)
  await door.close(Promise.resolve())
})

test('S1 the requests of a connection are answered one after the other', async () => {
  const ends: (() => void)[] = []
  const door = await listen({ host: '127.0.0.1', port: 0 }, async (_, response) => {
    ends.push(() => void response.end())
  })
  const socket = createConnection(Number(new URL(door.url).port), '127.0.0.1')
  socket.resume().write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(3))
  for (const n of [1, 2, 3]) {
    await expect.poll(() => ends.length).toBe(n)
    ends.at(-1)?.()
  }
  const closed = once(socket, 'close')
  await door.close(Promise.resolve())
  await closed
})
