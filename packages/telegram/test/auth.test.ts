/** Sessions, codes and lockouts. On both stores. */
import { openTables } from 'jobmill-tables'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import type { FakeChat } from '../src/fake/types.ts'
import { lasting } from '../src/handlers/auth.ts'
import { startedReplies } from '../src/sessions/started-replies.ts'
import { codes } from '../src/sessions/codes.ts'
import { type Schema, STEPS } from '../src/sessions/steps.ts'
import { LOCKOUT } from '../src/sessions/wrong-tries.ts'
import { upkeepDuty } from '../src/upkeep.ts'
import { AUTH_SECRET, freshDatabase, saidBy, scene, type Scene, STORES } from './support/scene.ts'

const DAY_MS = 86_400_000

/** Sends a message and waits for the answer. */
async function ask(chat: FakeChat, text: string): Promise<string> {
  const before = saidBy(chat).length
  chat.says(text)
  await chat.until((all) => all.filter(({ by }) => by === 'bot').length > before)
  return saidBy(chat).at(-1) ?? ''
}

/** Everything that is stored about the jobs of the login bot. */
async function storedBy({ gateway: { mill } }: Scene): Promise<string> {
  const { jobs } = await mill.list({ queue: 'telegram.door' })
  const all = jobs.map(async ({ id }) => [await mill.get(id), await mill.history(id)])
  return JSON.stringify(await Promise.all(all))
}

/** A code that is also a word of a command, or the name of a bot. */
const CODE = 'Abcdefghjkmn'

async function expectNoCode(at: Scene): Promise<void> {
  const stored = await storedBy(at)
  expect(stored).toContain('"facts"')
  for (const code of [AUTH_SECRET, CODE]) expect(stored.toLowerCase()).not.toContain(code.toLowerCase())
}

test('durations are formatted correctly', () => {
  const texts = [1, 1_000, 59_001, 60_000, 90_000, 3_600_000, 86_400_000, 7 * 86_400_000].map(lasting)
  expect(texts.join()).toBe('1 second,1 second,1 minute,1 minute,2 minutes,60 minutes,24 hours,7 days')
})

describe.each(STORES)('auth on %s', (store) => {
  const test = inTurns(store, STORES)
  let at: Scene
  let user = 50_000

  beforeAll(async () => {
    at = await scene({
      store,
      fault(point, chatId) {
        if (point === 'login.tried' && failing.has(chatId)) throw new Error('not now')
      },
      handlers: {
        async waiting({ reply, text }) {
          if (text === 'later' && !isLater) throw new Error('not yet')
          reply(`did ${text}`)
        },
      },
      bots: {
        door: { handler: 'auth', retry: { attempts: 2, backoff: ['0s'] }, deadNotice: 'Try again.' },
        echo: { handler: 'echo' },
        other: { handler: 'echo', async: true },
        slow: {
          handler: 'waiting',
          async: true,
          retry: { attempts: 900, backoff: ['1s'], jitterPercent: 0 },
        },
      },
    })
  })
  afterAll(() => at.stop())
  let isLater = false
  /** Chats whose login fails after the code was checked. */
  const failing = new Set<number | null>()

  const person = () => {
    user += 1
    return {
      id: user,
      door: at.chat('door', user),
      echo: at.chat('echo', user),
      other: at.chat('other', user),
      slow: at.chat('slow', user),
    }
  }

  test('A7 /start greets, /help and anything else help', async () => {
    const { door } = person()
    expect(await ask(door, '/start')).toContain('Hello')
    for (const text of ['/help', 'what?', '/nonsense']) expect(await ask(door, text)).toContain('/auth CODE')
    expect(await ask(door, '/auth')).toContain('/auth CODE')
  })

  test('F login, use, logout: one session covers every bot, and logout ends it for all', async () => {
    const { door, echo, other, id } = person()
    expect(await ask(echo, 'hello')).toContain('Please log in first')
    expect(await ask(door, `/auth ${AUTH_SECRET}`)).toMatch(
      /^Welcome! You are logged in to every bot for 24 hours\.$/,
    )
    expect(await ask(echo, 'hello')).toBe('hello')
    expect(await ask(other, 'durably')).toBe('durably')
    expect(await ask(door, '/whoami')).toMatch(new RegExp(`user id ${id}\\).*every bot for 24 hours`))
    expect(await ask(door, '/logout')).toBe('You are logged out.')
    expect(await ask(door, '/logout')).toBe('You were not logged in.')
    expect(await ask(echo, 'hello')).toContain('Please log in first')
    expect(await ask(door, '/whoami')).toContain('You are not logged in')
  })

  test('F /logout ends only the sessions of its sender', async () => {
    const [ada, bob] = [person(), person()]
    for (const { door } of [ada, bob]) await ask(door, `/auth ${AUTH_SECRET}`)
    expect(await ask(ada.door, '/logout')).toBe('You are logged out.')
    expect(await ask(ada.echo, 'hello')).toContain('Please log in first')
    expect(await ask(bob.echo, 'hello')).toBe('hello')
  })

  test('E27 a failed login leaves no code behind: its message is deleted, and the user is notified at the end', async () => {
    const { door, id } = person()
    failing.add(id)
    door.says(`/auth ${AUTH_SECRET}`)
    await door.until(([first]) => first?.deleted === true)
    await door.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(door)).toEqual(['Try again.'])
    failing.delete(id)
    expect(await ask(door, `/auth ${AUTH_SECRET}`)).toContain('Welcome')
  })

  test('E27 a command for another bot is ignored, but its code is deleted', async () => {
    const { door, echo } = person()
    door.says(`/auth@other_bot ${AUTH_SECRET}`)
    door.says('/whoami@other_bot')
    expect(await ask(door, '/whoami@Door_Bot')).toContain('You are not logged in')
    expect(saidBy(door)).toHaveLength(1)
    await door.until(([first]) => first?.deleted === true)
    expect(await ask(echo, 'hello')).toContain('Please log in first')
  })

  test('E27 a code is never stored: not when a polled login fails, nor when its process stops immediately', async () => {
    let mood: 'fails' | 'hangs' | 'well' = 'fails'
    const options = {
      store,
      yaml: { mode: 'polling' },
      bots: { door: { handler: 'auth', retry: { attempts: 9, backoff: ['0s'], jitterPercent: 0 } } },
      fault(point: string) {
        if (point !== 'login.tried' || mood === 'well') return undefined
        if (mood === 'hangs') return hangs.promise
        mood = 'well'
        throw new Error('not now')
      },
    }
    const hangs = Promise.withResolvers<void>()
    const first = await scene(options)
    const { database, fake: telegram } = first
    const [one, other] = [first.chat('door'), first.chat('door')]
    one.says(`/auth ${AUTH_SECRET}`)
    await one.until((all) => all.some(({ text }) => text.startsWith('Welcome')))
    await expectNoCode(first)
    mood = 'hangs'
    other.says(`/auth ${AUTH_SECRET}`)
    const tried = async () => (await first.gateway.sessions.of(other.id)).length
    expect(await tried()).toBe(0)
    await telegram.until(() =>
      telegram.calls.some(
        ({ method, answer }) =>
          method === 'getUpdates' && JSON.stringify(answer).includes(`"id":${other.id}`),
      ),
    )
    const stopped = first.gateway.stop()
    first.gateway.hurry()
    await stopped
    mood = 'well'
    const second = await scene({ ...options, database, telegram })
    await other.until((all) => all.some(({ text }) => text.startsWith('Welcome')))
    other.says(`/auth@${CODE}`)
    for (const text of [`/auth${CODE}`, `/${CODE} x`, CODE, `/whoami ${CODE}`]) await ask(other, text)
    await expectNoCode(second)
    await second.stop()
    await telegram.close()
  })

  test('E28 a session belongs to one bot, not to another bot that takes over its slug', async () => {
    const database = freshDatabase(store)
    const bots = { shop: { handler: 'echo', async: true }, door: { handler: 'auth' } }
    const isOpen = async (id: number) => {
      const one = await scene({ store, database, bots, ids: { shop: id, door: 7_000 } })
      if (id === 7_001) await one.gateway.sessions.open(4_242, ['shop'], 60_000)
      expect(await one.gateway.sessions.of(4_242)).toMatchObject([{ scope: 'shop' }])
      const answer = await one.gateway.sessions.isOpen(4_242, 'shop')
      await one.stop()
      return answer
    }
    expect([await isOpen(7_001), await isOpen(7_002)]).toEqual([true, false])
  })

  test('E27 a message with a code is deleted, right or wrong', async () => {
    const { door } = person()
    await ask(door, '/auth wrong')
    await ask(door, `/auth ${AUTH_SECRET}`)
    await door.until((all) => all.filter(({ deleted }) => deleted).length === 2)
    expect(
      door
        .transcript()
        .filter(({ deleted }) => deleted)
        .map(({ text }) => text),
    ).toEqual(['/auth wrong', `/auth ${AUTH_SECRET}`])
  })

  test('E27 so is every message that may contain a code, from anonymous admins too; only bare commands stay', async () => {
    const code = (await at.gateway.codes?.issue({ scopes: ['*'], ttlMs: 60_000 })) ?? ''
    const carrying = [
      `/auth@door_bot ${code}`,
      `/auth${code}`,
      '/authABC23',
      'auth nearly-right',
      '/login x',
      AUTH_SECRET,
      `is it ${AUTH_SECRET}?`,
      `my code: ${code.toLowerCase()}.`,
      // Deleted like a wrong guess: deletions must not reveal which guess is right.
      'sixteen-letters-y',
      'I cannot log in today',
    ]
    const others = ['/auth', '/start', '/auth@door_bot', '/login', '/whoami']
    const doors = [...carrying, ...others].map((text) => ({ text, door: person().door }))
    await Promise.all(doors.map(({ text, door }) => ask(door, text)))
    const group = at.fake.chat({ bot: at.tokenOf('door'), id: -user, type: 'supergroup' })
    const anonymous = { from: { id: 1_087_968_824, is_bot: true }, sender_chat: { id: group.id } }
    group.says(`/auth ${AUTH_SECRET}`, { message: anonymous })
    await group.until(([first]) => first?.deleted === true)
    const deleted = () => doors.flatMap(({ text, door }) => (door.transcript()[0]?.deleted ? [text] : []))
    await expect.poll(deleted).toEqual(carrying)
  })

  test('a message that cannot be deleted delays no answer, and is not retried for hours', async () => {
    const { door } = person()
    at.fake.next('deleteMessage', { error: 429, retryAfter: 60 })
    expect(await ask(door, `/auth ${AUTH_SECRET}`)).toContain('Welcome')
    const { mill } = at.gateway
    const filter = { queue: 'telegram.door.send', payloadText: 'deleteMessage', state: 'scheduled' } as const
    const jobs = async () => (await mill.list(filter)).jobs
    await expect.poll(async () => (await jobs()).length).toBe(1)
    expect(await mill.get((await jobs())[0]?.id ?? '')).toMatchObject({ maxAttempts: 3, orderKey: null })
  })

  test('E27 five wrong codes lock out the sender, even with the right code, and no other user', async () => {
    const { door } = person()
    for (const left of [4, 3, 2, 1])
      expect(await ask(door, '/auth guess')).toContain(`Attempts left: ${left}`)
    expect(await ask(door, '/auth guess')).toContain('Too many wrong codes. Please try again in 15 minutes')
    expect(await ask(door, `/auth ${AUTH_SECRET}`)).toContain('Too many wrong codes')
    expect(await ask(person().door, `/auth ${AUTH_SECRET}`)).toContain('Welcome')
  })

  test('E27 many senders together disable the shared secret, and no other user is locked out; a repeated attempt counts once', async () => {
    let now = Date.now()
    const { tables, store: jobs } = await openTables<Schema>(freshDatabase(store), {
      app: 'telegram',
      steps: STEPS,
      clock: () => now,
    })
    await tables.open()
    let shut = 0
    const own = codes(
      tables,
      { secret: AUTH_SECRET, ttlMs: 60_000, scope: ['*'] },
      { onShut: () => void (shut += 1) },
    )
    const guess = (userId: number, key: string, code = 'guess') =>
      own.try({ userId, sealed: own.seal(code), key })
    for (const times of [1, 2, 3])
      expect([times, await guess(1, 'the same')]).toEqual([times, { outcome: 'wrong', triesLeft: 4 }])
    for (let user = 2; user <= LOCKOUT.tries; user += 1)
      expect(await guess(user, `by ${user}`)).toMatchObject({ outcome: 'wrong' })
    expect(shut).toBe(1)
    // The answer is the same for right and wrong codes, so that an attacker learns nothing.
    for (const code of [AUTH_SECRET, 'guess'])
      expect(await guess(900, `then ${code}`, code)).toEqual({ outcome: 'shut', forMs: LOCKOUT.forMs })
    const once = await own.issue({ scopes: ['echo'], ttlMs: 60_000 })
    expect(await guess(900, 'with a code', once)).toEqual({ outcome: 'right', scopes: ['echo'] })
    now += LOCKOUT.forMs
    expect(await guess(900, 'later', AUTH_SECRET)).toMatchObject({ outcome: 'right' })
    // They are kept only as long as an update can repeat.
    const duty = upkeepDuty({ tables, replies: startedReplies(tables, jobs) }, DAY_MS)
    now += DAY_MS + 1
    await duty.run({} as never)
    for (const name of ['telegram_try', 'telegram_wrong'] as const)
      expect(await tables.db.selectFrom(name).selectAll().execute()).toEqual([])
    await tables.close()
  })

  test('E27 a code works once, for its user, until it expires', async () => {
    const codes = at.gateway.codes
    const [ada, bob] = [person(), person()]
    const once = (await codes?.issue({ scopes: ['*'], ttlMs: 60_000 })) ?? ''
    expect(await ask(ada.door, `/auth ${once.toLowerCase()}`)).toContain('Welcome')
    expect(await ask(bob.door, `/auth ${once}`)).toContain('not valid')
    const hers = (await codes?.issue({ scopes: ['*'], ttlMs: 60_000, userId: ada.id })) ?? ''
    expect(await ask(bob.door, `/auth ${hers}`)).toContain('not valid')
    expect(await ask(ada.door, `/auth ${hers}`)).toContain('Welcome')
    const over = (await codes?.issue({ scopes: ['*'], ttlMs: 0 })) ?? ''
    expect(await ask(bob.door, `/auth ${over}`)).toContain('not valid')
  })

  test('E28 a session covers the bots of its code', async () => {
    const { door, echo, other } = person()
    const code = (await at.gateway.codes?.issue({ scopes: ['echo'], ttlMs: 60_000 })) ?? ''
    expect(await ask(door, `/auth ${code}`)).toContain('logged in to echo')
    expect(await ask(echo, 'hi')).toBe('hi')
    expect(await ask(other, 'hi')).toContain('Please log in first')
  })

  test('a login that is delivered again is the same login', async () => {
    const { door } = person()
    const code = (await at.gateway.codes?.issue({ scopes: ['*'], ttlMs: 60_000 })) ?? ''
    const attempt = { userId: door.id, sealed: at.gateway.codes?.seal(code) ?? '', key: 'telegram 1:2' }
    expect(await at.gateway.codes?.try(attempt)).toMatchObject({ outcome: 'right' })
    expect(await at.gateway.codes?.try(attempt)).toMatchObject({ outcome: 'right' })
    expect(await at.gateway.codes?.try({ ...attempt, key: 'telegram 1:3' })).toMatchObject({
      outcome: 'wrong',
    })
  })

  test('E29 a session that ended while the job was queued is detected when it runs', async () => {
    const { door, slow } = person()
    await ask(door, `/auth ${AUTH_SECRET}`)
    isLater = false
    slow.says('later')
    await expect
      .poll(
        async () =>
          (await at.gateway.mill.counts()).find(({ queue }) => queue === 'telegram.slow')?.scheduled,
      )
      .toBeGreaterThan(0)
    expect(await ask(door, '/logout')).toBe('You are logged out.')
    isLater = true
    await slow.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(slow)).toEqual([expect.stringContaining('Please log in first')])
  })

  test('A8 a session expires', async () => {
    const { door, echo } = person()
    await at.gateway.sessions.open(door.id, ['*'], 0)
    expect(await ask(echo, 'x')).toContain('Please log in first')
    await at.gateway.sessions.open(door.id, ['*'], 60_000)
    expect(await ask(echo, 'x')).toBe('x')
  })
})
