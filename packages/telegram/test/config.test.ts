/** The config: all problems are reported at once, each with its place and fix. */
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

/** The problems of a bot that runs this program. */
const ofProgram = (program: string) =>
  read(
    `bots:\n  factory:\n    handler: command\n    async: true\n    requireAuth: false\n    command: { run: ['${program}', 'x'] }`,
  ).problems

const started = (options: object): Promise<unknown> => startGateway(options as never)

describe('A3 a bot', () => {
  test('needs only a slug and a handler; the rest has defaults', () => {
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

  test('A the log level comes from the YAML or LOG_LEVEL, and an unknown level is refused', () => {
    const yaml = 'logLevel: warn\nbots:\n  a: { handler: echo, requireAuth: false }'
    expect(read(yaml, {}, ['a']).config?.logLevel).toBe('warn')
    expect(read(yaml, { LOG_LEVEL: 'debug' }, ['a']).config?.logLevel).toBe('debug')
    expect(read(yaml, { LOG_LEVEL: 'loud' }, ['a']).problems).toMatchObject([
      { level: 'error', place: 'LOG_LEVEL', fix: 'Use one of debug, info, warn, error, silent' },
    ])
  })

  test('N5 ADMIN_LISTEN=false turns Mission Control off, as the setting does', () => {
    const bots = 'bots:\n  a: { handler: echo, requireAuth: false }'
    for (const { config, problems } of [
      read(bots, { ADMIN_LISTEN: 'false' }, ['a']),
      read(`admin: false\n${bots}`, {}, ['a']),
    ])
      expect([config?.admin, problems]).toEqual([null, []])
  })

  test('N5 startGateway refuses options of a wrong type by name', async () => {
    for (const given of [undefined, null, 5, []])
      await expect(started(given as never)).rejects.toThrow(/^options: must be an object/)
    const { config } = read('bots:\n  a: { handler: echo, requireAuth: false }', {}, ['a'])
    for (const [option, value, field = option] of [
      ['handlers', 5],
      ['handlers', { echo: 5 }, 'handlers.echo'],
      ['admin', 5],
      ['admin', { token: 'x' }, 'admin.token'],
      ['fault', 5],
      ['random', 5],
      ['platform', 5],
      ['handlerMs', Number.NaN],
    ] as const)
      await expect(started({ config, [option]: value })).rejects.toMatchObject({ field })
  })

  test('A startGateway names the missing option', async () => {
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

  test('may set every setting', () => {
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

  test('A3 all problems are reported at once, with their lines', () => {
    const problems = wrong(
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
    expect(problems).toEqual(
      expect.arrayContaining([
        'bots.Bad_Slug (line 4): must be a slug',
        'bots.Bad_Slug.handler (line 5): must be a known handler (got "eco")',
        'bots.factory.token (line 9): must not be in this file',
        'bots.factory.handler (line 7): must be a known handler (got "ecko")',
        'bots.factory.async (line 8): needs a database, but store is none',
        'bots.factory.concurency (line 10): is an unknown setting',
        'BOT_FACTORY_TOKEN: is not set',
        'BOT_FACTORY_SECRET: must be a secret that Telegram accepts',
        'bots.hooks.http (line 13): has no url',
        'bots.hooks.http.timeout (line 13): must be between 1 ms and 30 s',
        'bots.runs (line 14): must be async to run a command',
        'bots.runs.command.run (line 14): must be a command',
        'bots.door.requireAuth (line 15): must not be true for the bot that opens sessions',
        'AUTH_SECRET: is not set, but these bots need it for logins: Bad_Slug, factory, hooks, runs, door',
      ]),
    )
    expect(read('bots: {}').config).toBeNull()
  })

  test('A3 an invalid slug is one error, without follow-up errors', () => {
    const yaml =
      'bots:\n  Bad_Slug: { handler: http, http: { url: "http://x/" }, requireAuth: false }\n  bad-slug: { handler: echo, requireAuth: false }'
    expect(wrong(yaml, {}, ['bad-slug'])).toEqual(['bots.Bad_Slug (line 2): must be a slug'])
  })

  test('a program that is missing or not executable is reported at the start', () => {
    const folder = mkdtempSync(join(tmpdir(), 'telegram-'))
    writeFileSync(join(folder, 'text'), '')
    expect([ofProgram('sh'), ofProgram('/bin/sh')]).toEqual([[], []])
    for (const [program, fix] of [
      ['no-such-program', 'Install it, or pass its absolute path'],
      ['./here', 'Pass a path that starts with /, or a name that PATH resolves'],
      ['/no/such/program', 'Install it at this path and make it executable'],
      [join(folder, 'text'), 'Install it at this path and make it executable'],
      [folder, 'Install it at this path and make it executable'],
    ] as const)
      expect(ofProgram(program)).toEqual([
        {
          level: 'error',
          place: 'bots.factory.command.run (line 6)',
          problem: `must start with a program that this user can run (got ${JSON.stringify(program)})`,
          fix,
        },
      ])
  })

  test.each([
    ['bots: {}', 'has no bots'],
    ['- 1', 'the config","problem":"must be a section of settings (got a list)'],
    ['bots: 5', 'must be a section of settings'],
    ['bots:\n  factory: { handler: echo }\ndedupe: 23h', 'must be at least 24h'],
    [
      'bots:\n  factory: { handler: echo }\nstore: postgres://me:secret@here/x',
      'must not contain a password',
    ],
    ['bots:\n  factory: { handler: echo }\npublicUrl: tg.example.org', 'https://tg.example.org'],
    ['bots:\n  factory: { handler: echo }\nlisten: nowhere', 'host:port'],
    ['bots:\n  factory: { handler: echo, allowedUsers: [ada] }', 'must be a list of user ids'],
    ['bots:\n  factory: { handler: echo, allowedUsers: [] }', 'must not be empty'],
    ['allowedUsers: []\nbots:\n  factory: { handler: echo }', 'must not be empty'],
    ['bots:\n  factory: { handler: echo, http: { url: x } }', 'only applies to the handler http'],
    ['bots:\n  factory: { handler: echo, retry: { backoff: [soon] } }', 'must be a duration'],
    ['auth: { scope: [other] }\nbots:\n  factory: { handler: echo }', 'names an unknown bot'],
    ['bots:\n  factory: { handler: auth, async: true }', 'would store login codes'],
    ['store: none\nbots:\n  factory: { handler: job, job: { kind: x } }', 'needs a database'],
    ['store: none\nbots:\n  factory: { handler: echo, replies: at-most-once }', 'needs a database'],
    ['bots:\n  factory: { handler: http, http: { url: "http://me:secret@x/" } }', 'a user name or password'],
    [
      'bots:\n  factory: { handler: echo }\n  factory-http: { handler: echo }',
      'would share BOT_FACTORY_HTTP_SECRET',
    ],
    ['auth: { scope: [] }\nbots:\n  factory: { handler: echo }', 'must be a list of bot slugs'],
    ['apiRoot: nonsense\nbots:\n  factory: { handler: echo }', 'api.telegram.org'],
    ['listen: 127.0.0.1:9\nadmin: 127.0.0.1:9\nbots:\n  factory: { handler: echo }', 'Use another port'],
  ])('%j is refused', (yaml, words) => {
    const { config, problems } = read(yaml)
    expect(config).toBeNull()
    expect(JSON.stringify(problems)).toContain(words)
  })

  test('a problem of a whole bot names the line of its slug, and a YAML error only its line', () => {
    expect(wrong('bots:\n\n  factory:\n    async: true\n  a.b:\n    handler: echo')).toEqual(
      expect.arrayContaining(['bots.factory (line 3): has no handler', 'bots.a.b (line 5): must be a slug']),
    )
    const { config, problems } = read('bots:\n  factory: {\n', { QUEUE_STUCK_TIMEOUT: '1s' })
    expect(config).toBeNull()
    expect(problems.map(({ place, problem }) => `${place}: ${problem}`)).toEqual([
      'the config (line 3, column 1): is not valid YAML: Flow map in block collection must be sufficiently indented and end with a }',
      'QUEUE_STUCK_TIMEOUT: must be at least 6s',
    ])
    expect(wrong('bots: 5')).toEqual(
      expect.arrayContaining(['bots (line 1): must be a section of settings (got 5)']),
    )
    expect(wrong('bots: 5').join()).not.toContain('has no bots')
  })

  test('typos get suggestions', () => {
    const { problems } = read(
      'mod: polling\nbots:\n  factory: { handler: ecko, concurency: 3, replies: at-most-one }\nauth: { scope: [factori] }',
      { BOT_FACTORY_TOKN: 'x', BOT_FACTRY_SECRET: 'x', BOT_OTHER_SECRET: 'x', BOT_BLANK_TOKEN: ' ' },
    )
    expect(Object.fromEntries(problems.map(({ place, fix }) => [place, fix]))).toMatchObject({
      'mod (line 1)': expect.stringMatching(/^Did you mean mode\? Use one of admin, /) as string,
      'bots.factory.handler (line 3)': 'Did you mean echo? Use one of auth, command, echo, http, job',
      'bots.factory.concurency (line 3)': expect.stringContaining('Did you mean concurrency?') as string,
      'bots.factory.replies (line 3)': expect.stringContaining('Did you mean at-most-once?') as string,
      'auth.scope (line 4)': 'Did you mean factory? Use one of *, factory',
      BOT_FACTORY_TOKN: 'Did you mean BOT_FACTORY_TOKEN?',
      BOT_FACTRY_SECRET: 'Did you mean BOT_FACTORY_SECRET?',
      BOT_OTHER_SECRET: expect.stringContaining('Unset it') as string,
    })
    expect(problems.filter(({ level }) => level === 'warning').map(({ place }) => place)).toEqual([
      'BOT_FACTORY_TOKN',
      'BOT_FACTRY_SECRET',
      'BOT_OTHER_SECRET',
      'bots',
    ])
  })

  test('a duration needs a unit', () => {
    const yaml =
      'bots:\n  factory: { handler: echo, requireAuth: false, retry: { backoff: [1] } }\nauth: { sessionTtl: 24 }'
    expect(read(yaml).problems).toMatchObject([
      { place: 'bots.factory.retry.backoff (line 2)', problem: 'must have a unit (got 1)' },
      {
        place: 'auth.sessionTtl (line 3)',
        problem: 'must have a unit (got 24)',
        fix: "Write '24s', '24m' or '24h'",
      },
    ])
  })

  test('settings that would fail with the first update are reported at the start', () => {
    const job =
      'bots:\n  factory:\n    handler: job\n    requireAuth: false\n    job: { kind: bad kind, queue: "a, b" }\n'
    expect(wrong(`${job}publicUrl: https://x.example:9000/y?a=1`)).toEqual([
      'bots.factory.job.kind (line 5): must be a valid name (got "bad kind")',
      'bots.factory.job.queue (line 5): must be a valid name (got "a, b")',
      'publicUrl (line 6): must not have a query or a fragment',
      'publicUrl (line 6): has port 9000, which Telegram does not support',
    ])
    const echo = 'bots:\n  factory: { handler: echo, requireAuth: false }\n'
    expect(wrong(echo, { DATABASE_URL: 'none' })).toEqual(['DATABASE_URL: must not be none'])
    expect(wrong(`${echo}store: none`, { DATABASE_URL: 'x.db' })).toEqual([
      'store (line 3): is none, but DATABASE_URL is set',
    ])
    expect(wrong(echo, { ALLOWED_USERS: '16,0x10,1e3' })).toEqual([
      'ALLOWED_USERS: must be a list of user ids',
    ])
    const own = { yaml: 'bots:\n  factory: { handler: send, requireAuth: false }\n', handlers: ['send'] }
    expect(readConfig({ ...own, env: { ...ENV, ...envOf(['factory']) } }).problems).toMatchObject([
      { place: 'bots.factory.handler (line 2)', problem: 'is reserved for reply jobs' },
    ])
  })

  test.each([
    [
      'bots:\n  factory:\n    handler: echo\n    requireAuth: false\n    allowedUsers:\n',
      'bots.factory.allowedUsers (line 5)',
    ],
    [
      'bots:\n  factory: { handler: echo, requireAuth: false }\nallowedUsers:\n#  - 1\n',
      'allowedUsers (line 3)',
    ],
    [
      'allowedUsers: [5]\nbots:\n  factory: { handler: echo, requireAuth: false, allowedUsers: ~ }\n',
      'bots.factory.allowedUsers (line 3)',
    ],
    [
      'bots:\n  factory: { handler: echo, requireAuth: false }\nsources:\n#  - 10.0.0.0/8\n',
      'sources (line 3)',
    ],
    [
      'bots:\n  factory: { handler: echo }\n  door: { handler: auth }\nauth:\n  scope:\n',
      'auth.scope (line 5)',
    ],
    [
      'bots:\n  factory: { handler: echo }\n  door: { handler: auth }\nauth:\n#  scope: [factory]\n',
      'auth (line 4)',
    ],
    ['bots:\n  factory:\n    handler: echo\n    requireAuth:\n', 'bots.factory.requireAuth (line 4)'],
    ['bots:\n', 'bots (line 1)'],
    ['bots:\n  factory:\n', 'bots.factory (line 2)'],
  ])('S a setting without a value is refused: %j', (yaml, place) => {
    const { config, problems } = read(yaml, {}, ['factory', 'door'])
    expect(config).toBeNull()
    expect(problems.filter(({ level }) => level === 'error')).toEqual([
      { level: 'error', place, problem: 'has no value', fix: 'Remove the key, or give it a value' },
    ])
  })

  test('S an empty ALLOWED_USERS is refused, because it would let everyone in', () => {
    const { config, problems } = read('bots:\n  factory: { handler: echo, requireAuth: false }\n', {
      ALLOWED_USERS: ' ',
    })
    expect(config).toBeNull()
    expect(problems).toEqual([
      {
        level: 'error',
        place: 'ALLOWED_USERS',
        problem: 'has no value',
        fix: 'Unset it, or list user ids: 123456789,987654321',
      },
    ])
  })

  test.each([
    [
      'bots:\n  factory: { handler: http, requireAuth: false, http: { signed: false, url: "htps://u:PASS@h/x?token=QUERY" } }\n',
      {},
    ],
    ['bots:\n  factory: { handler: http, requireAuth: false, http: { signed: false, url: "h/PASS" } }\n', {}],
    ['publicUrl: "tg.example/PASS"\nbots:\n  factory: { handler: echo, requireAuth: false }\n', {}],
    ['apiRoot: "htps://u:PASS@h"\nbots:\n  factory: { handler: echo, requireAuth: false }\n', {}],
    [
      'bots:\n  factory: { handler: echo, requireAuth: false }\n',
      { PUBLIC_URL: 'htps://u:PASS@h/x?token=QUERY' },
    ],
    [
      'bots:\n  factory: { handler: echo, requireAuth: false }\n',
      { TELEGRAM_API_ROOT: 'http://h/x?token=QUERY' },
    ],
    ['bots:\n  factory: { handler: echo, requireAuth: false }\n', { TELEGRAM_API_ROOT: 'http://h/x#QUERY' }],
  ])('S low a wrong URL is refused, and not repeated: %j %j', (yaml, env) => {
    const { config, problems } = read(yaml, env)
    expect(config).toBeNull()
    expect(JSON.stringify(problems)).not.toMatch(/PASS|QUERY/)
  })

  test('N low an IPv6 address is listened on without its brackets', () => {
    const bots = 'bots:\n  factory: { handler: echo, requireAuth: false }\n'
    expect(read(bots, { ADMIN_LISTEN: '[::1]:9', LISTEN: '[::]:8' }).config).toMatchObject({
      admin: { host: '::1', port: 9 },
      listen: { host: '::', port: 8 },
    })
    for (const ADMIN_LISTEN of ['[::1:9', '[nowhere]:9', '[127.0.0.1]:9', '[]:9', '[::1]'])
      expect([ADMIN_LISTEN, read(bots, { ADMIN_LISTEN }).problems]).toMatchObject([
        ADMIN_LISTEN,
        [
          {
            level: 'error',
            place: 'ADMIN_LISTEN',
            problem: expect.stringContaining('must be an address') as string,
          },
        ],
      ])
  })

  test('a problem names the YAML line or the variable that it comes from', () => {
    const bots = 'bots:\n  factory: { handler: echo, requireAuth: false }\n'
    const yaml = `${bots}auth:\n  sessionTtl: soon\nlisten: 99999\nadmin: [1]\npublicUrl: x\nstore: mysql://me:secret@h/x\nallowedUsers: 5`
    expect(wrong(yaml)).toEqual(
      expect.arrayContaining([
        'auth.sessionTtl (line 4): must be a duration (got "soon")',
        'listen (line 5): must have a port of at most 65535 (got 99999)',
        'admin (line 6): must be an address (got a list)',
        'publicUrl (line 7): must be an http or https URL',
        'store (line 8): must be a PostgreSQL URL or a SQLite file',
        'allowedUsers (line 9): must be a list of user ids',
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

  test('E31 a secret is required, and two bots with the same token are refused', () => {
    const yaml = 'bots:\n  a: { handler: echo }\n  b: { handler: echo }'
    const env = { ...envOf(['a', 'b']), BOT_A_SECRET: '', BOT_B_TOKEN: '7000:abcdefghijklmnop' }
    expect(wrong(yaml, env)).toEqual(
      expect.arrayContaining([
        'BOT_A_SECRET: is not set',
        'bots.b (line 3): has a token of the same Telegram bot as a',
      ]),
    )
  })

  test('E31 sources are networks, and anything else is refused', () => {
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
        `sources (line 3): must contain only addresses and networks (got ${JSON.stringify(one)})`,
      ])
    expect(wrong(`${bots}sources: []`)).toHaveLength(1)
    expect(wrong(`${bots}sourceHeader: X-Real-IP`)).toEqual([
      'sourceHeader (line 3): has no effect without sources',
    ])
  })

  test('secrets may come from files, but not from both places', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'telegram-')), 'token')
    writeFileSync(file, '4711:abcdefghijklmnop\n')
    const yaml = 'bots:\n  factory: { handler: echo }'
    const { config } = read(yaml, { BOT_FACTORY_TOKEN: '', BOT_FACTORY_TOKEN_FILE: file })
    expect(config?.bots[0]?.id).toBe(4_711)
    expect(wrong(yaml, { BOT_FACTORY_TOKEN_FILE: file })).toContain(
      'BOT_FACTORY_TOKEN: must not be set together with BOT_FACTORY_TOKEN_FILE',
    )
    expect(wrong(yaml, { BOT_FACTORY_TOKEN: '', BOT_FACTORY_TOKEN_FILE: `${file}x` }).join()).toContain(
      'cannot be read (ENOENT)',
    )
  })
})

describe('A4 the environment', () => {
  const yaml = 'bots:\n  factory: { handler: echo }\n  door: { handler: auth }'
  const of = (env: Record<string, string>) => read(yaml, env, ['factory', 'door'])

  test('overrides the config', () => {
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

  test('accepts forever as a retention', () => {
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
        [{ place: name, problem: 'must not contain a user name or password' }],
      ])
      expect(JSON.stringify(problems)).not.toContain('hidden')
    }
  })

  test('E4 a stuck timeout that delays recovery gets a warning; E12 one that is too short is refused', () => {
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

  test('a blank variable is unset, unless it restricts access, and invalid user ids are refused', () => {
    expect(of({ LISTEN: ' ', DATABASE_URL: '' })).toMatchObject({
      problems: [],
      config: { database: 'telegram.db' },
    })
    expect(of({ ALLOWED_USERS: '1,ada' }).config).toBeNull()
  })
})
