import { JobmillError } from 'jobmill'
import { testPlatform } from 'jobmill/testing'
import { expect, test } from 'vitest'
import { refusalOf } from '../src/http/problems.ts'
import { smallBody } from '../src/http/small-body.ts'

/** A request with this text and no end. */
function unending(text: string): { readonly request: Request; readonly isEnded: () => boolean } {
  let isEnded = false
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from(text)),
    cancel: () => void (isEnded = true),
  })
  return {
    request: new Request('http://inbox', { method: 'POST', body, duplex: 'half' }),
    isEnded: () => isEnded,
  }
}

test('a small body that does not end is refused after ten seconds, without waiting for the rest', async () => {
  const platform = testPlatform()
  const { request, isEnded } = unending('{')
  const asked = smallBody(request, platform).catch((error: unknown) => error)
  await platform.advance('9s')
  expect(isEnded()).toBe(false)
  await platform.advance('1s')
  expect(await asked).toMatchObject({ code: 'TOO_SLOW' })
  expect(isEnded()).toBe(true)
})

test('complete, empty, oversized and non-object bodies are distinguished, and leave no timer', async () => {
  const platform = testPlatform()
  const read = (text: string) =>
    smallBody(new Request('http://inbox', { method: 'POST', body: text }), platform)
  expect(await read('{"sha256":null}')).toEqual({ sha256: null })
  expect(await read(' ')).toBeNull()
  await expect(read('[]')).rejects.toMatchObject({ code: 'BODY_INVALID' })
  await expect(read('x'.repeat(4_097))).rejects.toMatchObject({ code: 'REQUEST_TOO_LARGE' })
  expect(platform.pendingTimers).toBe(0)
})

const codeFor = (code: string): string => refusalOf(Object.assign(new Error('x'), { code })).code

test('A D1 only an error in the data is a defect (500); every other error of the database or the mill is 503', () => {
  const transient =
    '08006 25006 25P04 26000 28000 3F000 40001 40P01 42501 42P01 42883 53200 53300 55P03 57014 57P01 58030 XX000 JM001 ZZ999 SQLITE_BUSY SQLITE_LOCKED ' +
    'SQLITE_IOERR_READ SQLITE_ERROR SQLITE_CORRUPT SQLITE_READONLY_DBMOVED STORE_BUSY STORE_UNAVAILABLE OUTCOME_UNKNOWN ECONNRESET EPIPE'
  for (const code of transient.split(' ')) expect([code, codeFor(code)]).toEqual([code, 'UNAVAILABLE'])
  const data =
    '22P05 23505 54000 42804 42846 SQLITE_CONSTRAINT_UNIQUE SQLITE_TOOBIG SQLITE_MISMATCH SQLITE_RANGE DATA_REFUSED ENOENT EPERM'
  for (const code of data.split(' ')) expect([code, codeFor(code)]).toEqual([code, 'INTERNAL'])
  expect(refusalOf(new JobmillError('SCHEMA_NEWER', 'x')).code).toBe('UNAVAILABLE')
  expect(refusalOf(new TypeError('x')).code).toBe('INTERNAL')
})
