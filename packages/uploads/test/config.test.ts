/** The config: YAML overridden by the environment, with all problems at once and their places. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigInvalid, readConfig, variableOf } from '../src/config/read-config.ts'
import { NAMES } from '../src/config/shape.ts'
import { unreadVariables } from '../src/config/unread-variables.ts'
import { resolveLimits } from '../src/options.ts'
import { uploads } from '../src/uploads.ts'
import { freshFile } from '../../../test/support/databases.ts'

function fileOf(text: string): string {
  const file = path.join(path.dirname(freshFile()), 'inbox.yaml')
  writeFileSync(file, text)
  return file
}

function problemsOf(file: string | undefined, env: Record<string, string> = {}): string[] {
  try {
    readConfig(file, env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    return error.problems.map(({ place, message }) => `${place.replace(/^.*\//, '')}: ${message}`)
  }
}

const make = (options: object) => () => uploads(options as never)

describe('a config', () => {
  test('is read from YAML, and the environment overrides it', () => {
    const file = fileOf(`
database: files.db
maxFileBytes: 10MiB
quotaFiles: none
expireAfter: 36h
ackRetention: 0
metricsByMailbox: true
job: { kind: file.received, queue: files }
`)
    expect(
      readConfig(file, { DATABASE_URL: 'postgres://here/db', UPLOADS_PORT: '9000', UPLOADS_BLOBS: ' ' })
        .config,
    ).toEqual({
      database: 'postgres://here/db',
      maxFileBytes: 10 * 1_024 ** 2,
      quotaFiles: 'none',
      expireAfter: 36 * 3_600_000,
      ackRetention: 0,
      metricsByMailbox: true,
      port: 9_000,
      job: { kind: 'file.received', queue: 'files' },
    })
    expect(readConfig(fileOf(''), {}).config).toEqual({})
    expect(variableOf('maxRequestBytes')).toBe('UPLOADS_MAX_REQUEST_BYTES')
    expect(new Set(NAMES.map(variableOf)).size).toBe(NAMES.length)
  })

  test('S2 reads tokens from the file that JOBMILL_TOKENS_FILE names; M3 not together with JOBMILL_TOKENS', () => {
    const file = fileOf('tokens: from YAML')
    const tokens = 'ada admin 0123456789abcdef0123'
    const named = { JOBMILL_TOKENS_FILE: fileOf(`${tokens}\n`) }
    const read = readConfig(undefined, named)
    expect([read.config.tokens, read.placeOf('tokens')]).toEqual([tokens, 'JOBMILL_TOKENS_FILE'])
    expect(problemsOf(undefined, { ...named, JOBMILL_TOKENS: tokens })).toEqual([
      'JOBMILL_TOKENS_FILE: must not be set together with JOBMILL_TOKENS. Unset one of the two',
    ])
    expect(problemsOf(undefined, { JOBMILL_TOKENS_FILE: '/nowhere' })).toEqual([
      'JOBMILL_TOKENS_FILE: names /nowhere, which cannot be read (ENOENT). Use a file that this user can read',
    ])
    expect(readConfig(file, named).config.tokens).toBe(tokens)
    expect(problemsOf(undefined, { JOBMILL_TOKENS_FILE: fileOf(' ') })[0]).toMatch(/names an empty file/)
  })

  test('S a setting without a value is refused, not read as 0', () => {
    const problem = 'has no value. Remove the key, or give it a value'
    expect(problemsOf(fileOf('port:\nquotaFiles: ~\ntokens:\njob:\n  kind: a\n'))).toEqual([
      `inbox.yaml:1 port: ${problem}`,
      `inbox.yaml:2 quotaFiles: ${problem}`,
      `inbox.yaml:3 tokens: ${problem}`,
    ])
  })

  test.each([
    ['adminPort: false', 'adminPort', 'must be a whole number from 0 to 65535'],
    ['port: [19100]', 'port', 'must be a whole number from 0 to 65535'],
    ["port: '19100'", 'port', 'must be a whole number from 0 to 65535'],
    ["quotaFiles: ''", 'quotaFiles', 'must be a whole number from 0 to 1000000000'],
    ['maxFiles: true', 'maxFiles', 'must be a whole number from 1 to 64'],
    ["uploadsAtOnce: '0x10'", 'uploadsAtOnce', 'must be a whole number from 1 to 100000'],
  ])('A a value of a wrong type is refused, not converted: %s', (line, name, message) => {
    expect(problemsOf(fileOf(line))).toEqual([`inbox.yaml:1 ${name}: ${message}`])
  })

  test('A numbers in the environment and in options are decimal', () => {
    expect(readConfig(undefined, { UPLOADS_QUOTA_FILES: '70' }, { port: ['--port', '80'] }).config).toEqual({
      quotaFiles: 70,
      port: 80,
    })
    for (const given of ['0x10', '1e3', '7.0', '+7', '-0', 'true', '٣'])
      expect(problemsOf(undefined, { UPLOADS_PORT: given })).toEqual([
        'UPLOADS_PORT: must be a whole number from 0 to 65535',
      ])
  })

  test('A sets the log level, and an unknown level is refused', () => {
    expect(readConfig(fileOf('logLevel: warn'), {}).config).toEqual({ logLevel: 'warn' })
    expect(readConfig(fileOf('logLevel: warn'), { UPLOADS_LOG_LEVEL: 'debug' }).config.logLevel).toBe('debug')
    expect(problemsOf(undefined, { UPLOADS_LOG_LEVEL: 'loud' })).toEqual([
      'UPLOADS_LOG_LEVEL: must be one of debug, info, warn, error, silent',
    ])
  })

  test('N5 uploads() refuses options of a wrong type by name', () => {
    const parts = { tables: { transaction() {} }, blobs: { read() {} } }
    for (const given of [undefined, null, 5, []])
      expect(() => uploads(given as never)).toThrow(/^options: must be an object/)
    for (const [field, value] of [
      ['onError', 5],
      ['fault', 'x'],
      ['platform', 5],
      ['metricsByMailbox', 'false'],
      ['log', 5],
      ['job', 5],
      ['maxFiles', null],
      ['maxFileBytes', Number.NaN],
      ['quotaBytes', '5'],
      ['expireAfter', {}],
      ['sweepEvery', null],
    ] as const)
      expect(make({ ...parts, [field]: value })).toThrow(
        expect.objectContaining({ name: 'JobmillError', field }),
      )
  })

  test('A uploads() names every missing option', () => {
    expect(make({})).toThrow(
      expect.objectContaining({
        code: 'OPTIONS_INVALID',
        problems: [
          expect.objectContaining({
            option: 'tables',
            message: expect.stringContaining('tables: is missing. Pass ') as string,
          }),
          expect.objectContaining({
            option: 'blobs',
            message: expect.stringContaining('blobs: is missing. Pass ') as string,
          }),
        ],
      }),
    )
    expect(make({ tables: 'uploads.db', blobs: {} })).toThrow(/tables: is invalid[^]*blobs: is invalid/)
    expect(make({ table: {} })).toThrow('Did you mean "tables"?')
  })

  test('reports all problems at once, each with its place and fix', () => {
    const file = fileOf(
      'port: 99999\nackRetention: -1s\nquotaBytes: lots\nfoo: 1\njob: { queue: x }\nprot: 1\n',
    )
    expect(problemsOf(file, { UPLOADS_MAX_FILES: '65', UPLOADS_SWEEP_EVERY: 'soon' })).toEqual([
      'inbox.yaml:1 port: must be a whole number from 0 to 65535',
      'UPLOADS_MAX_FILES: must be a whole number from 1 to 64',
      "inbox.yaml:3 quotaBytes: must be a number of bytes or a size such as '100MiB'",
      "inbox.yaml:2 ackRetention: must be a duration in ms, s, m, h and d, such as '90s', '1h30m' or '24h'; 0 means immediately",
      "UPLOADS_SWEEP_EVERY: must be a duration in ms, s, m, h and d, such as '90s', '1h30m' or '24h', of at least 1 s",
      'inbox.yaml job.kind: must be a string',
      `inbox.yaml:4 foo: is an unknown setting. Use one of ${NAMES.join(', ')}`,
      `inbox.yaml:6 prot: is an unknown setting. Did you mean port? Use one of ${NAMES.join(', ')}`,
    ])
  })

  test('knows the place of every value', () => {
    const file = fileOf('database: a.db\nbind: ::1\nport: 1\n')
    const { placeOf } = readConfig(file, { UPLOADS_BIND: '127.0.0.1' }, { port: ['--port', '2'] })
    const names = ['database', 'bind', 'port', 'blobs'] as const
    expect(names.map(placeOf)).toEqual([`${file}:1 database`, 'UPLOADS_BIND', '--port', null])
  })

  test('refuses files larger than a request', () => {
    const file = fileOf('maxFileBytes: 2MiB\nmaxRequestBytes: 1MiB\n')
    const message =
      'inbox.yaml:1 maxFileBytes: must not exceed maxRequestBytes (1MiB). Lower it, or raise maxRequestBytes'
    expect(problemsOf(file)).toEqual([message])
    expect(problemsOf(file, { UPLOADS_MAX_REQUEST_BYTES: '2MiB' })).toEqual([])
    expect(problemsOf(undefined, { UPLOADS_MAX_FILE_BYTES: '257MiB' })).toEqual([
      expect.stringMatching(/^UPLOADS_MAX_FILE_BYTES: must not exceed maxRequestBytes \(256MiB\)/),
    ])
    expect(() => resolveLimits({ maxFileBytes: 11, maxRequestBytes: 10 })).toThrow(
      /^maxFileBytes: must not exceed/,
    )
    // By default, a file may be as large as a request.
    expect(resolveLimits({ maxRequestBytes: 10 })).toMatchObject({ maxFileBytes: 10, maxRequestBytes: 10 })
  })

  test('reports unused variables', () => {
    const env = { UPLOADS_PROT: '1', UPLOADS_MAXFILEBYTES: '1', UPLOADS_NONSENSE: '1', UPLOADS_EMPTY: ' ' }
    const known = { UPLOADS_URL: 'x', UPLOADS_TOKEN_FILE: 'x', UPLOADS_PORT: '1', OTHER_PROT: '1' }
    expect(unreadVariables({ ...env, ...known }).map(({ place, message }) => `${place}: ${message}`)).toEqual(
      [
        'UPLOADS_PROT: is set, but not used. Did you mean UPLOADS_PORT?',
        'UPLOADS_MAXFILEBYTES: is set, but not used. Did you mean UPLOADS_MAX_FILE_BYTES?',
        expect.stringMatching(
          /^UPLOADS_NONSENSE: is set, but not used\. Unset it, or use one of UPLOADS_BLOBS, /,
        ),
      ],
    )
  })

  test('reports a file that is missing, invalid YAML, or not a map', () => {
    // One error with its place, without follow-up errors.
    expect(problemsOf(fileOf('b: 1\na: [1\nc'))).toEqual([
      expect.stringMatching(/^inbox\.yaml \(line 3, column 1\): is not valid YAML: .*[^:]\. Check the /),
    ])
    expect(problemsOf(fileOf('- 1'))[0]).toContain('must be a map of settings')
    expect(problemsOf('nowhere.yaml')).toEqual([
      'nowhere.yaml: file does not exist. Pass an existing file with --config',
    ])
  })
})
