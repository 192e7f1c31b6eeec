/**
 * The process is killed between any two steps: nothing is lost, order is kept, and no reply is duplicated if
 * its arrival can be known. One process dies at all points at once, with one chat for each, and the next
 * process recovers all of them.
 */
import { openTables } from 'jobmill-tables'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { freePort } from '../../../test/support/free-port.ts'
import type { FakeChat, FakeTelegram, TranscriptEntry } from '../src/fake/types.ts'
import { FAULT_POINTS, type FaultPoint } from '../src/index.ts'
import { codes } from '../src/sessions/codes.ts'
import { sessions } from '../src/sessions/sessions.ts'
import { type Schema, STEPS } from '../src/sessions/steps.ts'
import { type GatewayChild, startChild } from './support/child.ts'
import { leasesAreOver } from './support/leases-are-over.ts'
import { PATIENCE_MS, patientTelegram } from './support/patient-telegram.ts'
import { AUTH_SECRET, envOf, freshDatabase, saidBy, STORES, type StoreName } from './support/scene.ts'

const RETRY = { attempts: 2, backoff: ['0s'], jitterPercent: 0 }
const MOODY = { handler: 'moody', requireAuth: false, retry: RETRY }
const BOTS = {
  durable: { ...MOODY, async: true },
  direct: MOODY,
  careful: { ...MOODY, async: true, replies: 'at-most-once' },
  'careful-direct': { ...MOODY, replies: 'at-most-once' },
  gated: { ...MOODY, async: true, requireAuth: true },
  'gated-direct': { ...MOODY, requireAuth: true },
  door: { handler: 'auth', retry: RETRY },
}
type Slug = keyof typeof BOTS
const SLUGS = Object.keys(BOTS) as Slug[]

/** The messages of a chat and their expected answers. `{code}` is a one-time code. */
const TALKS = {
  talk: { texts: ['one', 'two', 'three'], last: 'last', answers: ['one', 'two', 'three', 'last'] },
  dead: { texts: ['poison'], last: 'last', answers: ['something went wrong', 'last'] },
  prompt: { texts: ['hello'], last: 'last', answers: ['log in first', 'log in first'] },
  /** They had a session when they wrote. */
  lapsed: { texts: ['hello'], last: 'last', answers: ['log in first', 'log in first'] },
  moved: { texts: ['one', 'two', 'three'], last: 'last', answers: ['one', 'two', 'three', 'last'] },
  login: { texts: ['/auth {code}'], last: '/whoami', answers: ['Welcome', 'user id'] },
  wrong: { texts: ['/auth nonsense'], last: '/auth nonsense', answers: ['left: 4', 'left: 3'] },
} as const
type Talk = keyof typeof TALKS

type Case = readonly [FaultPoint, Slug, Talk]
const both = (point: FaultPoint, slugs: readonly Slug[], talk: Talk = 'talk'): Case[] =>
  slugs.map((slug) => [point, slug, talk])
const CAREFUL: readonly Slug[] = ['careful', 'careful-direct']
const EVERY: readonly Slug[] = ['durable', 'direct', ...CAREFUL]

const CALLED: readonly Case[] = [
  ...both('webhook.received', ['durable', 'direct']),
  ...both('webhook.stored', ['durable', 'direct']),
  ...both('webhook.stored', ['gated', 'gated-direct'], 'prompt'),
  ...both('webhook.stored', ['direct'], 'dead'),
  ...both('update.begun', ['durable', 'direct']),
  ...both('update.begun', ['door'], 'login'),
  ...both('update.handled', EVERY),
  ...both('update.handled', ['door'], 'login'),
  ...both('update.prompted', ['gated', 'gated-direct'], 'lapsed'),
  ...both('dead.begun', EVERY, 'dead'),
  ...both('login.tried', ['door'], 'login'),
  ...both('login.tried', ['door'], 'wrong'),
  ...both('login.opened', ['door'], 'login'),
  ...both('send.begun', EVERY),
  ...both('send.accepted', EVERY),
  ...both('send.begun', ['durable', 'direct'], 'dead'),
  ...both('send.accepted', EVERY, 'dead'),
  ...both('send.begun', ['gated', 'gated-direct'], 'prompt'),
  ...both('send.accepted', ['durable', 'careful'], 'moved'),
  ...both('send.moved', ['durable', 'careful'], 'moved'),
]
const POLLED: readonly Case[] = [
  ...both('poll.received', ['durable', 'direct']),
  ...both('poll.taken', ['durable', 'direct', 'careful-direct']),
  ...both('poll.taken', ['direct'], 'dead'),
]
const nameOf = (one: Case): string => one.join(' ')

test('there is a case for every point', () => {
  const points = new Set([...CALLED, ...POLLED].map(([point]) => point))
  expect(FAULT_POINTS.filter((point) => !points.has(point))).toEqual([])
})

test('P3 without a database, an update whose process died before the response is redelivered and answered', async () => {
  const fake = await patientTelegram({ retryScale: 0.05 })
  const env = envOf(['direct'])
  const token = env['BOT_DIRECT_TOKEN'] ?? ''
  fake.addBot({ token, username: 'direct_bot' })
  const listen = `127.0.0.1:${await freePort()}`
  const yaml = {
    apiRoot: fake.url,
    listen,
    publicUrl: `http://${listen}`,
    store: 'none',
    admin: false,
    bots: { direct: MOODY },
  }
  const start = (stands: readonly string[]): Promise<GatewayChild> =>
    startChild({ ...env, YAML: JSON.stringify(yaml), DATABASE_URL: '', STANDS: JSON.stringify(stands) })
  // One whose handler has not started, one whose handler has ended, and one whose reply is not sent.
  const points = ['update.begun', 'update.handled', 'send.begun'] satisfies FaultPoint[]
  const talks = points.map((point) => ({ point, chat: fake.chat({ bot: token, id: (chats += 1) }) }))
  const children: GatewayChild[] = []
  try {
    const first = await start(talks.map(({ point, chat }) => `${point} ${chat.id}`))
    children.push(first)
    for (const { chat } of talks) for (const text of ['one', 'two']) chat.says(text)
    expect((await first.ended)[1]).toBe('SIGKILL')
    expect(talks.flatMap(({ chat }) => saidBy(chat))).toEqual([])
    children.push(await start([]))
    for (const { chat } of talks) {
      await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
      expect(saidBy(chat)).toEqual(['did one', 'did two'])
    }
  } finally {
    for (const { child } of children) child.kill('SIGKILL')
    await fake.close()
  }
})

/**
 * At these points the update is already stored and its job runs on, so the kill may hit any moment of its
 * send.
 */
const GOES_ON: readonly FaultPoint[] = ['webhook.stored', 'poll.taken']

describe.each(STORES)('a gateway on %s that is killed', (store) => {
  // Each mode takes two processes, whatever the number of cases, so each runs on one store.
  const called = inFull(CALLED, store === 'postgres' ? CALLED : [])
  const polled = inFull(POLLED, store === 'sqlite' ? POLLED : [])
  let transcripts: ReadonlyMap<string, string[]> = new Map()
  const closing: (() => Promise<void>)[] = []

  beforeAll(async () => {
    const both = await Promise.all([
      called.length === 0 ? [] : lives(store, 'webhook', called, closing),
      polled.length === 0 ? [] : lives(store, 'polling', polled, closing),
    ])
    transcripts = new Map(both.flatMap((one) => [...one]))
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  test.each([...called, ...polled])(
    'P3 P4 E19 E20 at %s, %s, %s: everything is answered in order, and twice only if Telegram had accepted it',
    (...one) => {
      const [point, slug, talk] = one
      const all = transcripts.get(nameOf(one)) ?? []
      const { answers } = TALKS[talk]
      const isCareful = CAREFUL.includes(slug)
      const answered = all.map((text) => answers.find((answer) => text.includes(answer)) ?? text)
      // A duplicate directly follows its original.
      const distinct =
        talk === 'prompt' || talk === 'lapsed'
          ? answered
          : answered.filter((text, at) => text !== answered[at - 1])
      // A process that died before it read Telegram's response does not know that it was a refusal.
      const isUnsure =
        point === 'send.begun' || (point === 'send.accepted' && talk === 'moved') || GOES_ON.includes(point)
      const mayLack = isCareful && isUnsure
      const expected = mayLack ? answers.filter((answer) => distinct.includes(answer)) : [...answers]
      expect(distinct).toEqual(expected)
      expect(answers.length - distinct.length).toBeLessThanOrEqual(mayLack ? 1 : 0)
      const isAccepted = (point === 'send.accepted' && talk !== 'moved') || GOES_ON.includes(point)
      const mayRepeat = !isCareful && isAccepted
      expect(answered.length - distinct.length).toBeLessThanOrEqual(mayRepeat ? 1 : 0)
    },
  )
})

let chats = 80_000

/**
 * Runs one process that dies at all these points, then one that recovers; returns the messages of each chat.
 */
async function lives(
  store: StoreName,
  mode: 'webhook' | 'polling',
  cases: readonly Case[],
  closing: (() => Promise<void>)[],
): Promise<Map<string, string[]>> {
  const fake = await patientTelegram({ retryScale: 0.05 })
  closing.push(() => fake.close())
  const env: Record<string, string> = { ...envOf(SLUGS), AUTH_SECRET }
  const tokenOf = (slug: Slug): string => env[`BOT_${slug.toUpperCase().replaceAll('-', '_')}_TOKEN`] ?? ''
  for (const slug of SLUGS)
    fake.addBot({ token: tokenOf(slug), username: `${slug.replaceAll('-', '_')}_bot` })
  const [port, database] = [await freePort(), freshDatabase(store)]
  const talks = cases.map((one) => newTalk(fake, tokenOf(one[1]), one))
  await letIn(database, talks)
  const listen = `127.0.0.1:${port}`
  const yaml = {
    apiRoot: fake.url,
    listen,
    admin: false,
    bots: BOTS,
    ...(mode === 'polling' ? { mode } : { publicUrl: `http://${listen}` }),
  }
  const start = (stands: readonly string[]): Promise<GatewayChild> =>
    startChild({
      ...env,
      YAML: JSON.stringify(yaml),
      DATABASE_URL: database,
      STANDS: JSON.stringify(stands),
      LOGS_OUT: JSON.stringify(talks.filter(({ talk }) => talk === 'lapsed').map(({ chat }) => chat.id)),
    })

  const first = await start(talks.map(({ point, chat }) => `${point} ${chat.id}`))
  closing.push(async () => void first.child.kill('SIGKILL'))
  for (const { chat, texts } of talks) for (const text of texts) chat.says(text)
  const late = setTimeout(() => first.child.kill('SIGUSR2'), PATIENCE_MS)
  const [, signal] = await first.ended
  clearTimeout(late)
  if (signal !== 'SIGKILL') throw new Error(`it ended by ${signal}`)

  await leasesAreOver(database)

  const { child, ended } = await start([])
  closing.push(async () => void child.kill('SIGKILL'))
  const transcripts = new Map<string, string[]>()
  await Promise.all(
    talks.map(async ({ name, chat, there, last, answers }) => {
      chat.says(last)
      const isAnswered = (entries: readonly TranscriptEntry[]): boolean => {
        const texts = entries.flatMap(({ by, text }) => (by === 'bot' ? [text] : []))
        const [final = ''] = answers.slice(-1)
        const enough = answers.filter((answer) => answer === final).length
        return texts.filter((text) => text.includes(final)).length >= enough
      }
      await there.until(isAnswered)
      transcripts.set(name, saidBy(there))
    }),
  )
  child.kill('SIGTERM')
  await ended
  return transcripts
}

interface TalkCase {
  readonly name: string
  readonly point: FaultPoint
  readonly talk: Talk
  readonly chat: FakeChat
  /** The chat that gets the answers. */
  readonly there: FakeChat
  readonly last: string
  readonly answers: readonly string[]
  texts: readonly string[]
}

function newTalk(fake: FakeTelegram, bot: string, one: Case): TalkCase {
  const [point, , talk] = one
  const id = (chats += 1)
  const { texts, last, answers } = TALKS[talk]
  const talkCase = { name: nameOf(one), point, talk, last, answers, texts }
  if (talk !== 'moved') {
    const chat = fake.chat({ bot, id })
    return { ...talkCase, chat, there: chat }
  }
  const chat = fake.chat({ bot, id: -id, type: 'group' })
  fake.chatIs(-id, 'migrated', { to: -1_000_000 - id })
  return { ...talkCase, chat, there: fake.chat({ bot, id: -1_000_000 - id, type: 'supergroup' }) }
}

/** Creates codes for the logins, and sessions for the users whose session ends. */
async function letIn(database: string, talks: readonly TalkCase[]): Promise<void> {
  const { store, tables } = await openTables<Schema>(database, { app: 'telegram', steps: STEPS })
  await store.open()
  await tables.open()
  const issue = codes(tables, { secret: AUTH_SECRET, ttlMs: 3_600_000, scope: ['*'] }).issue
  for (const one of talks) {
    if (one.talk === 'lapsed') await sessions(tables, []).open(one.chat.id, ['*'], 3_600_000)
    if (one.talk !== 'login') continue
    const code = await issue({ scopes: ['*'], ttlMs: 3_600_000 })
    one.texts = one.texts.map((text) => text.replace('{code}', code))
  }
  await tables.close()
  await store.close()
}
