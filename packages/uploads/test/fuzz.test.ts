/**
 * Hostile bytes in every input: no 5xx response, no hang, nothing outside the folder, and nothing left over.
 * JOBMILL_FUZZ=500 draws more cases.
 */
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { leftOf, mailbox, sceneForAll, STORES } from './support/inboxes.ts'
import { BOUNDARY, END, partOf } from './support/raw.ts'

const numRuns = Number(process.env['JOBMILL_FUZZ'] ?? 25)
const IN_TIME_MS = 10_000

const path = fc.constantFrom(
  '../../escaped',
  '..\\..\\escaped',
  '/tmp/escaped',
  'C:\\escaped',
  '....//escaped',
  '%2e%2e%2fescaped',
)
const name = fc
  .oneof(path, fc.string({ maxLength: 200 }), fc.string({ unit: anyCharacter, maxLength: 40 }))
  .map((text) => text.replaceAll(/[\r\n"]/g, '_'))
const header = fc.constantFrom(
  '',
  'Content-Type: text/html\r\n',
  'Content-Type: a/b; charset="\r\n',
  'Content-Type\r\n',
  `X: ${'y'.repeat(20_000)}\r\n`,
  'Content-Transfer-Encoding: base64\r\n',
  'Content-Disposition: attachment\r\n',
)
const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('files', 'files', 'other', ''), name, fc.string({ maxLength: 60 }), header)
      .map(([of, file, bytes, more]) => partOf(of, file, bytes, more)),
  },
  fc.string({ maxLength: 60 }).map((bytes) => partOf('note', null, bytes)),
  fc.constantFrom(
    `--${BOUNDARY}`,
    `--${BOUNDARY}--`,
    '\r\n',
    '\r\n\r\n',
    '--',
    `\r\n--${BOUNDARY}\r\n\r\n`,
    '\0',
  ),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
)
const body = fc
  .tuple(fc.array(piece, { maxLength: 8 }), fc.boolean())
  .map(([pieces, ends]) => pieces.join('') + (ends ? END : ''))

const headers = fc.dictionary(
  fc.constantFrom(
    'range',
    'if-none-match',
    'if-range',
    'idempotency-key',
    'last-event-id',
    'accept',
    'x-forwarded-for',
    'expect-ct',
  ),
  fc
    .oneof(
      fc.string({ maxLength: 80 }),
      fc.constantFrom(
        'bytes=0-',
        'bytes=-1',
        'bytes=9-1',
        'bytes=0-0,2-3',
        '*',
        `bytes=${'9'.repeat(400)}-`,
        '"',
        'W/"x"',
      ),
    )
    .map((text) => text.replaceAll(/[^\x20-\x7e]/g, '?').trim()),
)

/** Responds in time, and never with a server fault. */
async function expectFair(asking: Promise<Response>): Promise<number> {
  const response = await asking
  await response.body?.cancel()
  expect(response.status).toBeLessThan(500)
  return response.status
}

describe.each(STORES)('hostile bytes on %s', (store) => {
  const test = inTurns(store, STORES)
  const sharedScene = sceneForAll(store)

  test('E39 multipart', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    await fc.assert(
      fc.asyncProperty(body, headers, async (text, more) => {
        const { range: _, ...rest } = more
        const status = await expectFair(
          box.ask('/uploads', {
            method: 'POST',
            body: Buffer.from(text, 'latin1'),
            headers: { ...rest, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
            signal: AbortSignal.timeout(IN_TIME_MS),
          }),
        )
        expect([200, 400, 413, 422]).toContain(status)
      }),
      { numRuns },
    )
    const rows = await scene.tables.db.selectFrom('uploads_file').select(['name', 'type']).execute()
    for (const { name: kept, type } of rows) {
      expect(kept).toMatch(/^[A-Za-z0-9._-]{1,100}$/)
      expect(type).toMatch(/^(?:[\x21-\x7e]+\/[\x21-\x7e]+)?$/)
    }
    const { files, staging, blobs } = await leftOf(scene, box)
    expect({ staging, blobs }).toEqual({ staging: 0, blobs: files })
    expect(readdirSync(tmpdir()).filter((entry) => entry.includes('escaped'))).toEqual([])
    expect(existsSync('escaped')).toBe(false)
    expect(scene.errors).toEqual([])
  })

  test('B5 headers, ranges, ids and parameters', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const [file = ''] = await box.sent('0123456789')
    const id = fc.oneof(
      fc.constant(file),
      fc.constant(file.toUpperCase()),
      fc.uuid(),
      fc.constantFrom('..', '%00', '%2e%2e%2f', "' OR 1=1 --", '\u{1F600}', 'x'.repeat(3_000)),
      fc.string({ maxLength: 40 }),
    )
    const query = fc.dictionary(
      fc.constantFrom('state', 'after', 'limit', 'wait', 'x'),
      fc.oneof(
        fc.string({ maxLength: 30 }),
        fc.constantFrom('pending', 'all', '0', '-1', '1e9', '10ms', '999999'),
      ),
      { maxKeys: 2 },
    )
    const route = fc.oneof(
      id.map((one) => ['GET', `/uploads/${encodeURIComponent(one)}/content`] as const),
      id.map((one) => ['POST', `/uploads/${encodeURIComponent(one)}/ack`] as const),
      id.map((one) => ['GET', `/uploads/${one.replaceAll(/[?#]/g, '')}`] as const),
      query.map((one) => ['GET', `/uploads?${new URLSearchParams(one).toString()}`] as const),
      fc.constantFrom(['HEAD', '/events'] as const, ['PUT', '/uploads'] as const, ['GET', '/%ff'] as const),
    )
    await fc.assert(
      fc.asyncProperty(
        route,
        headers,
        fc.string({ unit: anyCharacter, maxLength: 60 }),
        async ([method, at], more, sent) => {
          const { wait: _, ...rest } = more
          await expectFair(
            box.ask(at.toWellFormed(), {
              method,
              headers: rest,
              ...(method === 'POST' && { body: sent.toWellFormed() }),
              signal: AbortSignal.timeout(IN_TIME_MS),
            }),
          )
        },
      ),
      { numRuns: 2 * numRuns },
    )
    expect(scene.errors).toEqual([])
  })

  test('tokens', async () => {
    const { url } = sharedScene()
    const box = await mailbox(sharedScene())
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 60 }), async (text) => {
        const authorization = `Bearer ${text.replaceAll(/[^\x20-\x7e]/g, '?')}`
        const response = await fetch(`${url}/mailboxes/${box.id}/uploads`, { headers: { authorization } })
        await response.body?.cancel()
        expect(response.status).toBe(401)
      }),
      { numRuns },
    )
  })
})
