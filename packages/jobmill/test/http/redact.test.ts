// What viewers do not see: by key, in pairs of a name and a value, in JSON inside of a text, and in URLs. And what they do see.
import { expect, test } from 'vitest'
import { redactor, SECRET_KEYS } from '../../src/http/redact.ts'

const hide = redactor(SECRET_KEYS)

const SECRETS = `
  password passwd Password userPassword password_confirmation passwordHash passphrase passcode pass
  db_pass dbPass smtp.pass pw pwd userPw user-pwd pin auth bearerValue secret clientSecret secrets
  SECRET_KEY token tokens accessToken refresh_token x-csrf-token jwt idJwt JWT_VALUE dsn sentryDsn
  SENTRY_DSN connectionString connection_string connStr apiKey api_key X-Api-Key accessKey
  AWS_SECRET_ACCESS_KEY privateKey signingKey sshKey encryption_key authorization Proxy-Authorization
  cookie Set-Cookie credentials`
  .trim()
  .split(/\s+/)

const HARMLESS = `
  keyboard monkey passenger passengers compass bypass trespass passport passed passes passive key keys
  dedupeKey orderKey publicKey primaryKey foreignKey keyName hotkey turkey secretary secretariat author
  authors authority authenticated tokenizer tokenCount spin pinned shipping opinion pwnedAt dsnView
  string connections accessKeyId masterKeyboard value name text`
  .trim()
  .split(/\s+/)

test('S6 secrets are hidden by their keys, and harmless keys are not', () => {
  expect(SECRETS.filter((key) => Object.values(hide({ [key]: 'x' }))[0] !== '(hidden)')).toEqual([])
  expect(HARMLESS.filter((key) => Object.values(hide({ [key]: 'x' }))[0] !== 'x')).toEqual([])
  expect(SECRETS.length + HARMLESS.length).toBeGreaterThan(90)
})

const same = (value: unknown) => [value, value] as const

test.each<readonly [given: unknown, seen: unknown]>([
  // Counts, and whether there is one.
  same({ tokens: 12, maxTokens: 100, hasPassword: true, password: null, cookieConsent: false }),
  [
    { pin: 1234, token: 7 },
    { pin: '(hidden)', token: '(hidden)' },
  ],
  [
    { password: { hash: 'x' }, tokens: ['a'] },
    { password: '(hidden)', tokens: '(hidden)' },
  ],
  // A name and a value.
  [
    { key: 'password', value: 'x' },
    { key: 'password', value: '(hidden)' },
  ],
  [
    [
      { name: 'API_KEY', value: 'x' },
      { name: 'LANG', value: 'C' },
    ],
    [
      { name: 'API_KEY', value: '(hidden)' },
      { name: 'LANG', value: 'C' },
    ],
  ],
  [
    {
      headers: [
        ['authorization', 'Basic x'],
        ['accept', '*/*'],
      ],
    },
    {
      headers: [
        ['authorization', '(hidden)'],
        ['accept', '*/*'],
      ],
    },
  ],
  same({ fields: ['password', 'email'], name: 'password', kind: 'reset' }),
  // JSON inside of a text, also inside of another.
  [{ body: '{"password":"x","n":1}' }, { body: '{"password":"(hidden)","n":1}' }],
  [
    JSON.stringify({ a: JSON.stringify({ jwt: 'x' }) }),
    JSON.stringify({ a: JSON.stringify({ jwt: '(hidden)' }) }),
  ],
  same('{ "n": 10000000000000000001 }'),
  same('{ no json, password: x }'),
  // URLs.
  ['postgres://app:s3cret@db:5432/app', 'postgres://app:(hidden)@db:5432/app'],
  [
    'see https://ada:p@ss@example.org/x?a=1 and redis://:pw@cache',
    'see https://ada:(hidden)@example.org/x?a=1 and redis://:(hidden)@cache',
  ],
  ['https://x.org/?a=1&token=abc#part', 'https://x.org/?a=1&token=(hidden)#part'],
  ['https://b.blob.net/f?sv=1&sig=abc%3D', 'https://b.blob.net/f?sv=1&sig=(hidden)'],
  same('https://example.org:8080/path?q=keyboard&page=2, mail ada@example.org at 10:30'),
  same('git@github.com:a/b.git, ssh://git@github.com, 5 tokens = 3 words'),
])('S6 %j is seen as %j', (given, seen) => expect(hide(given)).toEqual(seen))

test('S6 flags that make an expression remember where it stopped do not matter, and patterns of yours hide everything', () => {
  const given = { ssn: 1, a: { ssn: true }, b: [{ ssn: null }, { ssn: 'x' }, { ssn: 'x' }], password: 'x' }
  const seen = {
    ssn: '(hidden)',
    a: { ssn: '(hidden)' },
    b: [{ ssn: '(hidden)' }, { ssn: '(hidden)' }, { ssn: '(hidden)' }],
    password: 'x',
  }
  for (const flags of ['', 'g', 'y', 'gi', 'gy'])
    expect(redactor([new RegExp('ssn', flags)])(given)).toEqual(seen)
  expect(redactor([])({ password: 'x', url: 'a://b:c@d' })).toEqual({ password: 'x', url: 'a://b:c@d' })
})

test('S6 long texts take no longer than they are long', () => {
  for (const part of ['://', '://a:', '?a', '&token', 'a.', '[', '{"a":'])
    expect(hide(part.repeat(100_000))).toHaveLength(part.length * 100_000)
})
