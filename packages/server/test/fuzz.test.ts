/** Invalid requests on every route: each gets a prompt response that is not an internal error. */
import { createConnection } from 'node:net'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { documentOf, operationsOf } from './calls.ts'
import { bench, subjects } from './mills.ts'

const RUNS = Number(process.env['JOBMILL_RUNS'] ?? inFull(600, 70))

/** Keys that routes know, so that the values are checked too. */
const KEYS = [
  'kind',
  'payload',
  'id',
  'queue',
  'delay',
  'runAt',
  'tags',
  'dedupe',
  'orderKey',
  'jobs',
  'act',
  'filter',
  'state',
  'reason',
  'payloadAt',
  'indexedPayload',
  'errorText',
  'ids',
  'fingerprint',
]
const MORE = [
  'workers',
  'paused',
  'backoff',
  'retain',
  'limit',
  'coolFor',
  'name',
  'rate',
  'per',
  'burst',
  'concurrency',
  'when',
  'zone',
  'job',
]

const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'echo',
      'default',
      '1h',
      '-1h',
      '0 0 * * *',
      '@daily',
      'smtp',
      'dead',
      'retry',
      '',
      'a/b',
      '\u0000',
      '\uD800',
    ),
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.double(),
    fc.constantFrom(0, -1, 1e308, 9_007_199_254_740_991, 2_147_483_648),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS, ...MORE, '__proto__', 'constructor'), tie('value'), {
      maxKeys: 5,
    }),
  ),
})).value

const segment = fc.oneof(
  fc.constantFrom(
    'default',
    'nightly',
    'smtp',
    'retain',
    '..',
    '%2e%2e',
    '%',
    '%ff',
    'a%2Fb',
    '%00',
    'next',
    'many',
  ),
  fc.uuid(),
  fc.string({ unit: anyCharacter, maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
)

const query = fc.dictionary(
  fc.constantFrom(
    'queue',
    'kind',
    'state',
    'tag',
    'limit',
    'cursor',
    'from',
    'to',
    'resolution',
    'act',
    'when',
    'zone',
    'type',
    'count',
    'job',
    'instance',
    'payloadAt',
    'indexedPayload',
    'errorText',
    'id',
    'fingerprint',
    'largest',
  ),
  fc.oneof(
    fc.constantFrom(
      'default',
      'dead',
      '50',
      '-1',
      '1e9',
      'NaN',
      '10s',
      'WyJhbGwiLDFd',
      'retry',
      'Europe/Berlin',
    ),
    fc.string({ maxLength: 12 }),
  ),
  { maxKeys: 4 },
)

describe.each(subjects)('hostile requests on $name', ({ name, store }) => {
  const test = inTurns(name, subjects)
  test('never make the API fail or hang', async () => {
    const faults: string[] = []
    const { url } = await bench(store(), {
      onError: (error, what) => faults.push(`${what}: ${String(error)}`),
    })
    const operations = operationsOf(await documentOf(url)).filter(({ name }) => name !== 'events.listen')
    const statuses = new Set<number>()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...operations),
        segment,
        query,
        value,
        fc.constantFrom('json', 'text', 'cut'),
        async ({ method, path }, at, asked, body, how) => {
          const text = JSON.stringify(body)
          const hasBody = method === 'POST' || method === 'PATCH'
          const address = `${url}${path.replace(/\{\w+\}/, at)}?${new URLSearchParams(asked).toString()}`
          const response = await fetch(address, {
            method,
            headers: { 'content-type': how === 'text' ? 'text/plain' : 'application/json' },
            ...(hasBody && { body: how === 'cut' ? text.slice(0, -1) : text }),
            signal: AbortSignal.timeout(20_000),
          })
          await response.arrayBuffer()
          statuses.add(response.status)
          expect(faults).toEqual([])
          expect(response.status).toBeLessThan(500)
        },
      ),
      { numRuns: RUNS, seed: 20_261_115, endOnFailure: true },
    )
    // The request passed access control.
    for (const status of [200, 400, 404, 415]) expect(statuses).toContain(status)
  })

  test.each([
    ['no host', 'GET /api/jobs HTTP/1.1\r\n\r\n'],
    ['a broken address', 'GET http://[ HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    [
      'two lengths',
      'POST /api/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
    ],
    ['no such method', 'BREW /api/jobs HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    ['a long address', `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`],
    [
      'a body where there is none',
      'GET /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ],
    ['no text', '\u0000\u0001\u0002\r\n\r\n'],
    ['another method', 'PROPFIND /api/jobs HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    ['a broken escape', 'GET //api//jobs?a=%zz HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  ])('bytes that are hardly HTTP: %s', async (_, bytes) => {
    const faults: string[] = []
    const { url } = await bench(store(), { work: false, onError: (error) => faults.push(String(error)) })
    const socket = createConnection(Number(new URL(url).port), '127.0.0.1')
    // Closing the connection is a valid response too.
    socket.on('error', () => {})
    socket.end(bytes)
    let answer = ''
    socket.on('data', (data) => (answer += String(data)))
    await new Promise((resolve) => socket.once('close', resolve))
    expect(answer).not.toMatch(/^HTTP\/1.1 5/)
    expect(faults).toEqual([])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })
})
