import { testPlatform } from 'jobmill/testing'
import { expect, test } from 'vitest'
import { refusalOf } from '../src/http/problems.ts'
import { smallBody } from '../src/http/small-body.ts'

/** Of which this comes, and then nothing. */
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

test('a small body that does not end is refused after ten seconds, and nobody waits for the rest', async () => {
  const platform = testPlatform()
  const { request, isEnded } = unending('{')
  const asked = smallBody(request, platform).catch((error: unknown) => error)
  await platform.advance('9s')
  expect(isEnded()).toBe(false)
  await platform.advance('1s')
  expect(await asked).toMatchObject({ code: 'TOO_SLOW' })
  expect(isEnded()).toBe(true)
})

test('what is whole, empty, too long or no object is told apart, and leaves no timer', async () => {
  const platform = testPlatform()
  const read = (text: string) =>
    smallBody(new Request('http://inbox', { method: 'POST', body: text }), platform)
  expect(await read('{"sha256":null}')).toEqual({ sha256: null })
  expect(await read(' ')).toBeNull()
  await expect(read('[]')).rejects.toMatchObject({ code: 'BODY_INVALID' })
  await expect(read('x'.repeat(4_097))).rejects.toMatchObject({ code: 'REQUEST_TOO_LARGE' })
  expect(platform.pendingTimers).toBe(0)
})

const told = (code: string): string => refusalOf(Object.assign(new Error('x'), { code })).code

test('D1 trouble of a database that passes is 503, and a defect is 500, whatever the code', () => {
  const passing =
    '08006 25006 25P04 40001 40P01 53200 53300 55P03 57014 57P01 58030 XX000 SQLITE_BUSY SQLITE_LOCKED SQLITE_IOERR_READ'
  for (const code of passing.split(' ')) expect([code, told(code)]).toEqual([code, 'UNAVAILABLE'])
  for (const code of ['22P05', '23505', '42P01', 'SQLITE_ERROR', 'SQLITE_CONSTRAINT'])
    expect([code, told(code)]).toEqual([code, 'INTERNAL'])
})
