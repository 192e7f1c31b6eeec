/**
 * Replies: sent until Telegram accepts or refuses them, in order, within its limits, once if that can be
 * known. On both stores.
 */
import { durationMs } from 'jobmill/internal'
import { openTables, type Tables } from 'jobmill-tables'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { answer, EMPTY_BUDGET } from '../../jobmill/src/job/limit/budget.ts'
import type { Fault } from '../src/fake/types.ts'
import { startedReplies } from '../src/sessions/started-replies.ts'
import type { Schema } from '../src/sessions/steps.ts'
import { LIMITS, chatLimit } from '../src/work/names.ts'
import { optionsOf, replyKey, sendPayload } from '../src/work/send-job.ts'
import { sentNotes } from '../src/work/sent-notes.ts'
import { stormWatch } from '../src/work/storm.ts'
import { saidBy, scene, type Scene, STORES } from './support/scene.ts'

const HOUR_MS = 3_600_000

test('C three throttled chats within a second are a storm; two are not, nor is one chat repeatedly', () => {
  const isStorm = stormWatch()
  const storms = [
    [1, 0],
    [1, 10],
    [2, 20],
    [1, 30],
    [3, 1_025],
    ['@news', 1_029],
    [4, 2_000],
  ].map(([chat = 0, when]) => isStorm(chat, Number(when)))
  expect(storms).toEqual([false, false, false, false, false, true, true])
})

const sentTo = (chat: unknown) =>
  sendPayload({ id: 7 }, { method: 'sendMessage', payload: { chat_id: chat }, bestEffort: false }, null)

test('chat ids: numeric text equals the number, and a channel name is its own chat', () => {
  expect(
    [5, '5', '-100200', '@News_1', 'news', '5.5', null, '9'.repeat(20)].map((chat) => sentTo(chat).chatId),
  ).toEqual([5, 5, -100_200, '@news_1', null, null, null, null])
  const bot = { slug: 'a', id: 7 }
  expect([5, '5', '@news'].map((chat) => optionsOf(bot, sentTo(chat)).orderKey)).toEqual([
    '7:5',
    '7:5',
    '7:@news',
  ])
  expect([5, -5, '@news'].map(chatLimit)).toEqual(['telegram-chat', 'telegram-group', 'telegram-group'])
})

test.each([
  ['telegram-group', 60_000, 20],
  ['telegram-bot', 1_000, 30],
] as const)(
  'C P13 whenever replies are written, no window of %s of %i ms has more than %i',
  (name, windowMs, most) => {
    const { rate, per, burst } = LIMITS[name]
    const settings = {
      type: 'rate',
      amount: rate,
      perMs: durationMs(per, name),
      burst,
      perKey: true,
    } as const
    const sent: number[] = []
    let state = EMPTY_BUDGET
    // Everything at once after a pause that filled the burst, then as fast as possible.
    for (let now = 1e12; sent.length < 200; now += 10) {
      const ask = { amount: 1, waitUpToMs: 0, hasPlace: false }
      const answered = answer(settings, state, [ask, ask, ask, ask, ask, ask, ask, ask], { now, held: 0 })
      state = answered.state
      for (const { outcome } of answered.answers) if (outcome === 'granted') sent.push(now)
    }
    const inWindow = sent.map((from) => sent.filter((when) => when >= from && when < from + windowMs).length)
    expect(Math.max(...inWindow)).toBeLessThanOrEqual(most)
    expect(Math.max(...inWindow)).toBeGreaterThan(most / 2)
  },
)

describe.each(STORES)('replies on %s', (store) => {
  const test = inTurns(store, STORES)
  let at: Scene
  let tables: Tables<Schema>
  const warned: string[] = []
  let failsBefore: number | null = null
  beforeAll(async () => {
    at = await scene({
      store,
      fault(point, chatId) {
        if (point !== 'send.begun' || chatId === null || chatId !== failsBefore) return
        failsBefore = null
        throw new Error('the connection to the database was lost')
      },
      log: { debug() {}, info() {}, warn: (line) => void warned.push(line), error() {} },
      handlers: {
        odd: ({ call }) => call('sendNothingAtAll', {}),
        loose: ({ text, chatId, call }) =>
          call('sendMessage', { chat_id: String(chatId), text }, { bestEffort: true }),
        many: ({ text, reply }) => {
          for (let n = 1; n <= Number(text); n += 1) reply(`${n}`)
        },
      },
      bots: {
        echo: { handler: 'echo', async: true, requireAuth: false },
        direct: { handler: 'echo', requireAuth: false },
        careful: { handler: 'echo', async: true, requireAuth: false, replies: 'at-most-once' },
        many: { handler: 'many', async: true, requireAuth: false },
        odd: { handler: 'odd', async: true, requireAuth: false },
        'revoked-401': { handler: 'echo', async: true, requireAuth: false },
        'revoked-404': { handler: 'echo', async: true, requireAuth: false, replies: 'at-most-once' },
        loose: { handler: 'loose', async: true, requireAuth: false },
        windy: { handler: 'echo', async: true, requireAuth: false },
        stormy: { handler: 'echo', async: true, requireAuth: false },
        patient: { handler: 'echo', async: true, requireAuth: false },
      },
      fake: { limits: { perChatPerSecond: 4, perBotPerSecond: 61 } },
    })
    tables = (await openTables<Schema>(at.database, { app: 'telegram', steps: [] })).tables
  })
  afterAll(async () => {
    await tables.close()
    await at.stop()
  })

  const sendsOf = async (slug: string, state: 'dead' | 'done') => {
    const { jobs } = await at.gateway.mill.list({ state, queue: `telegram.${slug}.send` })
    return Promise.all(jobs.map(async ({ id }) => at.gateway.mill.get(id)))
  }

  /** The send jobs of one chat, in any state. */
  const sendsTo = async (slug: string, chat: number) => {
    const filter = { queue: `telegram.${slug}.send`, payloadText: `"chatId":${chat}` }
    return (await at.gateway.mill.list(filter)).jobs
  }

  const outcomesOf = async (id: string) => (await at.gateway.mill.history(id)).map(({ outcome }) => outcome)

  const callsTo = (chat: number) =>
    at.fake.calls.filter(({ method, payload }) => method === 'sendMessage' && payload['chat_id'] === chat)

  const faults: readonly [string, Fault][] = [
    ['a 500', { error: 500 }],
    ['a connection that breaks', 'reset'],
  ]
  const moreFaults: readonly [string, Fault][] = [
    ['a 429', { error: 429, retryAfter: 1 }],
    ['a page instead of JSON', { error: 502, html: true }],
  ]
  test.each(inFull([...faults, ...moreFaults], faults))(
    'E9 %s is retried, and the reply arrives once',
    async (_what, fault) => {
      for (const slug of ['echo', 'direct']) {
        const chat = at.chat(slug)
        at.fake.next('sendMessage', fault)
        chat.says('hello')
        await chat.until((all) => all.some(({ by }) => by === 'bot'))
        expect(saidBy(chat)).toEqual(['hello'])
        expect(callsTo(chat.id)).toHaveLength(2)
      }
    },
  )

  test('C a 429 pauses only its chat, for as long as Telegram says', async () => {
    const [one, other] = [at.chat('echo'), at.chat('echo')]
    // These replies have no order key: they wait because the chat is throttled.
    const loose = at.chat('loose')
    const callsOfLoose = () => at.fake.calls.filter(({ payload }) => payload['chat_id'] === String(loose.id))
    at.fake.next('sendMessage', { error: 429, retryAfter: 2 })
    loose.says('first')
    // It is snoozed: by now its chat is known to be throttled too.
    await expect
      .poll(async () => (await sendsTo('loose', loose.id)).map(({ state }) => state))
      .toEqual(['scheduled'])
    loose.says('second')
    at.fake.next('sendMessage', { error: 429, retryAfter: 2 })
    one.says('first')
    await at.fake.until(() => callsTo(one.id).length === 1)
    other.says('not held up')
    await other.until((all) => all.some(({ by }) => by === 'bot'))
    const [sent] = await sendsTo('echo', other.id)
    await expect.poll(() => outcomesOf(sent?.id ?? '')).toEqual(['returned'])
    await one.until((all) => all.some(({ by }) => by === 'bot'))
    const [refused, accepted] = callsTo(one.id)
    expect((accepted?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(2_000)
    await loose.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    const [first = 0, ...later] = callsOfLoose().map(({ at: when }) => when)
    for (const when of later) expect(when - first).toBeGreaterThanOrEqual(2_000)
  })

  test('C a 429 beyond the longest pause waits that long, and spends no attempt', async () => {
    at.fake.next('sendMessage', { error: 429, retryAfter: 90_000 })
    at.chat('patient').says('tomorrow')
    const filter = { state: 'scheduled', queue: 'telegram.patient.send' } as const
    const attempts = async () => {
      const { jobs } = await at.gateway.mill.list(filter)
      return jobs.flatMap(({ dueAt, attempt }) => ((dueAt ?? 0) > Date.now() + 86_000_000 ? [attempt] : []))
    }
    await expect.poll(attempts).toEqual([0])
  })

  test.each([
    ['403 blocked', 'blocked'],
    ['400', 'Bad Request'],
  ])('E9 %s is never retried: the reply is dead, with the reason', async (what, words) => {
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

  test.each([401, 404])(
    'E9 a rejected token (%i) pauses its bot: logged once with the fix, no reply is lost, no attempt spent, other bots continue',
    async (error) => {
      const slug = `revoked-${error}`
      const [one, other, elsewhere] = [at.chat(slug), at.chat(slug), at.chat('echo')]
      at.fake.next('sendMessage', { error })
      one.says('first')
      const warnings = () => warned.filter((line) => line.includes(slug))
      await expect.poll(warnings).toHaveLength(1)
      expect(warnings()[0]).toMatch(new RegExp(`BOT_REVOKED_${error}_TOKEN`))
      const queue = `telegram.${slug}.send`
      const waiting = async () => (await at.gateway.mill.list({ state: 'scheduled', queue })).jobs
      await expect.poll(async () => (await waiting()).length).toBe(1)
      other.says('second')
      // The gateway makes no further calls for this bot, and continues those of other bots.
      elsewhere.says('here')
      await elsewhere.until((all) => all.some(({ by }) => by === 'bot'))
      await expect.poll(async () => (await waiting()).length).toBe(2)
      expect((await waiting()).map(({ attempt }) => attempt)).toEqual([0, 0])
      const now = Date.now()
      for (const { dueAt } of await waiting()) expect((dueAt ?? 0) - now).toBeGreaterThan(30_000)
      expect([...callsTo(one.id), ...callsTo(other.id)]).toHaveLength(1)
      expect(warnings()).toHaveLength(1)
      // The reply certainly did not arrive, so it is sent with the next token, even with at-most-once.
      const ids = (await waiting()).map(({ id }) => id)
      expect(
        await tables.db.selectFrom('telegram_begun').selectAll().where('job_id', 'in', ids).execute(),
      ).toEqual([])
    },
  )

  test('E9 an unknown Bot API method fails only its own reply', async () => {
    at.chat('odd').says('x')
    await expect.poll(async () => (await sendsOf('odd', 'dead')).map((job) => job?.error)).toHaveLength(1)
    const sends = await at.gateway.mill.prometheus()
    expect(sends).toMatch(/^jobmill_telegram_sends_total\{bot="odd",method="other",result="dead"\} 1$/m)
    expect(sends).not.toContain('sendNothingAtAll')
    const chat = at.chat('echo')
    chat.says('goes on')
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
  })

  test('E20 P13 the store deduplicates a reply by what it answers; waiting for the chat limit occupies no sender', async () => {
    const chat = at.chat('many')
    const { mill, bots } = at.gateway
    const key = `${bots.find(({ slug }) => slug === 'many')?.id}:${chat.id}`
    /** Drains the limit until the first job has found no permit. */
    const isSnoozed = async () => {
      await mill.limits.drain('telegram-chat', { key, retryAfter: '500ms' })
      const sends = await sendsTo('many', chat.id)
      return (await Promise.all(sends.map(({ id }) => outcomesOf(id)))).flat().includes('snoozed')
    }
    expect(await isSnoozed()).toBe(false)
    chat.says('2')
    await expect.poll(isSnoozed).toBe(true)
    const mine = async () =>
      (await sendsOf('many', 'done')).filter(
        (job) => (job?.payload as { chatId?: number } | undefined)?.chatId === chat.id,
      )
    await expect.poll(async () => (await mine()).length).toBe(2)
    for (const job of await mine()) {
      const of = (job?.payload as { of: string } | undefined)?.of ?? ''
      expect(of).toMatch(/^[0-9a-f-]{36}\/[01]$/)
      expect(await mill.holder(replyKey(of))).toBe(job?.id)
    }
  })

  test('C a migrated group gets its replies in the new chat', async () => {
    const chat = at.fake.chat({ bot: at.tokenOf('echo'), id: -55, type: 'group' })
    at.fake.chatIs(-55, 'migrated', { to: -100_055 })
    chat.says('where are you?')
    const there = at.fake.chat({ bot: at.tokenOf('echo'), id: -100_055, type: 'supergroup' })
    await there.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(there)).toEqual(['where are you?'])
  })

  test('E20 a reply is duplicated only if the response of Telegram was lost; never with at-most-once', async () => {
    const chat = at.chat('echo')
    at.fake.next('sendMessage', 'lost')
    chat.says('twice')
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
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

  test('at-most-once: a reply that may have arrived is remembered as long as its job can run', async () => {
    const { store: jobs, tables: beside } = await openTables<Schema>(at.database, {
      app: 'telegram',
      steps: [],
    })
    await jobs.open()
    const [mill, queue, careful] = [at.gateway.mill, 'telegram.careful.send', at.chat('careful')]
    await mill.pause(queue)
    careful.says('long ago')
    const waiting = async () => (await mill.list({ state: 'ready', queue })).jobs
    await expect.poll(async () => (await waiting()).length).toBe(1)
    const id = (await waiting())[0]?.id ?? ''
    // Simulates a process that died with it hours ago, and one whose job was deleted since. Older records
    // would be cleaned up.
    const gone = '00000000-0000-7000-8000-000000000000'
    const notes = [id, gone].map((one) => ({ job_id: one, at: Date.now() - 10 * HOUR_MS, token: '' }))
    await tables.db.insertInto('telegram_begun').values(notes).execute()
    const { forget } = startedReplies(tables, jobs)
    expect(await forget(HOUR_MS)).toBe(1)
    await mill.resume(queue)
    await expect
      .poll(async () => (await mill.get(id))?.result)
      .toEqual(expect.objectContaining({ sent: 'perhaps' }))
    expect(callsTo(careful.id)).toEqual([])
    expect(await forget(HOUR_MS)).toBe(1)
    await jobs.close()
    await beside.close()
  })

  test('E20 at-most-once: a 500 may have come after the delivery, and is not retried', async () => {
    const careful = at.chat('careful')
    at.fake.next('sendMessage', { error: 500 })
    careful.says('once or never')
    careful.says('goes on')
    await careful.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(careful)).toEqual(['goes on'])
    expect(callsTo(careful.id)).toHaveLength(2)
    const results = (await sendsOf('careful', 'done')).flatMap((job) =>
      (job?.payload as { chatId?: number } | undefined)?.chatId === careful.id ? [job?.result] : [],
    )
    expect(results).toContainEqual(expect.objectContaining({ sent: 'perhaps' }))
  })

  test('at-most-once: a failure before the call has sent nothing, even if the database response was lost', async () => {
    const careful = at.chat('careful')
    failsBefore = careful.id
    careful.says('after all')
    await careful.until((all) => all.some(({ by }) => by === 'bot'))
    expect(callsTo(careful.id)).toHaveLength(1)

    const { store: jobs, tables: beside } = await openTables<Schema>(at.database, {
      app: 'telegram',
      steps: [],
    })
    const real = startedReplies(tables, jobs)
    let undoFails = 0
    const lossy = sentNotes({
      ...real,
      async begin(...args) {
        await real.begin(...args)
        throw new Error('its answer was lost')
      },
      undo: (...args) => ((undoFails -= 1) >= 0 ? Promise.reject(new Error('away')) : real.undo(...args)),
    })
    const mine = new AbortController()
    const note = lossy('one', mine.signal)
    await expect(note.begin()).rejects.toThrow('lost')
    undoFails = 1
    await note.undo()
    const other = sentNotes(real)
    expect(await other('one', mine.signal).begin()).toBe(true)
    // An earlier attempt began it, and its outcome is unknown to the next one.
    await note.undo()
    expect(await other('one', mine.signal).begin()).toBe(false)

    // The database stays unreachable for the rest of the lease: this process knows better than the note.
    const away = sentNotes({ ...real, undo: () => Promise.reject(new Error('away')) })
    const late = away('two', mine.signal)
    expect(await late.begin()).toBe(true)
    mine.abort()
    await late.undo()
    expect(await other('two', mine.signal).begin()).toBe(false)
    expect(await away('two', mine.signal).begin()).toBe(true)
    await beside.close()
  })

  test('at-most-once drops no reply that certainly did not arrive', async () => {
    const careful = at.chat('careful')
    at.fake.next('sendMessage', { error: 429, retryAfter: 1 })
    careful.says('patient')
    await careful.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(careful)).toEqual(['patient'])
    // Refused, and retried by hand once it can arrive.
    at.fake.chatIs(careful.id, 'blocked')
    careful.says('later')
    await expect.poll(async () => (await sendsOf('careful', 'dead')).length).toBe(1)
    at.fake.chatIs(careful.id, 'open')
    await at.gateway.mill.retry((await sendsOf('careful', 'dead'))[0]?.id ?? '')
    await careful.until((all) => all.some(({ by, text }) => by === 'bot' && text === 'later'))
  })

  test('P13 groups and bots have separate limits', async () => {
    const group = at.fake.chat({ bot: at.tokenOf('echo'), id: -77, type: 'group' })
    const chat = at.chat('echo')
    for (const one of [group, chat]) one.says('hello all')
    for (const one of [group, chat]) await one.until((all) => all.some(({ by }) => by === 'bot'))
    const limits = (await at.gateway.mill.limits.list()) ?? []
    const used = limits.filter(({ keys }) => (keys ?? 0) > 0).map(({ name }) => name)
    expect(used.toSorted()).toEqual(['telegram-bot', 'telegram-chat', 'telegram-group'])
  })

  test('C P13 when Telegram refuses two chats, no other waits', async () => {
    const [one, other, third] = [at.chat('windy'), at.chat('windy'), at.chat('windy')]
    const refusal = { error: 429, retryAfter: 60 }
    at.fake.next('sendMessage', refusal, refusal)
    for (const chat of [one, other]) chat.says('too much')
    await at.fake.until(() => [one, other].every(({ id }) => callsTo(id).length === 1))
    third.says('not held up')
    await third.until((all) => all.some(({ by }) => by === 'bot'))
    expect([saidBy(one), saidBy(other)]).toEqual([[], []])
  })

  test('C P13 when Telegram refuses three chats, the whole bot waits', async () => {
    const [refused, others] = [3, 10].map((length) => Array.from({ length }, () => at.chat('stormy')))
    const [mill, queue] = [at.gateway.mill, 'telegram.stormy.send']
    const sends = async (state: 'ready' | 'scheduled') => (await mill.list({ state, queue })).jobs.length
    at.fake.next('sendMessage', ...Array.from({ length: 3 }, () => ({ error: 429, retryAfter: 2 })))
    // At the same time.
    await mill.pause(queue)
    for (const chat of refused ?? []) chat.says('anybody?')
    await expect.poll(() => sends('ready')).toBe(3)
    await mill.resume(queue)
    await expect.poll(() => sends('scheduled')).toBe(3)
    const lastAt = Math.max(...(refused ?? []).map(({ id }) => callsTo(id)[0]?.at ?? 0))
    for (const chat of others ?? []) chat.says('anybody?')
    for (const chat of [...(refused ?? []), ...(others ?? [])])
      await chat.until((all) => all.some(({ by }) => by === 'bot'))
    const times = (others ?? []).flatMap(({ id }) => callsTo(id).map(({ at: when }) => when))
    expect(Math.min(...times)).toBeGreaterThanOrEqual(lastAt + 2_000)
  })

  test('P13 replies keep the limits of a chat, arrive in order, and none is refused', async () => {
    const before = at.fake.calls.filter(
      ({ answer }) => typeof answer === 'object' && answer?.status === 429,
    ).length
    const chat = at.chat('many')
    chat.says('6')
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 6)
    expect(saidBy(chat)).toEqual(['1', '2', '3', '4', '5', '6'])
    const after = at.fake.calls.filter(
      ({ answer }) => typeof answer === 'object' && answer?.status === 429,
    ).length
    expect(after).toBe(before)
  })
})
