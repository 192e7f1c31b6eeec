/** Every option of the HTTP API is checked when it is passed: none of a wrong type is accepted or ignored. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { isLoopback } from '../src/server/address.ts'
import { httpApi, type HttpOptions, serve, servePublic, type ServeOptions } from '../src/index.ts'
import { bulkJob, jobmill, type Mill } from '../../jobmill/src/index.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { TOKENS } from './mills.ts'

function aMill(): Mill<never> {
  const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  return mill
}

const NUMBERS = [Number.NaN, '20', 0, -1, 1.5, null, Infinity]
const FUNCTIONS = [5, 'nope', null, {}]
const FLAGS = ['false', 'true', 0, 1, null]

const WRONG: Readonly<Record<keyof HttpOptions, readonly unknown[]>> = {
  tokens: [5, '', '  ', null, ['a admin b']],
  authenticate: FUNCTIONS,
  insecure: FLAGS,
  basePath: [5, null, 'ops', '/ops/../x', '/..', '/.', '/a b', '/ops//x'],
  page: FLAGS,
  frameAncestors: [5, 'https://a.example', [5], null],
  apps: [5, null, [], { a: 5 }],
  passthrough: FUNCTIONS,
  redact: [() => true, 'x', ['ssn'], [undefined], 5, null, /x/],
  maxBodyBytes: NUMBERS,
  maxBodiesBytes: NUMBERS,
  streamsPerCaller: NUMBERS,
  maxStreams: NUMBERS,
  requestsPerSecond: NUMBERS,
  anonymousPerSecond: NUMBERS,
  onError: FUNCTIONS,
  platform: [5, null, {}],
}
const WRONG_ADDRESS: Readonly<Record<'port' | 'bind', readonly unknown[]>> = {
  port: ['x', '8787', -1, 65_536, 1.5, Number.NaN, null],
  bind: [5, '', null],
}

const rows = (table: Readonly<Record<string, readonly unknown[]>>): [field: string, value: unknown][] =>
  Object.entries(table).flatMap(([field, values]) => values.map((value): [string, unknown] => [field, value]))

/** The error names the option, the value and what to do. */
const naming = (field: string): unknown =>
  expect.objectContaining({
    name: 'JobmillError',
    message: expect.stringMatching(new RegExp(`^${field}[^ ]*: [^:]+`)) as unknown,
    fix: expect.stringMatching(/^[A-Z]/) as unknown,
  })

describe('N5 wrong options', () => {
  test.each(rows(WRONG))('N5 httpApi refuses %s: %j', (field, value) => {
    const options = { ...(field !== 'tokens' && { tokens: TOKENS }), [field]: value }
    expect(() => httpApi(aMill(), options)).toThrow(naming(field))
  })

  test.each(rows({ ...WRONG, ...WRONG_ADDRESS }))('N5 serve refuses %s: %j', async (field, value) => {
    const options = { port: 0, ...(field !== 'tokens' && { tokens: TOKENS }), [field]: value }
    await expect(serve(aMill(), options)).rejects.toThrow(naming(field))
  })

  test.each(rows({ ...WRONG_ADDRESS, routes: FUNCTIONS, onError: FUNCTIONS, platform: [5, null] }))(
    'N5 servePublic refuses %s: %j',
    async (field, value) => {
      const options = { port: 0, routes: () => null, [field]: value }
      await expect(servePublic(aMill(), options)).rejects.toThrow(naming(field))
    },
  )

  test('A servePublic requires routes', async () => {
    await expect(servePublic(aMill(), { port: 0 } as never)).rejects.toThrow(naming('routes'))
  })

  test.each([null, 5, [], 'x'])(
    'N5 options that are not an object are refused by name: %j',
    async (given) => {
      const options = given as unknown as ServeOptions
      expect(() => httpApi(aMill(), options)).toThrow(naming('options'))
      await expect(serve(aMill(), options)).rejects.toThrow(naming('options'))
      await expect(servePublic(aMill(), given as never)).rejects.toThrow(naming('options'))
    },
  )

  test("S2 insecure: 'false' opens no address other than loopback", async () => {
    const options = { port: 0, bind: '0.0.0.0', insecure: 'false' as unknown as boolean }
    await expect(serve(aMill(), options)).rejects.toThrow(naming('insecure'))
  })

  test('N5 bulkJob requires a function that returns the mill', () => {
    for (const given of [undefined, null, aMill()])
      expect(() => bulkJob(given as never)).toThrow('bulkJob(() => mill)')
  })
})

test('S2 every spelling of a loopback address counts as loopback, and nothing else does', async () => {
  const loopback = ['127.0.0.1', '127.9.9.9', 'localhost', 'LOCALHOST', '::1', '0:0:0:0:0:0:0:1', '::0001']
  expect([...loopback, '::ffff:127.0.0.1'].filter((bind) => !isLoopback(bind))).toEqual([])
  const others = ['0.0.0.0', '::', '10.0.0.1', '::ffff:10.0.0.1', '::2', 'localhost.example', '127.1.1.1.com']
  expect([...others, '999.1.1.1', '127.0.0.1.', ''].filter(isLoopback)).toEqual([])
  const served = await serve(aMill(), { port: 0, bind: 'LOCALHOST' })
  await served.close()
})

test('N5 an address that does not resolve is named', async () => {
  const wrong = serve(aMill(), { port: 0, bind: '999.1.1.1', tokens: TOKENS })
  await expect(wrong).rejects.toMatchObject({ code: 'OPTION_INVALID', field: 'bind', value: '"999.1.1.1"' })
})
