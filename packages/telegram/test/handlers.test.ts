/** The handlers, synchronous and as jobs. On both stores. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { defineJob, jobmill, type JobContext } from 'jobmill'
import { openTables } from 'jobmill-tables'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { DEAD_AT_ONCE } from '../src/handlers/http.ts'
import { reply, type TelegramUpdate } from '../src/index.ts'
import { anUpdate, saidBy, scene, type Scene, service, type Service, STORES } from './support/scene.ts'

/** An HTTP date, which has no fractions of a second. */
const inASecond = () => new Date(Date.now() + 1_500).toUTCString()

const QUICK = { attempts: 2, backoff: ['0s'], jitterPercent: 0 }

test('A reply names what is wrong with its arguments', async () => {
  const bot = { slug: 'a', id: 1 }
  const cases: [unknown, string][] = [
    [undefined, 'to'],
    [{ bot: 'a', chatId: 1, text: 'x' }, 'to.bot'],
    [{ bot, chatID: 1, text: 'x' }, 'to.chatID'],
    [{ bot, text: 'x' }, 'to.chatId'],
    [{ bot, chatId: 1, text: 5 }, 'to.text'],
  ]
  for (const [to, field] of cases)
    await expect(reply(async () => {}, to as never, {})).rejects.toMatchObject({
      name: 'JobmillError',
      field,
    })
})

describe.each(STORES)('handlers on %s', (store) => {
  const test = inTurns(store, STORES)
  let at: Scene
  let upstream: Service
  beforeAll(async () => {
    upstream = await service()
    const http = { url: `${upstream.url}?key=in-the-query` }
    const hasty = { ...http, timeout: '500ms' }
    at = await scene({
      store,
      bots: {
        echo: { handler: 'echo', requireAuth: false },
        'echo-durable': { handler: 'echo', async: true, requireAuth: false },
        http: { handler: 'http', http, requireAuth: false, retry: QUICK },
        'http-durable': { handler: 'http', http, async: true, requireAuth: false, retry: QUICK },
        'http-hasty': { handler: 'http', http: hasty, async: true, requireAuth: false, retry: QUICK },
        slow: {
          handler: 'command',
          async: true,
          requireAuth: false,
          retry: QUICK,
          command: { run: ['/bin/sh', '-c', 'cat >/dev/null; echo "done: $0"; exit 0', 'it'] },
        },
        broken: {
          handler: 'command',
          async: true,
          requireAuth: false,
          retry: QUICK,
          command: { run: ['/bin/sh', '-c', 'echo nope >&2; exit 3'] },
        },
        mine: { handler: 'job', requireAuth: false, job: { kind: 'my.kind', queue: 'my-queue' } },
        'mine-durable': {
          handler: 'job',
          async: true,
          requireAuth: false,
          job: { kind: 'my.kind', queue: 'my-queue' },
        },
      },
    })
  })
  afterAll(async () => {
    await at.stop()
    await upstream.close()
  })

  const answers = async (slug: string, text: string, count = 1) => {
    const chat = at.chat(slug)
    chat.says(text)
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length >= count)
    return saidBy(chat)
  }

  test.each(['echo', 'echo-durable'])(
    'A7 %s sends the text back, in pieces when it is long',
    async (slug) => {
      expect(await answers(slug, 'hello')).toEqual(['hello'])
      const long = `${'a'.repeat(4_095)}🙂${'b'.repeat(10)}`
      expect(await answers(slug, long, 2)).toEqual(['a'.repeat(4_095), `🙂${'b'.repeat(10)}`])
    },
  )

  test.each(['http', 'http-durable'])(
    'A7 %s forwards oversized numbers verbatim, and everything else as parsed',
    async (slug) => {
      upstream.answers = [() => ({})]
      const update = JSON.stringify(anUpdate('x'))
      const big = JSON.stringify(anUpdate('x')).replace('"deep":[1', '"deep" : [12345678901234567890')
      for (const raw of [update, big]) {
        await at.post(slug, null, { raw })
        await expect.poll(() => upstream.requests.at(-1)?.body).toBe(raw)
      }
      await at.post('mine', null, { raw: big })
      const { jobs } = await at.gateway.mill.list({ kind: 'my.kind' }, { limit: 1 })
      const job = await at.gateway.mill.get(jobs[0]?.id ?? '')
      expect(job?.payload).toMatchObject({ text: big })
      await at.gateway.mill.delete(jobs[0]?.id ?? '')
    },
  )

  test('A7 an update without a text is answered with nothing', async () => {
    const update = { update_id: 5, message: { chat: { id: 5 }, from: { id: 5 }, message_id: 1, photo: [] } }
    expect(await (await at.post('echo', update)).json()).toEqual({ ok: true, result: 'handled' })
  })

  test.each(['http', 'http-durable'])(
    'A7 %s forwards the update as it came, signed, and sends back the text',
    async (slug) => {
      upstream.answers = [() => ({ body: '{"text":"from upstream"}' })]
      upstream.requests.splice(0)
      const chat = at.chat(slug)
      const update = anUpdate('hi', { userId: chat.id })
      expect((await at.post(slug, update)).status).toBe(200)
      await chat.until((all) => all.some(({ text }) => text === 'from upstream'))
      const [request] = upstream.requests
      expect(JSON.parse(request?.body ?? '')).toEqual(update)
      expect(request?.headers).toMatchObject({
        'x-jobmill-bot': slug,
        'x-jobmill-attempt': '1',
        'idempotency-key': expect.stringMatching(
          new RegExp(`^telegram:\\d+:${update.update_id}$`),
        ) as unknown,
      })
      const [, t, v1] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(request?.headers['x-jobmill-signature'])) ?? []
      const expected = createHmac('sha256', 'signs-what-is-sent')
        .update(`${t}.${request?.body}`)
        .digest('hex')
      expect(v1).toBe(expected)
    },
  )

  test.each([
    ['an empty body', ''],
    ['an empty text', '{"text":""}'],
    ['no text', '{}'],
  ])('A7 %s means no reply', async (_what, body) => {
    upstream.answers = [() => ({ body })]
    const chat = at.chat('http')
    expect(await (await at.post('http', anUpdate('hi', { userId: chat.id }))).json()).toMatchObject({
      result: 'handled',
    })
    expect(saidBy(chat)).toEqual([])
  })

  test('several replies, and any method', async () => {
    const chat = at.chat('http')
    const replies = [{ text: 'one' }, { method: 'sendMessage', payload: { chat_id: chat.id, text: 'two' } }]
    upstream.answers = [() => ({ body: JSON.stringify({ replies }) })]
    chat.says('go')
    await chat.until((all) => all.length === 3)
    expect(saidBy(chat)).toEqual(['one', 'two'])
  })

  test.each([
    ['a 500', () => ({ status: 500 })],
    ['a 404', () => ({ status: 404 })],
    ['a redirect', () => ({ status: 302, headers: { location: '/elsewhere' } })],
    ['no JSON', () => ({ body: '<html>' })],
  ])('A7 %s is an error: retried, then dead, and the user is notified', async (_what, answer) => {
    upstream.answers = [answer]
    upstream.requests.splice(0)
    expect(await answers('http-durable', 'x')).toEqual([expect.stringContaining('something went wrong')])
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests.map(({ headers }) => headers['x-jobmill-attempt'])).toEqual(['1', '2'])
  })

  test('A7 so is a service that does not answer in time', async () => {
    upstream.answers = [() => 'never']
    expect(await answers('http-hasty', 'x')).toEqual([expect.stringContaining('something went wrong')])
    const [dead] = (await at.gateway.mill.list({ state: 'dead', queue: 'telegram.http-hasty' })).jobs
    const history = await at.gateway.mill.history(dead?.id ?? '')
    expect(history.map(({ outcome }) => outcome)).toEqual(['failed', 'failed'])
    for (const { error } of history) {
      expect(error).toMatch(/time/i)
      // S6: error texts must not reveal the query of the URL, because it may hold a token.
      expect(error).not.toContain('in-the-query')
    }
  })

  test.each([
    ['refuses', 422],
    ['fails', 500],
    ['answers no JSON', 200],
  ])(
    'S6 the error of a service that repeats its URL and %s does not show the query',
    async (_what, status) => {
      upstream.answers = [() => ({ status, body: `POST /?key=in-the-query said ${status}` })]
      expect(await answers('http-durable', 'x')).toEqual([expect.stringContaining('something went wrong')])
      const { jobs } = await at.gateway.mill.list({ state: 'dead', queue: 'telegram.http-durable' })
      const histories = await Promise.all(jobs.map(({ id }) => at.gateway.mill.history(id)))
      const errors = histories.flat().map(({ error }) => error ?? '')
      expect(errors).toContainEqual(expect.stringContaining(`POST /?… said ${status}`))
      expect(errors.join()).not.toContain('in-the-query')
    },
  )

  test('E9 a permanent refusal of the service is not retried', async () => {
    upstream.answers = [() => ({ status: 422, body: 'no such thing' })]
    upstream.requests.splice(0)
    expect(await answers('http-durable', 'x')).toEqual([expect.stringContaining('something went wrong')])
    expect(upstream.requests).toHaveLength(1)
  })

  test('E9 a busy service is retried after its Retry-After, and no attempt is spent', async () => {
    let asked = 0
    upstream.answers = [
      () =>
        (asked += 1) <= 3
          ? { status: 429, headers: { 'retry-after': asked === 2 ? inASecond() : '1' } }
          : { body: '{"text":"now"}' },
    ]
    const chat = at.chat('http-durable')
    chat.says('x')
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(chat)).toEqual(['now'])
  })

  test('a command gets the update, and what it prints is sent back; one that fails is an error', async () => {
    expect(await answers('slow', 'x')).toEqual(['done: it'])
    expect(await answers('broken', 'x')).toEqual([expect.stringContaining('something went wrong')])
    const [dead] = (await at.gateway.mill.list({ state: 'dead', queue: 'telegram.broken' })).jobs
    expect((await at.gateway.mill.get(dead?.id ?? ''))?.error).toContain('nope')
  })

  test.each(['mine', 'mine-durable'])(
    'an update becomes a job of a kind of yours, served by any process (%s)',
    async (slug) => {
      const chat = at.chat(slug)
      const got: TelegramUpdate[] = []
      const mine = defineJob({
        kind: 'my.kind',
        queue: 'my-queue',
        async run({ payload, enqueue }: JobContext<TelegramUpdate>) {
          got.push(payload)
          await reply(
            enqueue,
            { bot: payload.bot, chatId: chat.id, text: 'mine says hello' },
            { withCompletion: true },
          )
        },
      })
      const { store: other, tables } = await openTables(at.database, { app: 'telegram', steps: [] })
      const mill = jobmill({ store: other, jobs: [mine], log: 'silent' })
      await mill.start()
      const update = anUpdate('to a job', { userId: chat.id })
      expect((await at.post(slug, update)).status).toBe(200)
      await chat.until((all) => all.some(({ by }) => by === 'bot'))
      expect(got).toEqual([{ bot: { slug, id: expect.any(Number) as unknown }, update }])
      expect(saidBy(chat)).toEqual(['mine says hello'])
      await mill.stop()
      await tables.close()
    },
  )

  test('the job keeps bot, handler and the raw update, unknown fields included', async () => {
    const update = anUpdate('kept')
    await at.post('echo-durable', update)
    const { jobs } = await at.gateway.mill.list({ queue: 'telegram.echo-durable' })
    const all = await Promise.all(jobs.map(async ({ id }) => at.gateway.mill.get(id)))
    expect(all.map((job) => job?.payload)).toContainEqual({
      botId: expect.any(Number) as unknown,
      slug: 'echo-durable',
      handler: 'echo',
      update,
    })
  })
})

test('A the README names every status that makes an update dead at once', () => {
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, statuses = ''] =
    /^\| ([\d, ]+) \| the update is dead immediately, without another attempt/m.exec(page) ?? []
  expect(statuses.split(', ').map(Number)).toEqual([...DEAD_AT_ONCE])
})
