// Forms of secrets in texts: headers with any scheme, options, assignments, and what Node and Python print.
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { SECRET_KEYS, secretTest } from '../src/redact/redact-keys.ts'
import { hideCredentials } from '../src/redact/redact-text.ts'
import { redactor } from '../src/redact/redact.ts'

const hide = redactor(SECRET_KEYS)

function expectHidden(cases: readonly (readonly [input: string, redacted: string])[]): void {
  for (const [input, redacted] of cases) {
    expect([input, hide(input)]).toEqual([input, redacted])
    expect(hide(redacted)).toBe(redacted)
  }
}

test('S low the credentials of an Authorization header are hidden whatever the scheme, and prose is not', () => {
  const schemes =
    'Bot SSWS JWT Splunk Zoho-oauthtoken AWS SharedKey GenieKey OAuth2 Bearer Basic AWS4-HMAC-SHA256 Digest'
  for (const scheme of schemes.split(' '))
    for (const credentials of ['hunter', 'a:b c', 'id="x", sign="y z"', '00aB/c+d=='])
      expectHidden([
        [`Authorization: ${scheme} ${credentials}`, `Authorization: ${scheme} (hidden)`],
        [
          `a\nproxy-authorization: ${scheme} ${credentials}\nb: 1`,
          `a\nproxy-authorization: ${scheme} (hidden)\nb: 1`,
        ],
        [
          `curl -H 'Authorization: ${scheme} ${credentials}' -v`,
          `curl -H 'Authorization: ${scheme} (hidden)' -v`,
        ],
        [`HTTP_AUTHORIZATION=${scheme} ${credentials}`, 'HTTP_AUTHORIZATION=(hidden)'],
      ])
  expectHidden([
    ['Authorization: Unheard x y', 'Authorization: (hidden)'],
    ['Authorization: V9-HMAC-SHA256 Credential=x, Signature=y', 'Authorization: (hidden)'],
    ['sent \\"Authorization: Bot a \\\\\\"b\\", ok', 'sent \\"Authorization: Bot (hidden)\\", ok'],
    ['{"a":1,"h":"Authorization: Bot x y","n":1', '{"a":1,"h":"Authorization: Bot (hidden)","n":1'],
  ])
  for (const text of [
    'authorization: missing',
    'authorization is required',
    'Authorization: failed for ada',
    'Authorization: Access denied by the server',
    'authorization: try again later',
  ])
    expect(hide(text)).toBe(text)
})

test('S low quoted values of options, and assignments with a blank on one side, are hidden', () => {
  expectHidden([
    ["mysql --password 'x y' -v", "mysql --password '(hidden)' -v"],
    ['mysql --password "x" -v', 'mysql --password "(hidden)" -v'],
    ['mysql --password "cut o', 'mysql --password "(hidden)"'],
    ['ran \\"a --password \\\\\\"x y\\\\\\" -v\\"', 'ran \\"a --password \\\\\\"(hidden)\\\\\\" -v\\"'],
    ['password= hunter, n', 'password= (hidden) n'],
    ['password =hunter n', 'password =(hidden) n'],
    ['password= YWJj==', 'password= (hidden)'],
  ])
  for (const text of ['password= user=ada', 'password =~ /x/', 'token == x, token ==x', 'token => x'])
    expect(hide(text)).toBe(text)
})

test('S6 the headers of a Node request are hidden in a text', () => {
  const rawHeaders = ['Host', 'x', 'Authorization', 's3cret', 'Cookie', 'sid=s3cret', 'X-Api-Key', 's3cret']
  const printed = inspect({ rawHeaders, n: 1 })
  for (const text of [
    printed,
    inspect({ rawHeaders: [...rawHeaders, 'Accept', '*/*', 'X-Long', 'y'.repeat(200)] }),
    `req ${JSON.stringify({ rawHeaders })}`,
    `req ${JSON.stringify(JSON.stringify({ rawHeaders }))}`,
    `req ${JSON.stringify({ text: printed })}`,
    `req ${inspect({ rawHeaders }, { colors: true })}`,
    `req ${JSON.stringify({ rawHeaders }).slice(0, -4)}`,
  ]) {
    const hidden = hide(text)
    expect([text, hidden.includes('s3c')]).toEqual([text, false])
    expect(hidden).toContain('Host')
  }
  expectHidden([
    ["rawHeaders: ['Authorization', 'x'], n", "rawHeaders: ['Authorization', '(hidden)'], n"],
    ["rawHeaders: [ 'Host', 'x', 'Cookie', 'a=b' ]", "rawHeaders: [ 'Host', 'x', 'Cookie', '(hidden)' ]"],
  ])
  for (const text of ["rawHeaders: ['Host', 'Cookie', 'Accept', 'a']", 'rawHeaders: none', 'rawHeaders: []'])
    expect(hide(text)).toBe(text)
})

test('S6 a quoted value with an escaped or doubled quote is hidden as a whole', () => {
  expectHidden([
    [String.raw`password="a\"b c" n`, 'password=(hidden) n'],
    [String.raw`password="a b\" c" n`, 'password=(hidden) n'],
    [String.raw`run --password="a\"b c" n`, 'run --password=(hidden) n'],
    ['Password="a""b c";x=1', 'Password=(hidden);x=1'],
    ["Password='a''b c';x=1", 'Password=(hidden);x=1'],
    [String.raw`DB_PASSWORD='a'\''b c' n`, 'DB_PASSWORD=(hidden) n'],
    [String.raw`run --password 'a'\''b c' n`, "run --password '(hidden)' n"],
    [String.raw`host=db password='a\'b c' n=1`, 'host=db password=(hidden) n=1'],
    ['password = """a "b" c""" n', 'password = (hidden) n'],
    ['password="""a\nb""" n', 'password=(hidden) n'],
    ["password='''a 'b' c''' n", 'password=(hidden) n'],
    [String.raw`"run password=\"a b\" n"`, '"run password=(hidden) n"'],
    [String.raw`password="a\"b cut o`, 'password=(hidden)'],
    ['password="" n', 'password=(hidden) n'],
  ])
})

class Config {
  readonly password: unknown
  readonly n = 1
  constructor(password: unknown) {
    this.password = password
  }
}

test('S low secrets in what Node and Python print are hidden', () => {
  const long = Array.from({ length: 9 }, () => 's3cret of many words').join('\n')
  const secrets: readonly unknown[] = [
    's3cret',
    long,
    `it's "s3cret"`,
    new Config('s3cret'),
    { a: '}', b: 's3cret' },
    { a: "it's }", b: 's3cret' },
    ['s3cret'],
    new Set([']', 's3cret']),
    new Map([['a', 's3cret']]),
    Object.assign(Object.create(null) as object, { a: 's3cret' }),
    Object.assign([1], { a: 's3cret' }),
  ]
  for (const secret of secrets)
    for (const printed of [
      new Config(secret),
      { password: secret, n: 1 },
      new Map([
        ['password', secret],
        ['n', 1],
      ]),
    ])
      for (const colors of [false, true]) {
        const text = `got ${inspect(printed, { colors, depth: 9 })} n`
        const hidden = hide(text)
        expect([text, hidden.includes('s3cret')]).toEqual([text, false])
        expect(hidden).toMatch(/n'?(?::| =>) 1 \}|n'?(?::| =>) 1\n\}/)
        const inJson = hide(`got ${JSON.stringify({ text })} n`)
        expect([inJson, inJson.includes('s3cret')]).toEqual([inJson, false])
      }
  const bytes = inspect({ password: Buffer.from('s3cret'), n: 1 })
  expect(hide(bytes)).toBe('{ password: "(hidden)", n: 1 }')
  expectHidden([
    ["{'password': b'x', 'n': 1}", "{'password': '(hidden)', 'n': 1}"],
    ["password: b'x' n", "password: '(hidden)' n"],
  ])
  for (const text of [
    "{'password': None, 'hasPassword': True}",
    'password=None hasPassword=True password: None',
    '\u001B[32mdone\u001B[39m: all',
    'SyntaxError: Unexpected token: Expected more',
  ])
    expect(hide(text)).toBe(text)
})

test('S low redaction of these forms takes linear time', () => {
  const parts = [
    ['Authorization: Bot ', ''],
    ['"Authorization: Bot x', ''],
    ['"Authorization: Bot x"', ''],
    ['\'Authorization: Bot "Authorization: Bot ', ''],
    ['\\"Authorization: Bot x', ''],
    ['Authorization: Bot x\n', ''],
    ['authorization: try again ', ''],
    ["--password 'x", ''],
    ["--password 'x' ", ''],
    ['password= ', ''],
    ['password =', ''],
    ['password= a=', ''],
    ["password: 'a' + ", ''],
    ["password: 'a' +\n", ''],
    ["'a' + ", ''],
    ['password: `', ''],
    ['password: Config { ', '}'],
    ['value: Config { ', ', name: "token" }'],
    ['[["token",Config { ', '}, 1]'],
    ['[["token",\'a\' + ', ''],
    ['password: Map(1) ', ''],
    ['password: [Object: null prototype] ', ''],
    ['password: <Buffer 61 ', ''],
    ["password: b'", ''],
    ['\u001B[3', ''],
    ['\\u001b[', ''],
    ['\\', ''],
    ["rawHeaders: ['", ''],
    ["rawHeaders: ['Cookie', ", ''],
    ["rawHeaders: ['Cookie', 'x', ", ''],
    ['password="a""', ''],
    ['password="\\"', ''],
    ['password="""', ''],
    ["password='a'\\''", ''],
    ['password="a" ', ''],
    ['a="password=', ''],
    ['[["password","a""', ''],
    ['"value":"""a,"name":"password",', ''],
  ] as const
  const CHARS = inFull(2_000_000, 150_000)
  for (const [before, after] of parts) {
    const times = Math.ceil(CHARS / (before.length + after.length))
    let calls = 0
    const isSecret = secretTest(SECRET_KEYS)
    const text = `password: 'x' ${before.repeat(times)}${after.repeat(times)}`
    hideCredentials(text, (key, value) => {
      calls += 1 + String(value).length
      return isSecret(key, value)
    })
    expect([before, calls <= 60 * CHARS]).toEqual([before, true])
  }
})
