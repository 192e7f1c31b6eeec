/** The fake Telegram behaves as documented, as seen by grammY and a real webhook. */
import { Api, GrammyError, HttpError } from 'grammy'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { fakeTelegram } from '../../src/fake/fake-telegram.ts'
import { lanes } from '../../src/fake/lanes.ts'
import type { FakeTelegram, FakeTelegramOptions } from '../../src/fake/types.ts'
import { receiver } from './receiver.ts'

const TOKEN = '110:first'
const OTHER = '220:second'
const HOUR = 3_600_000

async function setUp(
  options: FakeTelegramOptions = {},
): Promise<{ fake: FakeTelegram; api: Api; other: Api }> {
  const fake = await fakeTelegram({ retryScale: 0.001, ...options })
  onTestFinished(fake.close)
  fake.addBot({ token: TOKEN, username: 'first_bot' })
  fake.addBot({ token: OTHER, username: 'second_bot' })
  const apiOf = (token: string): Api => new Api(token, { apiRoot: fake.url })
  return { fake, api: apiOf(TOKEN), other: apiOf(OTHER) }
}

/** Describes the error of grammY in one line. */
async function refusedAs(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => new Error('was not refused'),
    (error: unknown) => error,
  )
  if (error instanceof GrammyError) return `${error.error_code} ${error.description}`
  if (error instanceof HttpError) return 'no answer'
  throw error
}

const tooMany = (seconds: number) => `429 Too Many Requests: retry after ${seconds}`

const textsOf = (updates: readonly { readonly message?: { readonly text?: string } }[]): unknown[] =>
  updates.map(({ message }) => message?.text)

test('A an unknown option is refused', async () => {
  await expect(fakeTelegram({ prt: 1 } as object)).rejects.toMatchObject({ field: 'options.prt' })
})

describe('methods', () => {
  test('bots are known by their token, and methods by their name', async () => {
    const { fake, api } = await setUp()
    expect(await api.getMe()).toMatchObject({ id: 110, is_bot: true, username: 'first_bot' })
    const stranger = new Api('330:nobody', { apiRoot: fake.url })
    expect(await refusedAs(stranger.getMe())).toBe('401 Unauthorized')
    expect(await refusedAs(api.raw.getMyCommands({}))).toBe('404 Not Found: method not found')
    expect(fake.calls.map(({ method }) => method)).toEqual(['getMe', 'getMe', 'getMyCommands'])
    expect(fake.calls[0]?.answer).toMatchObject({ status: 200, body: { ok: true } })
  })

  test('messages are checked, counted by chat, and deleted once', async () => {
    const { fake, api } = await setUp()
    const chat = fake.chat({ bot: TOKEN, id: 42 })
    fake.chat({ bot: TOKEN, id: 43 })
    chat.says('hello')
    expect(await api.sendMessage(42, 'x'.repeat(4_096))).toMatchObject({ message_id: 2, chat: { id: 42 } })
    expect(await api.sendMessage(43, 'hi')).toMatchObject({ message_id: 1, from: { id: 110 } })
    const sendRefused = async (text: string, id: number | string = 42) => refusedAs(api.sendMessage(id, text))
    expect(await sendRefused('')).toBe('400 Bad Request: message text is empty')
    expect(await sendRefused(' \n')).toBe('400 Bad Request: message text is empty')
    expect(await sendRefused('x'.repeat(4_097))).toBe('400 Bad Request: message is too long')
    // Half of an emoji, as careless splitting produces it.
    expect(await sendRefused('😀'.slice(0, 1))).toBe('400 Bad Request: strings must be encoded in UTF-8')
    expect(await sendRefused('hi', '')).toBe('400 Bad Request: chat_id is empty')
    expect(await sendRefused('hi', 44)).toBe('400 Bad Request: chat not found')
    const reply = api.sendMessage(42, 'hi', { reply_parameters: { message_id: 9 } })
    expect(await refusedAs(reply)).toBe('400 Bad Request: message to be replied not found')
    const gone = '400 Bad Request: message to delete not found'
    expect(await api.deleteMessage(42, 1)).toBe(true)
    expect(await refusedAs(api.deleteMessage(42, 1))).toBe(gone)
    expect(await refusedAs(api.deleteMessage(42, 3))).toBe(gone)
    expect(chat.transcript()).toMatchObject([
      { by: 'user', messageId: 1, text: 'hello', deleted: true },
      { by: 'bot', messageId: 2, deleted: false },
    ])
  })

  test('forms are read as well as JSON, and nothing without end', async () => {
    const { fake } = await setUp()
    fake.chat({ bot: TOKEN, id: 42 })
    const send = async (body: URLSearchParams | string): Promise<number> => {
      const { status } = await fetch(`${fake.url}/bot${TOKEN}/sendmessage`, { method: 'POST', body })
      return status
    }
    expect(await send(new URLSearchParams({ chat_id: '42', text: 'hi' }))).toBe(200)
    expect(await send(new URLSearchParams({ chat_id: '42', text: 'x'.repeat(2 ** 20) }))).toBe(413)
    expect(await send('chat_id=42')).toBe(400)
  })

  test('a transcript is awaited by what happens, and shown when it does not', async () => {
    const { fake, api } = await setUp()
    const chat = fake.chat({ bot: TOKEN, id: 42 })
    const transcript = chat.until((entries) => entries.some(({ text }) => text === 'two'))
    await api.sendMessage(42, 'one')
    await api.sendMessage(42, 'two')
    expect((await transcript).map(({ text }) => text)).toEqual(['one', 'two'])
    await expect(chat.until(() => false, 1)).rejects.toThrow(/within 1 ms.*"two"/s)
    const never = chat.until(() => false)
    await Promise.all([expect(never).rejects.toThrow('was closed'), fake.close()])
  })
})

describe('faults', () => {
  test('calls get what is queued for them, one after the other', async () => {
    const { fake, api } = await setUp()
    const chat = fake.chat({ bot: TOKEN, id: 42 })
    fake.next(
      'sendMessage',
      { error: 429, retryAfter: 7 },
      { error: 403, description: 'Forbidden: no' },
      'reset',
    )
    fake.next('*', { error: 502 }, { error: 502, html: true }, 'lost')
    const send = () => api.sendMessage(42, 'hi')
    await expect(send()).rejects.toMatchObject({ error_code: 429, parameters: { retry_after: 7 } })
    expect(await refusedAs(send())).toBe('403 Forbidden: no')
    expect(await refusedAs(send())).toBe('no answer')
    expect(await refusedAs(send())).toBe('502 Bad Gateway')
    expect(await refusedAs(send())).toBe('no answer')
    expect(chat.transcript()).toEqual([])
    // Telegram accepted it, but the response was lost.
    expect(await refusedAs(send())).toBe('no answer')
    expect(chat.transcript()).toMatchObject([{ text: 'hi' }])
    expect(fake.calls.map(({ answer }) => answer).filter((answer) => typeof answer === 'string')).toEqual([
      'reset',
      'lost',
    ])
    expect(() => fake.next('sendMesage', 'lost')).toThrow('sendMesage is not supported')
  })

  test('a delayed call runs although its caller has disconnected', async () => {
    const { fake, api } = await setUp()
    const chat = fake.chat({ bot: TOKEN, id: 42 })
    fake.next('sendMessage', { delayMs: 20 }, { delayMs: HOUR })
    const leaving = new AbortController()
    const slow = refusedAs(api.sendMessage(42, 'slow', {}, leaving.signal as never))
    await fake.until(() => fake.calls.length === 1)
    leaving.abort()
    expect(await slow).toBe('no answer')
    expect(await chat.until(({ length }) => length === 1)).toMatchObject([{ text: 'slow' }])
    const never = refusedAs(api.sendMessage(42, 'never'))
    await fake.until(() => fake.calls.length === 2)
    await fake.close()
    expect(await never).toBe('no answer')
    expect(chat.transcript()).toHaveLength(1)
  })

  test('a chat can be blocked, open again, or have become another', async () => {
    const { fake, api } = await setUp()
    fake.chat({ bot: TOKEN, id: -7, type: 'group' })
    fake.chatIs(-7, 'blocked')
    expect(await refusedAs(api.sendMessage(-7, 'hi'))).toBe('403 Forbidden: bot was blocked by the user')
    fake.chatIs(-7, 'open')
    await api.sendMessage(-7, 'hi')
    fake.chatIs(-7, 'migrated', { to: -1_007 })
    const upgraded = { error_code: 400, parameters: { migrate_to_chat_id: -1_007 } }
    await expect(api.sendMessage(-7, 'hi')).rejects.toMatchObject(upgraded)
    expect(await api.sendMessage(-1_007, 'hi')).toMatchObject({ chat: { type: 'supergroup' } })
  })

  test('a sender above the limit gets a wait', async () => {
    let now = 10 * HOUR
    const limits = { perChatPerSecond: 1, perGroupPerMinute: 2, perBotPerSecond: 3, slackMs: 0 }
    const { fake, api, other } = await setUp({ limits, clock: () => now })
    for (const id of [1, 2, 3, 4]) fake.chat({ bot: TOKEN, id })
    fake.chat({ bot: OTHER, id: 4 })
    fake.chat({ bot: TOKEN, id: -1, type: 'supergroup' })
    await api.sendMessage(1, 'a')
    expect(await refusedAs(api.sendMessage(1, 'b'))).toBe(tooMany(1))
    await api.sendMessage(2, 'a')
    await api.sendMessage(3, 'a')
    expect(await refusedAs(api.sendMessage(4, 'a'))).toBe(tooMany(1))
    await other.sendMessage(4, 'a')
    now += 1_000
    await api.sendMessage(-1, 'a')
    now += 1_000
    await api.sendMessage(-1, 'b')
    now += 1_000
    expect(await refusedAs(api.sendMessage(-1, 'c'))).toBe(tooMany(58))
    now += 58_000
    await api.sendMessage(-1, 'c')
  })
})

describe('webhooks', () => {
  test('are checked when they are set, and can be asked about', async () => {
    const { fake, api } = await setUp({ clock: () => 5_000 })
    const hook = await receiver((_update, response) => void (response.statusCode = 410))
    const set = async (url: string, more: Parameters<Api['setWebhook']>[1] = {}) =>
      refusedAs(api.setWebhook(url, more))
    expect(await set('ftp://localhost')).toMatch('400 Bad Request: bad webhook')
    expect(await set('nowhere')).toMatch('400 Bad Request: bad webhook')
    expect(await set(hook.url, { secret_token: 'a+b' })).toMatch('unallowed characters')
    expect(await set(hook.url, { secret_token: 'x'.repeat(257) })).toMatch('too long')
    expect(await set(hook.url, { max_connections: 101 })).toMatch('max_connections')
    expect(await api.getWebhookInfo()).toMatchObject({ url: '', pending_update_count: 0 })
    await api.setWebhook(hook.url, { max_connections: 3, allowed_updates: ['message'] })
    fake.chat({ bot: TOKEN, id: 42 }).says('hello')
    await fake.until(() => fake.deliveries.length > 0)
    expect(await api.getWebhookInfo()).toEqual({
      url: hook.url,
      has_custom_certificate: false,
      pending_update_count: 1,
      max_connections: 3,
      allowed_updates: ['message'],
      last_error_date: 5,
      last_error_message: 'Wrong response from the webhook: 410 Gone',
    })
    await api.deleteWebhook({ drop_pending_updates: true })
    expect(await api.getWebhookInfo()).toMatchObject({ url: '', pending_update_count: 0 })
  })

  test('get updates with the secret, unknown fields, and only the requested types', async () => {
    const { fake, api } = await setUp({ updateIdFrom: 900 })
    const hook = await receiver()
    const chat = fake.chat({ bot: TOKEN, id: 42, user: { id: 42, first_name: 'Grace' } })
    chat.says('before there was a webhook')
    await api.setWebhook(hook.url, { secret_token: 'se_cret-1', allowed_updates: ['message'] })
    chat.gives({ edited_message: {} })
    chat.says('/start now', { updateId: 5_000 })
    await fake.until(() => fake.deliveries.length === 2)
    expect(hook.headers[0]).toMatchObject({ 'x-telegram-bot-api-secret-token': 'se_cret-1' })
    expect(hook.updates).toMatchObject([
      { update_id: 900 },
      {
        update_id: 5_000,
        field_of_tomorrow: {},
        message: {
          message_id: 2,
          from: { id: 42, is_bot: false, first_name: 'Grace' },
          chat: { id: 42, type: 'private', first_name: 'Grace' },
          entities: [{ type: 'bot_command', offset: 0, length: 6 }],
          weather_of_tomorrow: [{}],
        },
      },
    ])
    expect(fake.deliveries[1]).toMatchObject({ updateId: 5_000, attempt: 1, status: 200, error: null })
  })

  test('have one update of a chat at a time, and no more chats than connections', async () => {
    const { fake, api } = await setUp()
    const held: { readonly chat: number; readonly release: () => void }[] = []
    const hook = await receiver(
      ({ message }) =>
        new Promise((resolve) => {
          held.push({ chat: message.chat.id, release: resolve })
        }),
    )
    await api.setWebhook(hook.url, { max_connections: 2 })
    for (const text of ['1', '2', '3']) {
      for (const id of [10, 20, 30]) fake.chat({ bot: TOKEN, id }).says(`${id} ${text}`)
    }
    for (let done = 0; done < 9; done += 1) {
      await expect.poll(() => held.length, { interval: 2 }).toBe(Math.min(done + 2, 9))
      const here = held.slice(done).map(({ chat }) => chat)
      expect(new Set(here).size).toBe(here.length)
      held[done]?.release()
      await fake.until(() => fake.deliveries.length === done + 1)
    }
    expect(hook.most()).toBe(2)
    for (const id of [10, 20, 30]) {
      const own = hook.updates.filter(({ message }) => message.chat.id === id)
      expect(textsOf(own)).toEqual([`${id} 1`, `${id} 2`, `${id} 3`])
    }
  })

  test('get an update until they take it, and nothing else of its chat before', async () => {
    const { fake, api } = await setUp()
    const answers = [500, 302, 'destroy', 204]
    const hook = await receiver(({ message }, response) => {
      if (message.chat.id !== 42 || message.text !== 'first') return
      const answer = answers.shift()
      if (typeof answer === 'number') response.statusCode = answer
      else response.socket?.destroy()
    })
    await api.setWebhook(hook.url)
    fake.chat({ bot: TOKEN, id: 42 }).says('first')
    fake.chat({ bot: TOKEN, id: 42 }).says('second')
    fake.chat({ bot: TOKEN, id: 43 }).says('beside it')
    await fake.until(() => fake.deliveries.length === 6)
    const own = fake.deliveries.filter(({ chatId }) => chatId === 42)
    expect(own.map(({ attempt, status, error }) => [attempt, status, error])).toEqual([
      [1, 500, 'Wrong response from the webhook: 500 Internal Server Error'],
      [2, 302, 'Wrong response from the webhook: 302 Found'],
      [3, null, 'Connection reset by peer'],
      [4, 204, null],
      [1, 200, null],
    ])
    expect(await api.getWebhookInfo()).toMatchObject({ pending_update_count: 0 })
  })

  test('are not waited for without end', async () => {
    const { fake, api } = await setUp({ webhookTimeoutMs: 200 })
    const hook = await receiver(() => (hook.updates.length === 1 ? new Promise(() => {}) : undefined))
    await api.setWebhook(hook.url)
    fake.chat({ bot: TOKEN, id: 42 }).says('hello')
    await fake.until(() => fake.deliveries.some(({ status }) => status === 200))
    expect(fake.deliveries[0]).toMatchObject({ status: null, error: 'Read timeout expired' })
    await api.setWebhook('http://127.0.0.1:1')
    fake.chat({ bot: TOKEN, id: 42 }).says('nobody is there')
    await fake.until(() => fake.deliveries.at(-1)?.error === 'Connection refused')
  })

  test('are tried again at once, then after 2, 4, 8 s, and about every minute in the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let tries = 0
    const deliver = () => {
      tries += 1
      return Promise.resolve({ status: 500, error: 'no', retryAfterS: 0 })
    }
    const order = lanes({ pending: new Map() }, 1, { retryScale: 1, clock: () => 0 }, deliver)
    order.add({ id: 1, chatId: 1, value: {}, expiresAt: HOUR })
    const after = async (ms: number): Promise<number> => {
      await vi.advanceTimersByTimeAsync(ms)
      return tries
    }
    const seconds = [2, 4, 8, 16, 32]
    for (const [n, wait] of seconds.entries()) {
      expect(await after(0)).toBe(n + 2)
      expect(await after(wait * 1_000 - 1)).toBe(n + 2)
      expect(await after(1)).toBe(n + 3)
    }
    expect(await after(59_999)).toBe(7)
    expect(await after(4_001)).toBe(8)
    expect(await after(59_000)).toBe(8)
    expect(await after(61_000)).toBe(9)
    order.stop()
    expect(await after(HOUR)).toBe(9)
  })

  test('are left alone for as long as they ask, and lose what becomes a day old', async () => {
    let now = 100 * HOUR
    const { fake, api } = await setUp({ retryScale: 1, clock: () => now })
    const hook = await receiver(({ message }, response) => {
      if (message.text !== 'first') return
      response.statusCode = 503
      // The first attempt leaves time for one more, without a Retry-After.
      if (hook.updates.length > 1) response.setHeader('retry-after', '3600')
    })
    const chat = fake.chat({ bot: TOKEN, id: 42 })
    chat.says('nobody asked for it')
    now += HOUR / 2
    chat.says('first')
    now += 23.5 * HOUR
    chat.says('second')
    expect(await api.getWebhookInfo()).toMatchObject({ pending_update_count: 2 })
    await api.setWebhook(hook.url)
    await fake.until(() => fake.deliveries.some(({ status }) => status === 200))
    expect(textsOf(hook.updates)).toEqual(['first', 'first', 'second'])
    expect(await api.getWebhookInfo()).toMatchObject({ pending_update_count: 0 })
  })

  test('do not get what became too old behind another', async () => {
    let now = 0
    const sent: number[] = []
    await new Promise<void>((resolve) => {
      const order = lanes({ pending: new Map() }, 1, { retryScale: 1, clock: () => now }, ({ id }) => {
        sent.push(id)
        now = 10
        if (id === 3) resolve()
        return Promise.resolve({ status: 200, error: null, retryAfterS: 0 })
      })
      for (const [id, expiresAt] of [[1, 100] as const, [2, 10] as const, [3, 100] as const]) {
        order.add({ id, chatId: 1, value: {}, expiresAt })
      }
    })
    expect(sent).toEqual([1, 3])
  })

  test('get again what they took, when their answer is lost', async () => {
    const { fake, api, other } = await setUp()
    const [hook, otherHook] = [await receiver(), await receiver()]
    await api.setWebhook(hook.url)
    await other.setWebhook(otherHook.url)
    const { updateId } = fake.chat({ bot: TOKEN, id: 42 }).says('hello')
    await fake.until(() => fake.deliveries.length === 1)
    expect(await fake.redeliver(updateId)).toMatchObject({ updateId, attempt: 2, status: 200 })
    expect(textsOf(hook.updates)).toEqual(['hello', 'hello'])
    // Bots number their updates separately, so an id alone may be ambiguous.
    expect(fake.chat({ bot: OTHER, id: 42 }).says('to the other').updateId).toBe(updateId)
    await expect(fake.redeliver(updateId)).rejects.toThrow('belongs to several bots')
    await expect(fake.redeliver(1)).rejects.toThrow('updateId: is unknown (got 1)')
    await fake.until(() => fake.deliveries.length === 3)
    await fake.redeliver(updateId, { bot: OTHER })
    expect(textsOf(otherHook.updates)).toEqual(['to the other', 'to the other'])
  })
})

describe('getUpdates', () => {
  test('gives what is there until it is acknowledged, and waits for more', async () => {
    const { fake, api } = await setUp({ updateIdFrom: 10 })
    const chat = fake.chat({ bot: TOKEN, id: 42 })
    for (const text of ['a', 'b', 'c']) chat.says(text)
    expect(textsOf(await api.getUpdates({ limit: 2 }))).toEqual(['a', 'b'])
    expect(textsOf(await api.getUpdates({ offset: 11 }))).toEqual(['b', 'c'])
    expect(textsOf(await api.getUpdates({ offset: -1 }))).toEqual(['c'])
    expect(await api.getUpdates({ offset: 13 })).toEqual([])
    const waiting = api.getUpdates({ offset: 13, timeout: 50 })
    await fake.until(() => fake.calls.length === 5)
    chat.says('d')
    expect(textsOf(await waiting)).toEqual(['d'])
  })

  test('allows one caller at a time, and none while there is a webhook', async () => {
    const { fake, api } = await setUp()
    const hook = await receiver()
    const first = refusedAs(api.getUpdates({ timeout: 50 }))
    await fake.until(() => fake.calls.length === 1)
    const second = refusedAs(api.getUpdates({ timeout: 50 }))
    expect(await first).toMatch('409 Conflict: terminated by other getUpdates request')
    await fake.until(() => fake.calls.length === 2)
    await api.setWebhook(hook.url)
    expect(await second).toBe('409 Conflict: terminated by setWebhook request')
    const active = "409 Conflict: can't use getUpdates method while webhook is active"
    expect(await refusedAs(api.getUpdates())).toMatch(active)
    await api.deleteWebhook()
    expect(await api.getUpdates()).toEqual([])
  })
})
