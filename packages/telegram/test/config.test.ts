/** The config: everything that is wrong is told at once, each with its place and what to do. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, startGateway } from '../src/index.ts'
import { envOf } from './support/scene.ts'

const ENV = { AUTH_SECRET: 'sixteen-letters-x' }

const read = (yaml: string, env: Record<string, string> = {}, slugs: readonly string[] = ['factory']) =>
  readConfig({ yaml, env: { ...ENV, ...envOf(slugs), ...env } })

const wrong = (yaml: string, env: Record<string, string> = {}, slugs?: readonly string[]) =>
  read(yaml, env, slugs).problems.map(({ place, problem }) => `${place}: ${problem}`)

/** What is wrong with a bot that runs this. */
const ofProgram = (program: string) =>
  read(
    `bots:\n  factory:\n    handler: command\n    async: true\n    requireAuth: false\n    command: { run: ['${program}', 'x'] }`,
  ).problems

const started = (options: object): Promise<unknown> => startGateway(options as never)

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
      logLevel: 'info',
    })
  })

  test('A says how much is logged: in the YAML, or by LOG_LEVEL, and a level that there is not is refused', () => {
    const yaml = 'logLevel: warn\nbots:\n  a: { handler: echo, requireAuth: false }'
    expect(read(yaml, {}, ['a']).config?.logLevel).toBe('warn')
    expect(read(yaml, { LOG_LEVEL: 'debug' }, ['a']).config?.logLevel).toBe('debug')
    expect(read(yaml, { LOG_LEVEL: 'loud' }, ['a']).problems).toMatchObject([
      { level: 'error', place: 'LOG_LEVEL', fix: 'Write debug, info, warn, error, silent' },
    ])
  })

  test('A a gateway that is given too little says which option is missing', async () => {
    await expect(started({})).rejects.toMatchObject({ code: 'OPTION_INVALID', field: 'config' })
    await expect(started({ config: null })).rejects.toMatchObject({ field: 'config' })
    await expect(started({ config: {} })).rejects.toThrow('config: has no bots, listen, retention, apiRoot')
    await expect(started({ confg: {} })).rejects.toThrow('Did you mean "config"?')
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
  Bad_Slug:
    handler: eco
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
        'bots.Bad_Slug.handler (line 5): is "eco", which nobody knows',
        'bots.factory.token (line 9): must not be in this file',
        'bots.factory.handler (line 7): is "ecko", which nobody knows',
        'bots.factory.async (line 8): needs a database, and store is none',
        'bots.factory.concurency (line 10): is not a setting',
        'BOT_FACTORY_TOKEN: is not set',
        'BOT_FACTORY_SECRET: is no secret that Telegram takes',
        'bots.hooks.http (line 13): has no url',
        'bots.hooks.http.timeout (line 13): is not between 1 ms and 30 s',
        'bots.runs (line 14): runs a command while Telegram waits',
        'bots.runs.command.run (line 14): is no command',
        'bots.door.requireAuth (line 15): would lock everybody out of the bot that lets them in',
        'AUTH_SECRET: is not set, and Bad_Slug, factory, hooks, runs, door cannot let anybody in without',
      ]),
    )
    expect(read('bots: {}').config).toBeNull()
  })

  test('A3 a slug that is none is one error, and nothing that follows from it', () => {
    const yaml =
      'bots:\n  Bad_Slug: { handler: http, http: { url: "http://x/" }, requireAuth: false }\n  bad-slug: { handler: echo, requireAuth: false }'
    expect(wrong(yaml, {}, ['bad-slug'])).toEqual(['bots.Bad_Slug (line 2): is no slug'])
  })

  test('a program that is not there, or cannot be run, is told before an update comes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'telegram-'))
    writeFileSync(join(folder, 'text'), '')
    expect([ofProgram('sh'), ofProgram('/bin/sh')]).toEqual([[], []])
    for (const [program, fix] of [
      ['no-such-program', 'Install it, or pass its absolute path'],
      ['./here', 'Pass a path that starts with /, or a name that PATH resolves'],
      ['/no/such/program', 'Install it there and make it executable'],
      [join(folder, 'text'), 'Install it there and make it executable'],
      [folder, 'Install it there and make it executable'],
    ] as const)
      expect(ofProgram(program)).toEqual([
        {
          level: 'error',
          place: 'bots.factory.command.run (line 6)',
          problem: `begins with ${JSON.stringify(program)}, which this user cannot run`,
          fix,
        },
      ])
  })

  test.each([
    ['bots: {}', 'has no bots'],
    ['- 1', 'the config","problem":"is a list'],
    ['bots: 5', 'names with values are expected'],
    ['bots:\n  factory: { handler: echo }\ndedupe: 23h', 'shorter than the 24 hours'],
    ['bots:\n  factory: { handler: echo }\nstore: postgres://me:secret@here/x', 'has a password in it'],
    ['bots:\n  factory: { handler: echo }\npublicUrl: tg.example.org', 'https://tg.example.org'],
    ['bots:\n  factory: { handler: echo }\nlisten: nowhere', 'host:port'],
    ['bots:\n  factory: { handler: echo, allowedUsers: [ada] }', 'is no user id'],
    ['bots:\n  factory: { handler: echo, allowedUsers: [] }', 'is empty, so that nobody could use the bot'],
    ['allowedUsers: []\nbots:\n  factory: { handler: echo }', 'is empty, so that nobody could use the bot'],
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

  test('a bot as a whole is told by the line of its slug, and YAML that is none by the line alone', () => {
    expect(wrong('bots:\n\n  factory:\n    async: true\n  a.b:\n    handler: echo')).toEqual(
      expect.arrayContaining(['bots.factory (line 3): has no handler', 'bots.a.b (line 5): is no slug']),
    )
    const { config, problems } = read('bots:\n  factory: {\n', { QUEUE_STUCK_TIMEOUT: '1s' })
    expect(config).toBeNull()
    expect(problems.map(({ place, problem }) => `${place}: ${problem}`)).toEqual([
      'the config (line 3, column 1): is no YAML: Flow map in block collection must be sufficiently indented and end with a }',
      'QUEUE_STUCK_TIMEOUT: is shorter than two signs of life of a process',
    ])
    expect(wrong('bots: 5')).toEqual(
      expect.arrayContaining(['bots (line 1): is 5, and names with values are expected']),
    )
    expect(wrong('bots: 5').join()).not.toContain('has no bots')
  })

  test('what was mistyped is told with what may be meant', () => {
    const { problems } = read(
      'mod: polling\nbots:\n  factory: { handler: ecko, concurency: 3, replies: at-most-one }\nauth: { scope: [factori] }',
      { BOT_FACTORY_TOKN: 'x', BOT_FACTRY_SECRET: 'x', BOT_OTHER_SECRET: 'x', BOT_BLANK_TOKEN: ' ' },
    )
    expect(Object.fromEntries(problems.map(({ place, fix }) => [place, fix]))).toMatchObject({
      'mod (line 1)': expect.stringMatching(/^Did you mean mode\? There are admin, /) as string,
      'bots.factory.handler (line 3)': 'Did you mean echo? There are auth, command, echo, http, job',
      'bots.factory.concurency (line 3)': expect.stringContaining('Did you mean concurrency?') as string,
      'bots.factory.replies (line 3)': expect.stringContaining('Did you mean at-most-once?') as string,
      'auth.scope (line 4)': 'Did you mean factory? There are *, factory',
      BOT_FACTORY_TOKN: 'Did you mean BOT_FACTORY_TOKEN?',
      BOT_FACTRY_SECRET: 'Did you mean BOT_FACTORY_SECRET?',
      BOT_OTHER_SECRET: expect.stringContaining('Take it away') as string,
    })
    expect(problems.filter(({ level }) => level === 'warning').map(({ place }) => place)).toEqual([
      'BOT_FACTORY_TOKN',
      'BOT_FACTRY_SECRET',
      'BOT_OTHER_SECRET',
      'bots',
    ])
  })

  test('a number without a unit is no duration', () => {
    const yaml =
      'bots:\n  factory: { handler: echo, requireAuth: false, retry: { backoff: [1] } }\nauth: { sessionTtl: 24 }'
    expect(read(yaml).problems).toMatchObject([
      { place: 'bots.factory.retry.backoff (line 2)', problem: 'is 1 without a unit' },
      {
        place: 'auth.sessionTtl (line 3)',
        problem: 'is 24 without a unit',
        fix: "Write '24s', '24m' or '24h'",
      },
    ])
  })

  test('what would fail when an update comes is told at the start', () => {
    const job =
      'bots:\n  factory:\n    handler: job\n    requireAuth: false\n    job: { kind: bad kind, queue: "a, b" }\n'
    expect(wrong(`${job}publicUrl: https://x.example:9000/y?a=1`)).toEqual([
      'bots.factory.job.kind (line 5): is "bad kind", which nothing in a mill can be called',
      'bots.factory.job.queue (line 5): is "a, b", which nothing in a mill can be called',
      'publicUrl (line 6): has something behind its path',
      'publicUrl (line 6): has the port 9000, which Telegram does not call',
    ])
    const echo = 'bots:\n  factory: { handler: echo, requireAuth: false }\n'
    expect(wrong(echo, { DATABASE_URL: 'none' })).toEqual(['DATABASE_URL: is none'])
    expect(wrong(`${echo}store: none`, { DATABASE_URL: 'x.db' })).toEqual([
      'store (line 3): is none, and DATABASE_URL is set',
    ])
    expect(wrong(echo, { ALLOWED_USERS: '16,0x10,1e3' })).toEqual([
      'ALLOWED_USERS: has something that is no user id',
    ])
    const own = { yaml: 'bots:\n  factory: { handler: send, requireAuth: false }\n', handlers: ['send'] }
    expect(readConfig({ ...own, env: { ...ENV, ...envOf(['factory']) } }).problems).toMatchObject([
      { place: 'bots.factory.handler (line 2)', problem: 'is what jobs of replies are called' },
    ])
  })

  test('what is in the YAML or in a variable is told where it was written', () => {
    const bots = 'bots:\n  factory: { handler: echo, requireAuth: false }\n'
    const yaml = `${bots}auth:\n  sessionTtl: soon\nlisten: 99999\nadmin: [1]\npublicUrl: x\nstore: mysql://me:secret@h/x\nallowedUsers: 5`
    expect(wrong(yaml)).toEqual(
      expect.arrayContaining([
        'auth.sessionTtl (line 4): is no duration that can be used ("soon")',
        'listen (line 5): has the port 99999, and the last there is is 65535',
        'admin (line 6): is a list, which is no address',
        'publicUrl (line 7): is "x"',
        'store (line 8): is the address of no database that we know',
        'allowedUsers (line 9): has something that is no user id',
      ]),
    )
    const env = {
      AUTH_SESSION_TTL: 'soon',
      LISTEN: 'here',
      ADMIN_LISTEN: '1:99999',
      PUBLIC_URL: 'x',
      DATABASE_URL: 'mysql://me:secret@h/x',
      ALLOWED_USERS: 'ada',
      TELEGRAM_API_ROOT: 'ftp://x',
    }
    const { problems } = read(bots, env)
    expect(problems.filter(({ level }) => level === 'error').map(({ place }) => place)).toEqual(
      expect.arrayContaining(Object.keys(env)),
    )
    expect(JSON.stringify([problems, read(yaml).problems])).not.toContain('secret@')
    expect(read(`${bots}listen: 8080\nadmin: ':9090'`).config).toMatchObject({
      listen: { host: '127.0.0.1', port: 8_080 },
      admin: { host: '0.0.0.0', port: 9_090 },
    })
  })

  test('E31 a secret is needed, and a bot that has the token of another is refused', () => {
    const yaml = 'bots:\n  a: { handler: echo }\n  b: { handler: echo }'
    const env = { ...envOf(['a', 'b']), BOT_A_SECRET: '', BOT_B_TOKEN: '7000:abcdefghijklmnop' }
    expect(wrong(yaml, env)).toEqual(
      expect.arrayContaining(['BOT_A_SECRET: is not set', 'bots.b (line 3): has the token of a']),
    )
  })

  test('E31 sources are networks, and what is none is refused', () => {
    const bots = 'bots:\n  factory: { handler: echo, requireAuth: false }\n'
    const networks = (yaml: string) => read(`${bots}${yaml}`).config?.sources?.networks
    expect(networks('')).toBeUndefined()
    expect(networks('sources: telegram')).toEqual([
      { address: '149.154.160.0', prefix: 20, family: 'ipv4' },
      { address: '91.108.4.0', prefix: 22, family: 'ipv4' },
    ])
    expect(networks('sources: [10.0.0.7, "2001:db8::/32"]')).toEqual([
      { address: '10.0.0.7', prefix: 32, family: 'ipv4' },
      { address: '2001:db8::', prefix: 32, family: 'ipv6' },
    ])
    for (const one of ['10.0.0.0/33', '10.0.0/8', 'here', '10.0.0.0/8/8', '10.0.0.0/', '7'])
      expect(wrong(`${bots}sources: ["${one}"]`)).toEqual([
        `sources (line 3): has ${JSON.stringify(one)}, which is no network`,
      ])
    expect(wrong(`${bots}sources: []`)).toHaveLength(1)
    expect(wrong(`${bots}sourceHeader: X-Real-IP`)).toEqual([
      'sourceHeader (line 3): is not used without sources',
    ])
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

  test('counts where the config says otherwise', () => {
    const both = `${yaml}\nlisten: 127.0.0.1:1\napiRoot: https://one.example\nstore: one.db\n`
    const env = { LISTEN: '127.0.0.1:2', TELEGRAM_API_ROOT: 'https://two.example', DATABASE_URL: 'two.db' }
    expect(read(both, env, ['factory', 'door']).config).toMatchObject({
      listen: { port: 2 },
      apiRoot: 'https://two.example',
      database: 'two.db',
    })
  })

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

  test('keeps for ever what it is told to', () => {
    const kept = { QUEUE_DONE_RETENTION: 'forever', QUEUE_DEAD_RETENTION: 'forever' }
    expect(of(kept)).toMatchObject({ problems: [], config: { retention: { doneMs: null, deadMs: null } } })
    expect(of({ QUEUE_DEAD_RETENTION: '2d' })).toMatchObject({
      config: { retention: { deadMs: 172_800_000 } },
    })
  })

  test('has addresses without a slash at the end, and without names and passwords', () => {
    const ends = { TELEGRAM_API_ROOT: 'http://here:1/', PUBLIC_URL: 'https://tg.example.org/sub/' }
    expect(of(ends)).toMatchObject({
      problems: [],
      config: { apiRoot: 'http://here:1', publicUrl: 'https://tg.example.org/sub' },
    })
    for (const name of ['TELEGRAM_API_ROOT', 'PUBLIC_URL']) {
      const { config, problems } = of({ [name]: 'https://me:hidden@example.org' })
      expect([config, problems]).toMatchObject([
        null,
        [{ place: name, problem: 'has a name or a password in it' }],
      ])
      expect(JSON.stringify(problems)).not.toContain('hidden')
    }
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
