// What viewers do not see: values of secret keys, name-value pairs, secrets in JSON inside texts and in URLs.
// And what they do see.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { SECRET_KEYS, secretTest } from '../src/redact/redact-keys.ts'
import { hideInJson } from '../src/redact/redact-json-text.ts'
import { hideInLists } from '../src/redact/redact-list-text.ts'
import { hideCredentials } from '../src/redact/redact-text.ts'
import { redactor } from '../src/redact/redact.ts'

const hide = redactor(SECRET_KEYS)

const SECRETS = `
  password passwd Password userPassword password_confirmation passwordHash passphrase passcode pass
  db_pass dbPass smtp.pass pw pwd userPw user-pwd pin auth bearerValue secret clientSecret secrets
  SECRET_KEY token tokens accessToken refresh_token x-csrf-token jwt idJwt JWT_VALUE dsn sentryDsn
  SENTRY_DSN connectionString connection_string connStr apiKey api_key X-Api-Key accessKey
  AWS_SECRET_ACCESS_KEY privateKey signingKey sshKey encryption_key authorization Proxy-Authorization
  cookie Set-Cookie credentials otp totp user_otp loginOtp mfaCode sessionId session_id sessionKey token_value
  tokenHash refresh_token_v2 pswd dbpass pgpass userpass creds dbCreds aws_creds accountKey account_key authHeader
  pass_phrase pass-phrase pass_word dbPW dbPWD hmacKey hmac_key pinCode pin_code`
  .trim()
  .split(/\s+/)

const HARMLESS = `
  keyboard monkey passenger passengers compass bypass trespass passport passed passes passive key keys
  dedupeKey orderKey publicKey primaryKey foreignKey keyName hotkey turkey secretary secretariat author
  authors authority authenticated tokenizer tokenCount spin pinned shipping opinion pwnedAt dsnView
  string connections accessKeyId masterKeyboard value name text session sessions
  sessionCount adopt option tokenValuation screds accounts account keyAccount authorHeader overpass bypass2 sacred
  compass_key bypass_code pinCodes hmac spinCode`
  .trim()
  .split(/\s+/)

test('S6 secrets are hidden by their keys, and harmless keys are not', () => {
  expect(SECRETS.filter((key) => Object.values(hide({ [key]: 'x' }))[0] !== '(hidden)')).toEqual([])
  expect(HARMLESS.filter((key) => Object.values(hide({ [key]: 'x' }))[0] !== 'x')).toEqual([])
  expect(SECRETS.length + HARMLESS.length).toBeGreaterThan(90)
})

const same = (value: unknown) => [value, value] as const

test.each<readonly [input: unknown, redacted: unknown]>([
  // Counts and flags.
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
  // JSON inside a text, also nested.
  [{ body: '{"password":"x","n":1}' }, { body: '{"password":"(hidden)","n":1}' }],
  [
    JSON.stringify({ a: JSON.stringify({ jwt: 'x' }) }),
    JSON.stringify({ a: JSON.stringify({ jwt: '(hidden)' }) }),
  ],
  same('{ "n": 10000000000000000001 }'),
  ['{ no json, password: x }', '{ no json, password: (hidden) }'],
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
])('S6 %j is shown as %j', (input, redacted) => expect(hide(input)).toEqual(redacted))

/** The secret in a text, and the redacted text. */
const LEAKS: readonly (readonly [input: unknown, redacted: unknown])[] = [
  // Names and values under other keys, and pairs next to other fields.
  [[{ Name: 'DB_PASSWORD', Value: 'x' }], [{ Name: 'DB_PASSWORD', Value: '(hidden)' }]],
  [
    { key: 'a', name: 'password', value: 'x' },
    { key: 'a', name: 'password', value: '(hidden)' },
  ],
  [
    { header: 'Authorization', values: ['x'] },
    { header: 'Authorization', values: '(hidden)' },
  ],
  [
    { field: 'password', val: 'x' },
    { field: 'password', val: '(hidden)' },
  ],
  [
    { name: 'password', value: { plain: 'x' } },
    { name: 'password', value: '(hidden)' },
  ],
  [[['password', 'x']], [['password', '(hidden)']]],
  [
    [['password', 'x'], ['a', 'b', 'c'], 7],
    [['password', '(hidden)'], ['a', 'b', 'c'], 7],
  ],
  [
    ['curl', '--token', 'x', '-v'],
    ['curl', '--token', '(hidden)', '-v'],
  ],
  // URLs.
  ['https://app.example/cb#access_token=abc&state=1', 'https://app.example/cb#access_token=(hidden)&state=1'],
  ['#token=abc', '#token=(hidden)'],
  ['https://ghp_abc@github.com/a/b.git', 'https://(hidden)@github.com/a/b.git'],
  ['git+https://oauth2@abc@git.example/x', 'git+https://(hidden)@git.example/x'],
  ['redis://Zm9vYmFyYmF6cXV4MTIzNDU2@cache:6379', 'redis://(hidden)@cache:6379'],
  ['https://x.org/?token=a;b,c&n=1', 'https://x.org/?token=(hidden)&n=1'],
  // Assignments.
  ['password=hunter2', 'password=(hidden)'],
  ['password=hunter2&user=ada', 'password=(hidden)&user=ada'],
  ['Host=db;Password=hunter2;User=ada', 'Host=db;Password=(hidden);User=ada'],
  ['login failed: user=ada password="hunter 2" retry', 'login failed: user=ada password=(hidden) retry'],
  ["where token='abc'", 'where token=(hidden)'],
  ['API_KEY=abc npm run x', 'API_KEY=(hidden) npm run x'],
  ['password="cut off in the mid', 'password=(hidden)'],
  ['curl --password=hunter2 x', 'curl --password=(hidden) x'],
  ['authorization: Bearer abcdefghijklmnop.qrs', 'authorization: Bearer (hidden)'],
  // JSON inside a text: escaped, cut off, and as printed objects.
  ['sent {"password":"x","n":1} to a', 'sent {"password":"(hidden)","n":1} to a'],
  ['{\\"password\\":\\"x\\",\\"n\\":1}', '{\\"password\\":\\"(hidden)\\",\\"n\\":1}'],
  [JSON.stringify('{"password":"x"}'), JSON.stringify('{"password":"(hidden)"}')],
  ['sent {"password" : "a\\"b", "n":1}', 'sent {"password" : "(hidden)", "n":1}'],
  [
    'sent {"token":7,"jwt":["a",["b"]],"pin":{"a":"}"},"n":1}',
    'sent {"token":"(hidden)","jwt":"(hidden)","pin":"(hidden)","n":1}',
  ],
  ['{"a":1,"password":"cut off in the mid', '{"a":1,"password":"(hidden)"'],
  ["{ password: 'x', n: 1 }", "{ password: '(hidden)', n: 1 }"],
  ["{'password': 'x'}", "{'password': '(hidden)'}"],
  ['{password:"x",n:1}', '{password:"(hidden)",n:1}'],
  ['{password:\\"x\\",n:1}', '{password:\\"(hidden)\\",n:1}'],
  ['{ password: { hash: "x" }, n: 1 }', '{ password: "(hidden)", n: 1 }'],
  ['password = "x" in a file', 'password = (hidden) in a file'],
  ['{:password => "x", "token"=>"y"}', '{:password => "(hidden)", "token"=>"(hidden)"}'],
  ['password = hunter', 'password = (hidden)'],
  // Names and values in JSON inside a text, also escaped, cut off, and in reverse order.
  ['sent {"name":"password","value":"x"} to a', 'sent {"name":"password","value":"(hidden)"} to a'],
  ['sent {"name":"password","value":"cut o', 'sent {"name":"password","value":"(hidden)"'],
  ['{\\"key\\":\\"token\\",\\"value\\":\\"x\\"}', '{\\"key\\":\\"token\\",\\"value\\":\\"(hidden)\\"}'],
  ["{ name: 'password', value: 'x' }", "{ name: 'password', value: '(hidden)' }"],
  [
    'sent {"value":"x","n":{"a":1},"name":"token"} {"name":"n","value":"y"}',
    'sent {"value":"(hidden)","n":{"a":1},"name":"token"} {"name":"n","value":"y"}',
  ],
  [
    'sent {"name":"token","at":{"value":1},"value":["x",["y"]]}',
    'sent {"name":"token","at":{"value":1},"value":"(hidden)"}',
  ],
  ['sent {"value":{"a":"x"}, "name":"token"}', 'sent {"value":"(hidden)", "name":"token"}'],
  // Pairs and arguments in lists inside a text.
  ['sent [["password","x"],["n","y"]]', 'sent [["password","(hidden)"],["n","y"]]'],
  ['sent [["n","y"], ["password", "cut o', 'sent [["n","y"], ["password", "(hidden)"'],
  ["[('password', 'x'), ('n', 'y')]", "[('password', '(hidden)'), ('n', 'y')]"],
  ['[[\\"token\\",\\"x\\"]]', '[[\\"token\\",\\"(hidden)\\"]]'].map((text) => `sent ${text}`) as [
    string,
    string,
  ],
  ['ran ["curl","--password","x","-v"]', 'ran ["curl","--password","(hidden)","-v"]'],
  ['ran ["--password","cut o', 'ran ["--password","(hidden)"'],
  // Values with quotes and punctuation.
  ['password=a"x', 'password=(hidden)'],
  ["password=a'x#y<z b", 'password=(hidden) b'],
  ['password="a"x b', 'password=(hidden) b'],
  ['say "password=x", please', 'say "password=(hidden)", please'],
  // Headers, settings and options.
  ['password: hunter2', 'password: (hidden)'],
  ['password:hunter', 'password:(hidden)'],
  ['user: ada\npassword: hunter\nhost: db', 'user: ada\npassword: (hidden)\nhost: db'],
  ['password: a"b,c(d and more', 'password: (hidden) and more'],
  ['login {user: ada, password: s3cret, n: 1}', 'login {user: ada, password: (hidden), n: 1}'],
  ['{user:ada,password:s3cret,n:1}', '{user:ada,password:(hidden),n:1}'],
  ['pin: 1234', 'pin: (hidden)'],
  ['Authorization: Basic YWRhOng=', 'Authorization: Basic (hidden)'],
  ['authorization: Token x\nAccept: a', 'authorization: Token (hidden)\nAccept: a'],
  ['Authorization: Digest username="ada", response="x"', 'Authorization: Digest (hidden)'],
  ['Cookie: session=x; theme="dark"\nAccept: a', 'Cookie: (hidden)\nAccept: a'],
  ['Set-Cookie: sid=x; Path=/', 'Set-Cookie: (hidden)'],
  ['curl -H "Cookie: session=x" -v', 'curl -H "Cookie: (hidden)" -v'],
  ['X-Api-Key: abc', 'X-Api-Key: (hidden)'],
  [
    ['curl', '-H', 'X-Api-Key: abc'],
    ['curl', '-H', 'X-Api-Key: (hidden)'],
  ],
  ['ran mysql --password hunter -v', 'ran mysql --password (hidden) -v'],
  ['password : hunter2', 'password : (hidden)'],
  ['password: &a hunter2', 'password: &a (hidden)'],
  ['"password"="x"', '"password"="(hidden)"'],
  ['d["password"] = "x"', 'd["password"] = "(hidden)"'],
  ["$_POST['password'] = 'x'", "$_POST['password'] = '(hidden)'"],
  ['AccountName=x;AccountKey=abc;', 'AccountName=x;AccountKey=(hidden);'],
  ['postgres://u:ab/cd@h/db', 'postgres://u:(hidden)@h/db'],
  ['postgres://u:ab#c?d@h/db', 'postgres://u:(hidden)@h/db'],
  // Secrets that are known by their form.
  ['got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_def, ok', 'got (hidden), ok'],
  ['sent Basic YWRhOmh1bnRlcjI= to a', 'sent Basic (hidden) to a'],
  [
    'a -----BEGIN RSA PRIVATE KEY-----\nabc=\n-----END RSA PRIVATE KEY----- b',
    'a -----BEGIN RSA PRIVATE KEY-----(hidden)-----END RSA PRIVATE KEY----- b',
  ],
  ['-----BEGIN PRIVATE KEY-----\\ncut o', '-----BEGIN PRIVATE KEY-----(hidden)'],
  [
    { rawHeaders: ['X-Api-Key', 'x', 'Accept', 'a'] },
    { rawHeaders: ['X-Api-Key', '(hidden)', 'Accept', 'a'] },
  ],
  ['Bearer  abcdefghijklmnop', 'Bearer  (hidden)'],
  ['Bearer\tabcdefghijklmnop', 'Bearer\t(hidden)'],
  ['Bearer%20abcdefghijklmnop', 'Bearer%20(hidden)'],
]

const HARMLESS_TEXTS: readonly unknown[] = [
  'Basic authentication is off, a basic example, Basic auth: use it',
  'eyJ is how it starts, and eyJhbGci.x.y is too short',
  '-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----',
  'http://localhost:8080/@ada and https://example.org:443/a?mail=ada@example.org',
  'password : must have 8 characters',
  { rawHeaders: ['Accept', 'a', 'Host', 'b'] },
  { rawHeaders: 'none' },
  [
    ['first', 'x'],
    ['last', 'y'],
  ],
  ['password', 'email'],
  { name: 'password', value: null },
  { name: 'hasPassword', value: true },
  { name: 'size', value: 'xl', type: 'text' },
  ['run', '--verbose', 'token'],
  'tokens=12 max_tokens=100 hasPassword=true password=null secret=',
  'passenger=ada, keyboard=us, compass=north',
  'token==x and token === y',
  'https://example.org/@ada/notes and https://example.org/?mail=ada@example.org',
  'https://example.org/a#part=2 and #heading',
  'postgres://app@db:5432/app, ssh://git@github.com, sftp://ada@files',
  'Password: must have at least 8 characters',
  'the bearer of this letter, Bearer x',
  'sent {"tokens":12,"hasPassword":true,"password":null,"passenger":"ada"} to a',
  '{"author":"ada","keyboard":"us"}',
  'say "password" : it is a word',
  "it's, and 'that' is all",
  'the password was wrong',
  'token expired at 10:00',
  'cookie banner: shown',
  'Invalid token: unexpected end of the text',
  'SyntaxError: Unexpected token: }',
  'token: expired, password: missing.',
  'use --password to give one, or --token with a name',
  'the cookie: is it set?',
  'Authorization: failed for ada',
  'docs at token://x and secret: none',
  'sent {"name":"password","value":null} and {"name":"size","value":"xl"}',
  'sent {"fields":["password","email"]} and ["password","email"]',
  'sent [["first","x"],["last","y"]] and ["--verbose","token"]',
  'sent {"a":{"name":"password"},"value":"x"}',
  'Error: ENOENT: no such file, open: a/b.txt',
  'at 10:30: done, see https://example.org:8080/a',
]

test('H6 S6 secrets in names and values, URLs, assignments and JSON of texts are hidden, and harmless values are not', () => {
  for (const [input, redacted] of LEAKS) expect([input, hide(input)]).toEqual([input, redacted])
  for (const input of HARMLESS_TEXTS) expect(hide(input)).toEqual(input)
  for (const [, redacted] of LEAKS) expect(hide(redacted)).toEqual(redacted)
})

test('H6 S6 a secret is hidden however often it was encoded as JSON, and in any surroundings', () => {
  const around = fc.string({ maxLength: 20 }).filter((text) => !/["'\\=:{[]/.test(text))
  const secret = fc
    .string({ minLength: 8, maxLength: 20, unit: 'grapheme-ascii' })
    .map((text) => `s3cret${text}s3cret`)
  fc.assert(
    fc.property(secret, fc.nat({ max: 4 }), around, around, (value, times, before, after) => {
      let text = JSON.stringify({ n: 1, password: value, m: 2 })
      for (let n = 0; n < times; n += 1) text = JSON.stringify(text)
      const redacted = hide(`${before}${text}${after}`)
      expect(redacted).not.toContain('s3cret')
      expect(redacted).toContain('m')
    }),
    { numRuns: inFull(2_000, 200), seed: 20_261_117 },
  )
})

test('S6 flags that make an expression stateful do not matter, and custom patterns replace the defaults', () => {
  const input = { ssn: 1, a: { ssn: true }, b: [{ ssn2: null }, { ssn3: 'x' }, { ssn4: 'x' }], password: 'x' }
  const redacted = {
    ssn: '(hidden)',
    a: { ssn: '(hidden)' },
    b: [{ ssn2: '(hidden)' }, { ssn3: '(hidden)' }, { ssn4: '(hidden)' }],
    password: 'x',
  }
  for (const flags of ['', 'g', 'y', 'gi', 'gy'])
    expect(redactor([new RegExp('ssn', flags)])(input)).toEqual(redacted)
  expect(redactor([])({ password: 'x', url: 'a://b:c@d' })).toEqual({ password: 'x', url: 'a://b:c@d' })
})

test('S6 redaction takes linear time for long texts', () => {
  const parts = [
    '://',
    '://a:',
    '?a',
    '&token',
    'a.',
    '[',
    '{"a":',
    '\\',
    '"',
    '\\"',
    '"a"',
    "'a':",
    ' a=',
    ' a="',
    '"a":[',
    '"a":"\\',
    '@',
    'http://a',
    ' ',
    'Bearer ',
    '":',
    "a: '",
    '{"value":{',
    '{"name":"a","value":',
    '[["a",',
    '["--a","',
    ' a: ',
    ' --a ',
    'a"',
    ' = ',
    'a=>',
    'eyJ',
    '-eyJ',
    'Basic ',
    '-----BEGIN ',
    'PRIVATE KEY-----',
    '://a:b/',
    'a :',
    '"a"]=',
    ': &a ',
  ]
  for (const part of parts) {
    // Includes the characters without which the search would end early.
    const text = `:=@${part.repeat(Math.ceil(inFull(1_000_000, 100_000) / part.length))}`
    expect(hide(text) === text).toBe(true)
  }
  // These texts have no expected result; only the time counts.
  for (const part of [
    '"token":"',
    '"token":[',
    ' token=',
    " token='",
    'https://a@',
    '"token":{"',
    '\\"token\\":\\"',
    '#token=a',
    'eyJaaaaaaaa.',
    '-----BEGIN PRIVATE KEY-----',
  ])
    expect(typeof hide(`:=@${part.repeat(inFull(100_000, 10_000))}`)).toBe('string')
})

test('H6 S6 redaction of long hostile texts takes linear time', () => {
  const parts = [
    ['{"value":{', ',"name":"token"}'],
    ['{"name":"token","value":{', '}}'],
    ['[["token",[', ',1],1]'],
    ['{"value":"', '"name":"token"'],
    ['["--token","', ''],
    ['password=a"', ''],
    ['password: a"b', ''],
    [' password: a,', ''],
    [' --password a', ''],
    ['Cookie: a="', ''],
    ['Authorization: Digest ', ''],
    ['a"a', ''],
    ['"name":"token",', ''],
    ['"value":[,"name":"token",', ''],
    ['Bearer  ', ''],
    ['-----BEGIN PRIVATE KEY-----', ''],
    ['d["password"]="', ''],
    ['password : &a ', ''],
    ['://a:b/c', '@h'],
  ] as const
  const CHARS = inFull(5_000_000, 150_000)
  for (const [before, after] of parts) {
    const steps = (chars: number): number => {
      const times = Math.ceil(chars / (before.length + after.length))
      let calls = 0
      const isSecret = secretTest(SECRET_KEYS)
      const counted: typeof isSecret = (key, value) => {
        calls += 1 + String(value).length
        return isSecret(key, value)
      }
      hideCredentials(`password=${before.repeat(times)}${after.repeat(times)}`, counted)
      hideCredentials(`${before.repeat(times)}${after.repeat(times)}`, counted)
      return calls
    }
    expect([before, steps(CHARS) <= 60 * CHARS]).toEqual([before, true])
  }
})

/** A text that counts how many of its characters are read one at a time. */
function countedText(text: string): { readonly text: string; readonly reads: () => number } {
  let reads = 0
  const counted = new Proxy(Object(text) as object, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { text: counted as unknown as string, reads: () => reads }
}

test('S6 each character of a hostile text is read a bounded number of times', () => {
  const parts = [
    '["--password",[',
    '["--password",{',
    '["--password","',
    `["--password",'`,
    '[["password",[',
    '[["password","',
    `[["password",'a","`,
    '[["password",1',
    '"password":[',
    '"password":"',
    `"password":'`,
    '"name":"password","value":[',
    '"value":[,"name":"password",',
    '"value":"a,"name":"password",',
    '{"value":{"name":"password",',
    '\\"password\\":\\"',
    '["--password",\\"',
  ]
  const isSecret = secretTest(SECRET_KEYS)
  for (const part of parts)
    for (const hideIn of [hideInLists, hideInJson]) {
      const whole = `[${part.repeat(500)}`
      const { text, reads } = countedText(whole)
      hideIn(text, isSecret)
      expect([part, reads() <= 10 * whole.length]).toEqual([part, true])
    }
})

const nested = (text: string): string => `${'{"a":['.repeat(20_000)}${text}${']}'.repeat(20_000)}`

test('S3 JSON that is nested too deeply to walk is redacted as text, and deep values end in a placeholder', () => {
  const seen = hide({ text: nested('{"password":"x"}'), other: JSON.stringify(nested('"password=x"')) })
  expect(seen.text).toBe(nested('{"password":"(hidden)"}'))
  expect(seen.other).not.toContain('password=x')
  // Brackets inside a string do not count.
  const apart = `["${']'.repeat(30_000)}",${'['.repeat(20_000)}"password=x"${']'.repeat(20_000)}]`
  expect(hide(apart)).toBe(apart.replace('password=x', 'password=(hidden)'))
  let deep: unknown = 'end'
  for (let level = 0; level < 20_000; level += 1) deep = [deep]
  expect(JSON.stringify(hide(deep))).toMatch(/^\[+"\(too deep\)"\]+$/)
})

test('S1 keys that were seen do not keep the texts in memory in which they were', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const isSecret = secretTest(SECRET_KEYS)
  const used = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  for (let n = 0; n < 200; n += 1) {
    const text = `${'x'.repeat(200_000)} someLongSettingName${n}=1`
    isSecret(text.slice(200_001, -2), '1')
    isSecret(`${n}${'k'.repeat(200_000)}`, '1')
  }
  expect(used() - before).toBeLessThan(10_000_000)
})
