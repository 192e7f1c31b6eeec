/** Monitoring, and stopping what hangs. On both stores. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { freePort } from '../../../test/support/free-port.ts'
import type { Handler } from '../src/index.ts'
import { anUpdate, freshDatabase, saidBy, scene, type Scene, SECRET, STORES } from './support/scene.ts'

const RETRY = { attempts: 1, backoff: ['0s'], jitterPercent: 0 }

describe.each(STORES)('watching on %s', (store) => {
  const test = inTurns(store, STORES)
  let at: Scene
  beforeAll(async () => {
    at = await scene({
      store,
      handlerMs: 200,
      handlers: { hung: ({ text, reply }) => (text === 'hang' ? new Promise(() => {}) : reply(text)) },
      bots: {
        echo: { handler: 'echo', async: true, requireAuth: false },
        away: { handler: 'echo', async: true, requireAuth: false },
        hung: { handler: 'hung', requireAuth: false, retry: RETRY },
      },
    })
  })
  afterAll(() => at.stop())

  test('a synchronous handler that hangs is an ordinary error, and delays no other update', async () => {
    const chat = at.chat('hung')
    const answer = await at.post('hung', anUpdate('hang', { userId: chat.id }))
    expect([answer.status, await answer.json()]).toEqual([200, { ok: true, result: 'dead' }])
    await chat.until((all) => all.some(({ text }) => text.includes('something went wrong')))
    await at.post('hung', anUpdate('hello', { userId: chat.id }))
    await chat.until((all) => all.some(({ text }) => text === 'hello'))
  })

  test('C an unreachable webhook shows in gauges and as degraded, and the process stays ready', async () => {
    const ready = async () => {
      const answer = await fetch(`${at.gateway.url}/readyz`)
      return [answer.status, await answer.json()]
    }
    const away = at.gateway.bots.find(({ slug }) => slug === 'away')
    await away?.api.setWebhook(`http://127.0.0.1:${await freePort()}/`, { secret_token: SECRET })
    const { updateId } = at.chat('away').says('anybody?')
    await at.fake.until(() => at.fake.deliveries.some((one) => one.updateId === updateId))
    const text = await at.gateway.mill.prometheus()
    expect(text).toMatch(/^jobmill_telegram_webhook_pending\{bot="away"\} 1$/m)
    expect(text).toMatch(/^jobmill_telegram_webhook_pending\{bot="echo"\} 0$/m)
    const [, seconds] =
      /^jobmill_telegram_webhook_last_error_timestamp_seconds\{bot="away"\} (\d+)$/m.exec(text) ?? []
    expect(Math.abs(Number(seconds) * 1_000 - Date.now())).toBeLessThan(60_000)
    expect(text).toMatch(/^jobmill_telegram_webhook_last_error_timestamp_seconds\{bot="echo"\} 0$/m)
    await expect.poll(ready).toEqual([200, { ok: true, degraded: [{ bot: 'away', pending: 1 }] }])
    const echo = at.gateway.bots.find(({ slug }) => slug === 'echo')
    if (echo !== undefined) echo.trouble = 'token'
    expect((await ready())[1]).toMatchObject({
      degraded: [{ bot: 'echo', trouble: 'token' }, { bot: 'away' }],
    })
    if (echo !== undefined) echo.trouble = null
  })

  test('C every 429 is counted', async () => {
    const chat = at.chat('echo')
    at.fake.next('sendMessage', { error: 429, retryAfter: 1 })
    chat.says('often')
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect(await at.gateway.mill.prometheus()).toMatch(/^jobmill_telegram_throttled_total\{bot="echo"\} 1$/m)
  })

  test('P6 E26 an immediate stop waits for nothing: running updates resume at the next start, and no attempt is spent', async () => {
    const database = freshDatabase(store)
    const startedChats: string[] = []
    let isOpen = false
    const held: Handler = ({ text, attempt, reply }) => {
      startedChats.push(text)
      return isOpen ? reply(`${text} at ${attempt}`) : new Promise<void>(() => {})
    }
    const options = {
      store,
      database,
      telegram: at.fake,
      handlers: { held },
      ids: { durable: 7_000, direct: 7_002 },
      bots: {
        durable: { handler: 'held', async: true, requireAuth: false, retry: RETRY },
        direct: { handler: 'held', requireAuth: false, retry: RETRY },
      },
    }
    const first = await scene(options)
    const [durable, direct] = [first.chat('durable'), first.chat('direct')]
    const update = anUpdate('direct', { userId: direct.id })
    expect((await first.post('durable', anUpdate('durable', { userId: durable.id }))).status).toBe(200)
    const answer = first.post('direct', update)
    await expect.poll(() => startedChats.toSorted()).toEqual(['direct', 'durable'])
    const stopped = first.gateway.stop()
    first.gateway.hurry()
    expect(await (await answer).json()).toEqual({ ok: true, result: 'queued' })
    await stopped
    isOpen = true
    const second = await scene(options)
    expect(await (await second.post('direct', update)).json()).toEqual({ ok: true, result: 'duplicate' })
    for (const chat of [durable, direct]) await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect([saidBy(durable), saidBy(direct)]).toEqual([['durable at 1'], ['direct at 1']])
    await second.stop()
  })
})
