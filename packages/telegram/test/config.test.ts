/** The config: everything that is wrong is told at once, each with its place and what to do. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/index.ts'
import { envOf } from './support/scene.ts'

const ENV = { AUTH_SECRET: 'sixteen-letters-x' }

const read = (yaml: string, env: Record<string, string> = {}, slugs: readonly string[] = ['factory']) =>
  readConfig({ yaml, env: { ...ENV, ...envOf(slugs), ...env } })

const wrong = (yaml: string, env: Record<string, string> = {}, slugs?: readonly string[]) =>
  read(yaml, env, slugs).problems.map(({ place, problem }) => `${place}: ${problem}`)

describe('A3 a bot', () => {
  test('needs no more than a slug and a handler; the rest has defaults', () => {
    const { config, problems } = read('bots:\n  factory: { handler: echo }\n  door: { handler: auth }', {}, [
      'factory',
      'door',
    ])
    expect(problems).toEqual([])
    const [factory, door] = config?.bots ?? []
    expect(factory).toMatchObject({
      slug: 'factory',
      id: 7_000,
      async: false,
      ordered: false,
      requireAuth: true,
      allowedUsers: null,
      replies: 'at-least-once',
      retry: { attempts: 5, backoffMs: [30_000, 120_000, 600_000, 3_600_000], jitter: 0.2 },
    })
    expect(door?.requireAuth).toBe(false)
    expect(config).toMatchObject({
      database: 'telegram.db',
      auth: { ttlMs: 86_400_000, scope: ['*'] },
      dedupeMs: 7 * 86_400_000,
      retention: { doneMs: 7 * 86_400_000, deadMs: null, everyMs: 3_600_000 },
      leaseMs: null,
    })
  })

  test('that is async keeps the order of its chats unless it says otherwise', () => {
    const bots = read(
      'bots:\n  a: { handler: echo, async: true, requireAuth: false }\n  b: { handler: echo, async: true, ordered: false, requireAuth: false }',
      {},
      ['a', 'b'],
    ).config?.bots
    expect(bots?.map(({ ordered }) => ordered)).toEqual([true, false])
  })

  test('may say all that there is to say', () => {
    const { config, problems } = read(`
bots:
  factory:
    handler: http
    async: true
    requireAuth: false
    allowedUsers: [5, 6]
    concurrency: 3
    replies: at-most-once
    deadNotice: Oh no.
    retry: { attempts: 2, backoff: [1s, 2m], jitterPercent: 0 }
    http: { url: 'http://10.0.0.1/x', timeout: 30s }`)
    expect(problems).toEqual([])
    expect(config?.bots[0]).toMatchObject({
      allowedUsers: new Set([5, 6]),
      concurrency: 3,
      replies: 'at-most-once',
      words: { dead: 'Oh no.' },
      retry: { attempts: 2, backoffMs: [1_000, 120_000], jitter: 0 },
      http: { url: 'http://10.0.0.1/x', timeoutMs: 30_000, secret: 'signs-what-is-sent' },
    })
  })

  test('A3 all that is wrong is told at once, with its line', () => {
    const told = wrong(
      `
store: none
bots:
  Bad_Slug: { handler: echo }
  factory:
    handler: ecko
    async: true
    token: 123:abc
    concurency: 3
  hooks:
    handler: http
    http: { timeout: 31s }
  runs: { handler: command, command: { run: [] } }
  door: { handler: auth, requireAuth: true }`,
      { AUTH_SECRET: '', BOT_FACTORY_TOKEN: '', BOT_FACTORY_SECRET: 'with blanks' },
      ['factory', 'hooks', 'runs', 'door'],
    )
    expect(told).toEqual(
      expect.arrayContaining([
        'bots.Bad_Slug (line 4): is no slug',
        'bots.factory.token (line 8): must not be in this file',
        'bots.factory.handler (line 6): is "ecko", which nobody knows',
        'bots.factory.async (line 7): needs a database, and store is none',
        'bots.factory.concurency (line 9): is not a setting',
        'BOT_FACTORY_TOKEN: is not set',
        'BOT_FACTORY_SECRET: is no secret that Telegram takes',
        'bots.hooks.http (line 12): has no url',
        'bots.hooks.http.timeout (line 12): is not between 1 ms and 30 s',
        'bots.runs (line 13): runs a command while Telegram waits',
        'bots.runs.command.run (line 13): is no command',
        'bots.door.requireAuth (line 14): would lock everybody out of the bot that lets them in',
        'AUTH_SECRET: is not set, and factory, hooks, runs, door cannot let anybody in without',
      ]),
    )
    expect(read('bots: {}').config).toBeNull()
  })

  test.each([
    ['bots: {}', 'has no bots'],
    ['bots: [', 'Mend the YAML'],
    ['bots: 5', 'names with values are expected'],
    ['bots:\n  factory: { handler: echo }\ndedupe: 23h', 'shorter than the 24 hours'],
    ['bots:\n  factory: { handler: echo }\nstore: postgres://me:secret@here/x', 'has a password in it'],
    ['bots:\n  factory: { handler: echo }\npublicUrl: tg.example.org', 'https://tg.example.org'],
    ['bots:\n  factory: { handler: echo }\nlisten: nowhere', 'host:port'],
    ['bots:\n  factory: { handler: echo, allowedUsers: [ada] }', 'is no user id'],
    ['bots:\n  factory: { handler: echo, http: { url: x } }', 'is for the handler http'],
    ['bots:\n  factory: { handler: echo, retry: { backoff: [soon] } }', 'no duration'],
    ['auth: { scope: [other] }\nbots:\n  factory: { handler: echo }', 'which is no bot'],
    ['bots:\n  factory: { handler: auth, async: true }', 'keep the codes'],
    ['store: none\nbots:\n  factory: { handler: job, job: { kind: x } }', 'needs a database'],
    ['store: none\nbots:\n  factory: { handler: echo, replies: at-most-once }', 'needs a database'],
    ['bots:\n  factory: { handler: http, http: { url: "http://me:secret@x/" } }', 'a name or a password'],
    [
      'bots:\n  factory: { handler: echo }\n  factory-http: { handler: echo }',
      'would share BOT_FACTORY_HTTP_SECRET',
    ],
    ['auth: { scope: [] }\nbots:\n  factory: { handler: echo }', 'has to name bots'],
    ['apiRoot: nonsense\nbots:\n  factory: { handler: echo }', 'api.telegram.org'],
    ['listen: 127.0.0.1:9\nadmin: 127.0.0.1:9\nbots:\n  factory: { handler: echo }', 'a port of its own'],
  ])('%j is refused', (yaml, words) => {
    const { config, problems } = read(yaml)
    expect(config).toBeNull()
    expect(JSON.stringify(problems)).toContain(words)
  })

  test('E31 a secret is needed, and a bot that has the token of another is refused', () => {
    const yaml = 'bots:\n  a: { handler: echo }\n  b: { handler: echo }'
    const env = { ...envOf(['a', 'b']), BOT_A_SECRET: '', BOT_B_TOKEN: '7000:abcdefghijklmnop' }
    expect(wrong(yaml, env)).toEqual(
      expect.arrayContaining(['BOT_A_SECRET: is not set', 'bots.b: has the token of a']),
    )
  })

  test('secrets come from files too, and two of them are one too many', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'telegram-')), 'token')
    writeFileSync(file, '4711:abcdefghijklmnop\n')
    const yaml = 'bots:\n  factory: { handler: echo }'
    const { config } = read(yaml, { BOT_FACTORY_TOKEN: '', BOT_FACTORY_TOKEN_FILE: file })
    expect(config?.bots[0]?.id).toBe(4_711)
    expect(wrong(yaml, { BOT_FACTORY_TOKEN_FILE: file })).toContain(
      'BOT_FACTORY_TOKEN: is set, and so is BOT_FACTORY_TOKEN_FILE',
    )
    expect(wrong(yaml, { BOT_FACTORY_TOKEN: '', BOT_FACTORY_TOKEN_FILE: `${file}x` }).join()).toContain(
      'cannot be read (ENOENT)',
    )
  })
})

describe('A4 the environment', () => {
  const yaml = 'bots:\n  factory: { handler: echo }\n  door: { handler: auth }'
  const of = (env: Record<string, string>) => read(yaml, env, ['factory', 'door'])

  test('sets what the predecessor understood', () => {
    expect(
      of({
        DATABASE_URL: 'postgres://here/x',
        AUTH_SESSION_TTL: '2h',
        ALLOWED_USERS: '1, 2,,3',
        QUEUE_DONE_RETENTION: '0s',
        QUEUE_JANITOR_INTERVAL: '30m',
        QUEUE_STUCK_TIMEOUT: '20s',
      }),
    ).toMatchObject({
      problems: [],
      config: {
        database: 'postgres://here/x',
        auth: { ttlMs: 7_200_000 },
        retention: { doneMs: 0, everyMs: 1_800_000 },
        leaseMs: 20_000,
        bots: [{ allowedUsers: new Set([1, 2, 3]) }, { allowedUsers: new Set([1, 2, 3]) }],
      },
    })
  })

  test('E4 a stuck timeout that delays recovery is warned of; E12 one that frees everything is refused', () => {
    expect(of({ QUEUE_STUCK_TIMEOUT: '30m' }).problems).toMatchObject([
      { level: 'warning', place: 'QUEUE_STUCK_TIMEOUT' },
    ])
    expect(of({ QUEUE_STUCK_TIMEOUT: '900ms' }).config).toBeNull()
  })

  test.each(['QUEUE_DONE_RETENTION', 'QUEUE_JANITOR_INTERVAL', 'AUTH_SESSION_TTL'])(
    'a negative %s is refused',
    (name) => {
      expect(of({ [name]: '-5s' }).config).toBeNull()
    },
  )

  test('a blank variable is unset, and ids that are none are refused', () => {
    expect(of({ ALLOWED_USERS: ' ', DATABASE_URL: '' })).toMatchObject({
      problems: [],
      config: { database: 'telegram.db' },
    })
    expect(of({ ALLOWED_USERS: '1,ada' }).config).toBeNull()
  })
})
