/** The connection to Telegram: setting webhooks, polling, and running without a database. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { HttpError } from 'grammy'
import { Snooze } from 'jobmill'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { reasonOf } from '../src/bots/trouble.ts'
import type { FakeTelegram } from '../src/fake/types.ts'
import { type Gateway, readConfig, startGateway } from '../src/index.ts'
import { patientTelegram } from './support/patient-telegram.ts'
import {
  anUpdate,
  AUTH_SECRET,
  envOf,
  freshDatabase,
  saidBy,
  scene,
  type Scene,
  STORES,
} from './support/scene.ts'

const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

describe.each(STORES)('the webhook at Telegram on %s', (store) => {
  const test = inTurns(store, STORES)
  let fake: FakeTelegram
  let database: string
  const { BOT_ECHO_TOKEN: token = '' } = envOf(['echo'])
  beforeEach(async () => {
    fake = await patientTelegram()
    fake.addBot({ token, username: 'echo_bot' })
    database = freshDatabase(store)
  })
  afterEach(() => fake.close())

  async function boot(
    env: Record<string, string> = {},
    publicUrl = 'https://tg.example.org',
  ): Promise<Gateway> {
    const { config } = readConfig({
      yaml: JSON.stringify({
        publicUrl,
        apiRoot: fake.url,
        listen: '127.0.0.1:0',
        admin: false,
        bots: { echo: { handler: 'echo', requireAuth: false } },
      }),
      env: { ...envOf(['echo']), DATABASE_URL: database, ...env },
    })
    if (config === null) throw new Error('the config is wrong')
    const before = calls('getWebhookInfo')
    const gateway = await startGateway({ config, log: QUIET })
    await fake.until(() => calls('getWebhookInfo') > before)
    // Stopping awaits the calls in flight.
    await gateway.stop()
    return gateway
  }
  const calls = (method: string) => fake.calls.filter((call) => call.method === method).length

  test('C is set at boot with its secret, and again only if address or secret changed', async () => {
    await boot()
    expect(fake.calls.findLast(({ method }) => method === 'setWebhook')?.payload).toMatchObject({
      url: 'https://tg.example.org/telegram/echo',
      secret_token: envOf(['echo'])['BOT_ECHO_SECRET'],
    })
    expect(calls('setWebhook')).toBe(1)
    await boot()
    expect(calls('setWebhook')).toBe(1)
    await boot({ BOT_ECHO_SECRET: 'another-secret-that-is-long-enough' })
    expect(calls('setWebhook')).toBe(2)
    await boot({ BOT_ECHO_SECRET: 'another-secret-that-is-long-enough' }, 'https://tg2.example.org')
    expect(calls('setWebhook')).toBe(3)
  })

  test('C a 429 at the first contact is respected', async () => {
    fake.next('getMe', { error: 429, retryAfter: 2 })
    await boot()
    const [first, second] = fake.calls.filter(({ method }) => method === 'getMe').map(({ at }) => at)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(2_000)
  })
})

test('C trouble with Telegram is logged once without the token, shown in /readyz, and cleared when Telegram answers', async () => {
  const fake = await patientTelegram()
  onTestFinished(() => fake.close())
  const { BOT_ECHO_TOKEN: token = '' } = envOf(['echo'])
  fake.addBot({ token, username: 'echo_bot' })
  fake.next('getMe', { error: 401 }, { error: 401 })
  const yaml = {
    store: 'none',
    apiRoot: fake.url,
    listen: '127.0.0.1:0',
    admin: false,
    bots: { echo: { handler: 'echo', requireAuth: false } },
  }
  const { config } = readConfig({ yaml: JSON.stringify(yaml), env: envOf(['echo']) })
  if (config === null) throw new Error('the config is wrong')
  const lines: string[] = []
  const hear = (...line: unknown[]): void => void lines.push(JSON.stringify(line))
  const gateway = await startGateway({ config, log: { ...QUIET, info: hear, error: hear } })
  onTestFinished(() => gateway.stop())
  const ready = async () => (await fetch(`${gateway.url}/readyz`)).json()
  await expect.poll(ready).toEqual({ ok: true, degraded: [{ bot: 'echo', trouble: 'token' }] })
  await expect.poll(ready).toEqual({ ok: true })
  expect(fake.calls.filter(({ method }) => method === 'getMe')).toHaveLength(3)
  expect(lines.filter((line) => line.includes('rejected the token'))).toHaveLength(1)
  expect(lines.filter((line) => line.includes('bot is connected to Telegram again'))).toHaveLength(1)
  expect(lines.join('\n')).not.toContain(token)
  const beneath = Object.assign(new Error(`request to ${fake.url}/bot${token}/getMe failed`), {
    code: 'ECONNREFUSED',
  })
  expect(reasonOf(new HttpError('not reached', beneath))).toBe('HttpError: not reached (ECONNREFUSED)')
  expect(reasonOf(new HttpError('not reached', null))).toBe('HttpError: not reached')
})

describe.each([...STORES, 'none'] as const)('polling on %s', (store) => {
  const test = inTurns(store, [...STORES, 'none'])
  let at: Scene
  afterEach(() => at.stop())

  test('polled updates are handled in order and acknowledged once written; a repeat is logged', async () => {
    const lines: string[] = []
    at = await scene({
      store,
      log: { ...QUIET, info: (line) => void lines.push(line) },
      bots: { echo: { handler: 'echo', requireAuth: false, async: store !== 'none' } },
      yaml: { mode: 'polling' },
    })
    const chat = at.chat('echo')
    chat.says('one', { updateId: 900_000 })
    for (const text of ['two', 'three']) chat.says(text)
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 3)
    expect(saidBy(chat)).toEqual(['one', 'two', 'three'])
    // Acknowledge all of them: Telegram restarts its ids only when no update is left.
    await acknowledged(900_002)
    // Redelivered after Telegram's ids restarted.
    const { updateId } = chat.says('lower', { updateId: 5_000 })
    await acknowledged(updateId)
    chat.says('one', { updateId: 900_000 })
    await expect
      .poll(() => lines)
      .toContainEqual(expect.stringMatching(/duplicate update ignored.*update 900000/))
    expect(saidBy(chat).filter((text) => text === 'one')).toHaveLength(1)
  })

  const asked = () => at.fake.calls.filter(({ method }) => method === 'getUpdates')

  const acknowledged = (updateId: number) =>
    at.fake.until(() => asked().some(({ payload }) => payload['offset'] === updateId + 1))

  test('C E14 restarted lower ids are followed; polling pauses when there is nothing new, and after a 429', async () => {
    const isAsync = store !== 'none'
    at = await scene({
      store,
      bots: { echo: { handler: 'echo', requireAuth: false, async: isAsync } },
      yaml: { mode: 'polling' },
    })
    const chat = at.chat('echo')
    for (const [text, updateId] of [
      ['before', 900_000],
      ['after', 5_000],
    ] as const) {
      chat.says(text, { updateId })
      await chat.until((all) => all.some((entry) => entry.by === 'bot' && entry.text === text))
      await acknowledged(updateId)
    }
    expect(saidBy(chat)).toEqual(['before', 'after'])
    at.fake.next('getUpdates', { error: 429, retryAfter: 2 })
    // An update that Telegram repeats endlessly, because its id is out of sequence.
    chat.gives({ update_id: 2_000_000_000, poll: {} })
    const refused = () =>
      asked().findIndex(({ answer }) => typeof answer === 'object' && answer?.status === 429)
    await at.fake.until(() => refused() >= 0 && asked().length > refused() + 4)
    const times = asked()
      .slice(refused())
      .map(({ at: when }) => when)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1_990)
    // About a second between polls. Measure two gaps together, because one late poll shortens the next gap.
    const [, , from = 0, , to = 0] = times
    expect(to - from).toBeGreaterThanOrEqual(1_000)
  })

  test.runIf(inFull(store !== 'none', store === 'postgres'))(
    'more chats than one poll returns make progress while one fails and keeps its order',
    async () => {
      const done: string[] = []
      let isFixed = false
      at = await scene({
        store,
        handlers: {
          moody({ text }) {
            if (text === 'fails' && !isFixed) throw new Error('not now')
            done.push(text)
          },
        },
        bots: {
          moody: {
            handler: 'moody',
            requireAuth: false,
            retry: { attempts: 900, backoff: ['200ms'], jitterPercent: 0 },
          },
        },
        yaml: { mode: 'polling' },
      })
      const sad = at.chat('moody')
      sad.says('fails')
      sad.says('waits')
      for (let n = 1; n <= 120; n += 1) at.chat('moody').says(String(n))
      await expect.poll(() => done.length).toBe(120)
      expect(done).not.toContain('waits')
      isFixed = true
      await expect.poll(() => done.slice(120)).toEqual(['fails', 'waits'])
      sad.says('at once again')
      await expect.poll(() => done.slice(122)).toEqual(['at once again'])
    },
  )

  test('a chat with a failing update delays no other chat', async () => {
    at = await scene({
      store,
      handlers: {
        moody({ reply, text }) {
          if (text === 'fails') throw new Error('not now')
          reply(text)
        },
      },
      bots: { moody: { handler: 'moody', requireAuth: false } },
      yaml: { mode: 'polling' },
    })
    const [sad, glad] = [at.chat('moody'), at.chat('moody')]
    sad.says('fails')
    sad.says('waits')
    glad.says('one')
    glad.says('two')
    await glad.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    glad.says('three')
    await glad.until((all) => all.filter(({ by }) => by === 'bot').length === 3)
    expect([saidBy(sad), saidBy(glad)]).toEqual([[], ['one', 'two', 'three']])
  })

  test('an update that fails now is not skipped', async () => {
    let fails = 2
    at = await scene({
      store,
      handlers: {
        moody({ reply, text }) {
          if ((fails -= 1) >= 0) throw new Error('not yet')
          reply(text)
        },
      },
      bots: {
        moody: {
          handler: 'moody',
          requireAuth: false,
          retry: { attempts: 5, backoff: ['0s'], jitterPercent: 0 },
        },
      },
      yaml: { mode: 'polling' },
    })
    const chat = at.chat('moody')
    chat.says('first')
    chat.says('second')
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(chat)).toEqual(['first', 'second'])
  })
})

test('E26 silent connections do not delay a stop', async () => {
  const at = await scene({ store: 'none', bots: { echo: { handler: 'echo', requireAuth: false } } })
  const { port, hostname } = new URL(at.gateway.url)
  const [silent, half] = [connect(Number(port), hostname), connect(Number(port), hostname)]
  await Promise.all([once(silent, 'connect'), once(half, 'connect')])
  half.write('POST /telegram/echo HTTP/1.1\r\nHost: x\r\n')
  // With or without an error.
  const ended = Promise.all(
    [silent, half].map(
      (socket) => new Promise((resolve) => socket.on('error', () => {}).once('close', resolve)),
    ),
  )
  await at.stop()
  expect(await ended).toHaveLength(2)
})

describe('without a database', () => {
  let at: Scene
  const lines: string[] = []
  let failures = 0
  beforeAll(async () => {
    at = await scene({
      store: 'none',
      log: { ...QUIET, error: (line) => void lines.push(line) },
      handlers: {
        enqueues: ({ enqueue }) => enqueue('my.kind', {}),
        moody({ text, reply }) {
          if (text === 'tomorrow') throw new Snooze(86_400_000, 'not today')
          if ((failures -= 1) >= 0) throw new Error('not yet')
          reply(text)
        },
      },
      bots: {
        enqueues: { handler: 'enqueues', requireAuth: false },
        moody: {
          handler: 'moody',
          requireAuth: false,
          retry: { attempts: 2, backoff: ['7s'], jitterPercent: 0 },
        },
        echo: { handler: 'echo', requireAuth: false },
        gated: { handler: 'echo' },
        door: { handler: 'auth' },
      },
    })
  })
  afterAll(() => at.stop())

  test('A1 synchronous bots work, repeats are recognised, and expired rows are deleted', async () => {
    const chat = at.chat('echo')
    const update = anUpdate('hello', { userId: chat.id })
    expect(await (await at.post('echo', update)).json()).toEqual({ ok: true, result: 'handled' })
    expect(await (await at.post('echo', update)).json()).toEqual({ ok: true, result: 'duplicate' })
    expect(saidBy(chat)).toEqual(['hello'])
    expect((await at.gateway.mill.duties()).map(({ name }) => name)).toContain('telegram')
  })

  test('A5 an update whose reply is not sent yet stays with Telegram', async () => {
    const chat = at.chat('echo')
    at.fake.next('sendMessage', { error: 429, retryAfter: 1 })
    const update = anUpdate('patience', { userId: chat.id })
    await expect.poll(async () => (await at.post('echo', update)).status).toBe(200)
    expect(saidBy(chat)).toEqual(['patience'])
  })

  test('A5 an update that fails stays with Telegram until it is answered', async () => {
    const chat = at.chat('moody')
    failures = 1
    const update = anUpdate('again', { userId: chat.id })
    const answer = await at.post('moody', update)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '7'])
    await at.gateway.mill.runNow((await at.gateway.mill.holder(`telegram 7001:${update.update_id}`)) ?? '')
    expect(await (await at.post('moody', update)).json()).toEqual({ ok: true, result: 'duplicate' })
    expect(saidBy(chat)).toEqual(['again'])
  })

  test('A5 Retry-After never exceeds what Telegram respects', async () => {
    const { status, headers } = await at.post('moody', anUpdate('tomorrow'))
    expect([status, headers.get('retry-after')]).toEqual([503, '3600'])
  })

  test('a job that cannot be enqueued fails permanently with a clear error', async () => {
    const chat = at.chat('enqueues')
    const update = anUpdate('x', { userId: chat.id })
    expect(await (await at.post('enqueues', update)).json()).toEqual({ ok: true, result: 'dead' })
    await chat.until((all) => all.some(({ text }) => text.includes('something went wrong')))
    expect(lines).toContainEqual(
      expect.stringContaining('enqueuing my.kind needs a database, but store is none'),
    )
  })

  test('login works too', async () => {
    const [door, gated] = [at.chat('door', 31), at.chat('gated', 31)]
    gated.says('hi')
    await gated.until((all) => all.some(({ by }) => by === 'bot'))
    door.says(`/auth ${AUTH_SECRET}`)
    await door.until((all) => all.some(({ by }) => by === 'bot'))
    gated.says('hi')
    await gated.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(gated)).toEqual([expect.stringContaining('Please log in first'), 'hi'])
  })
})
