/**
 * The client's reaction to each failure, against a real inbox with a proxy in between: no file blocks
 * another, and no failure is silent.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pullOnce } from 'jobmill-uploads/client'
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { type Box, mailbox, pending, sceneForAll, sha256, STORES } from '../support/inboxes.ts'
import { proxyForAll, type InboxProxy, type ProxiedRequest } from './support/inbox-proxy.ts'
import { freshFolder, indexOf, namesIn } from './support/folders.ts'
import { optionsFor, puller } from './support/pullers.ts'

const isContent = ({ path: at }: ProxiedRequest, file: string): boolean => at === `/uploads/${file}/content`
const isAck = ({ path: at }: ProxiedRequest, file = ''): boolean => at.endsWith(`${file}/ack`)
const isList = ({ method, path: at }: ProxiedRequest): boolean =>
  method === 'GET' && at.startsWith('/uploads?')
const codesOf = (reports: readonly { code: string }[]): string[] => reports.map(({ code }) => code)
const pendingIds = async (box: Box): Promise<string[]> => (await pending(box)).files.map(({ id }) => id)
const countOf = ({ requests }: InboxProxy, text: string): number =>
  requests.filter((one) => one.includes(text)).length

/** The first byte of a range. */
const from = (range = ''): number => Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0)

/** A stream with more bytes than listed, without an end. */
function endlessStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000)) })
}

describe.each(STORES)('a puller on %s, when', (store) => {
  const test = inTurns(store, STORES)
  const getScene = sceneForAll(store)
  const getProxy = proxyForAll(() => getScene().url)

  async function setUp(...contents: string[]): Promise<{ box: Box; files: string[]; proxy: InboxProxy }> {
    const scene = getScene()
    const box = await mailbox(scene)
    return { box, files: await box.sent(...contents), proxy: getProxy() }
  }

  test('B7 a fetch is answered 404, that one is dropped without an acknowledgement, and the others come', async () => {
    const { box, files, proxy } = await setUp('bad', 'good')
    const [bad = '', good = ''] = files
    proxy.override((request) => (isContent(request, bad) ? new Response(null, { status: 404 }) : null))
    const one = puller(proxy, box)
    await one.start()
    expect(await one.settled()).toMatchObject({ isComplete: true })
    expect(one.pulled.map(({ id }) => id)).toEqual([good])
    expect(one.reports[0]).toMatchObject({ code: 'FILE_GONE', againInMs: null })
    await expect.poll(() => pendingIds(box)).toEqual([bad])
    expect(one.troubles()).toEqual([])
  })

  test.each([
    ['500', () => new Response('no', { status: 500 })],
    ['429', () => new Response('no', { status: 429, headers: { 'retry-after': '0' } })],
    ['a broken line', () => Promise.reject(new Error('cut'))],
  ])('E32 a fetch fails with %s, it is retried, and delays no other file', async (_, answer) => {
    const { box, files, proxy } = await setUp('bad', 'good')
    const [bad = ''] = files
    let failures = 3
    proxy.override((request) => (isContent(request, bad) && failures-- > 0 ? answer() : null))
    const one = puller(proxy, box, { concurrency: 1 })
    await one.start()
    await expect.poll(() => one.pulled).toHaveLength(2)
    expect(one.pulled.map(({ path: at }) => readFileSync(at, 'utf8'))).toEqual(['good', 'bad'])
    await expect.poll(() => pendingIds(box)).toEqual([])
    expect(codesOf(one.reports)).toEqual(['FETCH_FAILED', 'FETCH_FAILED', 'FETCH_FAILED'])
    expect(one.reports.map(({ attempts }) => attempts)).toEqual([1, 2, 3])
  })

  test('E32 a fetch stalls, it is aborted and retried', async () => {
    const { box, files, proxy } = await setUp('slow')
    const [slow = ''] = files
    let isFirst = true
    proxy.override((request) => {
      if (!isContent(request, slow) || !isFirst) return null
      isFirst = false
      return 'hang'
    })
    const one = puller(proxy, box, { silence: 200 })
    await one.start()
    await expect.poll(() => one.pulled).toHaveLength(1)
    // On a busy machine the next one may seem silent too.
    expect(new Set(codesOf(one.reports))).toEqual(new Set(['FETCH_FAILED']))
    expect(one.reports[0]?.message).toContain('too little progress')
  })

  test('E32 a fetch trickles, other files take its slot, and it resumes later', async () => {
    const content = 'x'.repeat(200_000)
    const { box, files, proxy } = await setUp(content, 'quick')
    const [slow = '', quick = ''] = files
    const ranges: (string | undefined)[] = []
    proxy.override((request) => {
      if (!isContent(request, slow)) return null
      const { range } = request.headers
      ranges.push(range)
      // A fetch that was aborted early on a busy machine is slowed down once more.
      if (from(range) > 100_000) return null
      let first = true
      const trickle = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
        if (!first) await new Promise((later) => setTimeout(later, 20))
        controller.enqueue(Buffer.from('x'.repeat(first ? 100_000 : 1)))
        first = false
      }
      return new Response(new ReadableStream({ pull: trickle }))
    })
    const one = puller(proxy, box, { silence: 300, concurrency: 1 })
    await one.start()
    await expect.poll(() => one.pulled.length).toBe(2)
    const fetched = proxy.requests.flatMap((request) => /([^/]+)\/content$/.exec(request)?.[1] ?? [])
    expect(fetched.slice(0, 2)).toEqual([slow, quick])
    const { path: at = '' } = one.pulled.find(({ id }) => id === slow) ?? {}
    expect(readFileSync(at, 'utf8')).toBe(content)
    expect(ranges[0]).toBeUndefined()
    expect(from(ranges.at(-1))).toBeGreaterThan(100_000)
    expect(namesIn(one.folder)).toHaveLength(2)
  })

  test('E36 the bytes differ, they are deleted and fetched again; at the end the file is left to the next list', async () => {
    const { box, files, proxy } = await setUp('0123456789', 'good')
    const [bad = ''] = files
    const wrong = [() => '012345678', endlessStream, () => '9876543210']
    let isWrong = true
    let n = 0
    proxy.override((request) =>
      isWrong && isContent(request, bad) ? new Response(wrong[n++ % 3]?.()) : null,
    )
    const one = puller(proxy, box, { hashAttempts: 3, relistEvery: 300 })
    await one.start()
    await expect.poll(() => one.reports.filter(({ againInMs }) => againInMs === null)).not.toEqual([])
    expect(codesOf(one.reports.slice(0, 3))).toEqual(['HASH_DIFFERS', 'HASH_DIFFERS', 'HASH_DIFFERS'])
    expect(one.reports[2]).toMatchObject({ attempts: 3, againInMs: null })
    await expect.poll(() => one.pulled).toHaveLength(1)
    await expect.poll(() => namesIn(one.folder)).toHaveLength(1)
    await expect.poll(() => pendingIds(box)).toEqual([bad])
    await expect.poll(() => one.troubles()).toMatchObject([{ code: 'HASH_DIFFERS' }])
    isWrong = false
    await expect.poll(() => one.pulled).toHaveLength(2)
    expect(readFileSync(one.pulled[1]?.path ?? '', 'utf8')).toBe('0123456789')
    await expect.poll(() => one.troubles()).toEqual([])
  })

  test('B7 E41 a file is over the cap of the limits document, it is neither fetched nor acknowledged until the cap is raised', async () => {
    const { box, files, proxy } = await setUp('x'.repeat(101), 'y'.repeat(100))
    const [large = '', small = ''] = files
    let maxFileBytes = 100
    proxy.override(async ({ path: at, forward }) =>
      at === '/limits'
        ? Response.json({ ...((await (await forward()).json()) as object), maxFileBytes })
        : null,
    )
    const one = puller(proxy, box, { relistEvery: 300 })
    await one.start()
    expect(await one.settled()).toMatchObject({
      isComplete: false,
      troubles: [{ code: 'FILE_TOO_LARGE', againInMs: null, message: 'file too large: 101 bytes (max 100)' }],
    })
    expect(one.pulled.map(({ id }) => id)).toEqual([small])
    expect(countOf(proxy, `${large}/content`)).toBe(0)
    await expect.poll(() => pendingIds(box)).toEqual([large])
    maxFileBytes = 101
    await expect.poll(() => one.pulled).toHaveLength(2)
  })

  test('B7 an acknowledgement fails, the file stays, is not fetched again, and is acknowledged later', async () => {
    const { box, files, proxy } = await setUp('kept')
    const [kept = ''] = files
    let failures = 2
    proxy.override((request) =>
      isAck(request) && failures-- > 0 ? new Response('no', { status: 503 }) : null,
    )
    const one = puller(proxy, box)
    await one.start()
    await expect.poll(() => pendingIds(box)).toEqual([])
    expect(countOf(proxy, `${kept}/content`)).toBe(1)
    expect(countOf(proxy, `${kept}/ack`)).toBe(3)
    expect(codesOf(one.reports)).toEqual(['ACK_FAILED', 'ACK_FAILED'])
    expect(one.pulled).toHaveLength(1)
  })

  test('B7 the acknowledgement races with the sweep, or the file is unknown, and the file is kept', async () => {
    const { box, proxy } = await setUp('raced', 'gone')
    const answers = [Response.json({ acked: true, raced: true }), new Response(null, { status: 404 })]
    proxy.override((request) => (isAck(request) ? (answers.shift() ?? null) : null))
    const one = puller(proxy, box)
    await one.start()
    expect(await one.settled()).toMatchObject({ isComplete: true })
    expect(namesIn(one.folder)).toHaveLength(2)
    expect(indexOf(one.folder).map(({ doneAt }) => typeof doneAt)).toEqual(['number', 'number'])
    expect(one.reports).toEqual([])
  })

  test('E36 a file is acknowledged with the hash of what is on the disk', async () => {
    const { box, proxy } = await setUp('one')
    const bodies: string[] = []
    proxy.override((request) => {
      if (isAck(request)) bodies.push(request.body)
      return null
    })
    await pullOnce(optionsFor(proxy, box))
    expect(bodies).toEqual([JSON.stringify({ sha256: sha256('one') })])
  })

  test('B7 an acknowledged file is listed again, it is acknowledged again and not fetched', async () => {
    const { box, files, proxy } = await setUp('one')
    const options = optionsFor(proxy, box)
    const listed = (await pending(box)).files
    const before = await pullOnce(options)
    rmSync(before.files[0]?.path ?? '')
    proxy.override((request) =>
      isList(request) ? Response.json({ files: listed, cursor: 'x', more: false }) : null,
    )
    expect(await pullOnce(options)).toMatchObject({ isComplete: true })
    expect(countOf(proxy, `${files[0]}/content`)).toBe(1)
    expect(countOf(proxy, `${files[0]}/ack`)).toBe(2)
    expect(namesIn(options.folder)).toEqual([])
  })

  test('the inbox redirects, and the token is not sent there', async () => {
    const { box, proxy } = await setUp('one')
    proxy.override(({ path: at }) =>
      at === '/limits'
        ? new Response(null, { status: 307, headers: { location: `${proxy.url}/elsewhere` } })
        : null,
    )
    const refused = pullOnce(optionsFor(proxy, box, { onTrouble: () => {} }))
    await expect(refused).rejects.toMatchObject({ code: 'REFUSED', status: 307, field: 'url' })
    expect(countOf(proxy, 'elsewhere')).toBe(0)
  })

  test('the acknowledgement says that the hash is another, it is reported and the file is kept', async () => {
    const { box, files, proxy } = await setUp('one')
    proxy.override((request) =>
      isAck(request) ? Response.json({ code: 'HASH_DIFFERS' }, { status: 409 }) : null,
    )
    const summary = await pullOnce(optionsFor(proxy, box, { onTrouble: () => {} }))
    expect(summary).toMatchObject({ isComplete: false, troubles: [{ code: 'ACK_FAILED' }] })
    await expect.poll(() => pendingIds(box)).toEqual(files)
  })

  test('onFile throws, the file is not acknowledged or fetched again, and onFile is called again', async () => {
    const { box, files, proxy } = await setUp('one')
    let calls = 0
    const one = puller(proxy, box, {
      onFile() {
        calls += 1
        if (calls < 3) throw new Error('not now')
      },
    })
    await one.start()
    await expect.poll(() => pendingIds(box)).toEqual([])
    expect(calls).toBe(3)
    expect(codesOf(one.reports)).toEqual(['LISTENER_FAILED', 'LISTENER_FAILED'])
    expect(countOf(proxy, `${files[0]}/content`)).toBe(1)
  })

  test('onFile moves the file away and the acknowledgement fails, nothing is fetched again', async () => {
    const { box, files, proxy } = await setUp('one')
    let failures = 2
    proxy.override((request) =>
      isAck(request) && failures-- > 0 ? new Response('no', { status: 500 }) : null,
    )
    const one = puller(proxy, box, { onFile: ({ path: at }) => rmSync(at) })
    await one.start()
    await expect.poll(() => pendingIds(box)).toEqual([])
    expect(countOf(proxy, `${files[0]}/content`)).toBe(1)
    expect(one.rewrite(one.pulled[0]?.uri)).toBe(one.pulled[0]?.uri)
  })

  test.each([
    ['is no JSON', () => new Response('<html>hello</html>')],
    ['is not a list', () => Response.json({ files: 'many', cursor: 'x' })],
    ['is JSON of another kind', () => Response.json(['x'])],
    ['is 500', () => new Response('no', { status: 500 })],
    ['is 403', () => Response.json({ code: 'FORBIDDEN' }, { status: 403 })],
    [
      'is a redirect',
      () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
    ],
  ])('B7 the answer to the list %s, the cursor stays and the list is retried', async (_, answer) => {
    const { box, proxy } = await setUp('one')
    const one = puller(proxy, box)
    await one.start()
    // It waits for files after the first one.
    await expect.poll(() => countOf(proxy, 'after=')).toBe(1)
    let failures = 2
    proxy.override((request) => (isList(request) && failures-- > 0 ? answer() : null))
    await box.sent('two')
    await box.sent('three')
    await expect.poll(() => one.pulled).toHaveLength(3)
    // Both may have arrived with the pending response.
    await expect.poll(() => failures).toBeLessThanOrEqual(0)
    await expect.poll(() => one.reports.length).toBeGreaterThanOrEqual(1)
    expect(countOf(proxy, 'GET /uploads?') - countOf(proxy, 'after=')).toBe(1)
    expect(one.reports[0]?.code).toMatch(/LIST_FAILED|TOKEN_REFUSED/)
  })

  test.each(['poll', 'events'] as const)(
    'B7 the cursor is answered 410, by %s, it is dropped and everything is listed from the beginning',
    async (by) => {
      const { box, proxy } = await setUp('one')
      const one = puller(proxy, box, { by })
      await one.start()
      await expect.poll(() => one.pulled).toHaveLength(1)
      let lost = 0
      let isDropped = false
      proxy.override(({ path: at, headers }) => {
        const hasCursor = at.includes('after=') || headers['last-event-id'] !== undefined
        isDropped ||= !hasCursor && (at.startsWith('/uploads?') || at === '/events')
        if (!hasCursor || isDropped) return null
        lost += 1
        return Response.json({ code: 'CURSOR_GONE' }, { status: 410 })
      })
      // The next request has a cursor.
      if (by === 'events') proxy.cut()
      await box.sent('two')
      await expect.poll(() => one.pulled).toHaveLength(2)
      await box.sent('three')
      await expect.poll(() => one.pulled).toHaveLength(3)
      expect(lost).toBe(1)
      expect(namesIn(one.folder)).toHaveLength(3)
    },
  )

  test('B7 an invalid list entry is reported, and the other files are pulled', async () => {
    const { box, files, proxy } = await setUp('one', 'two')
    proxy.override(async (request) => {
      if (!isList(request)) return null
      const page = (await (await request.forward()).json()) as { files: { id: string }[] }
      const [first, ...rest] = page.files
      const bad = first?.id === files[0] ? [{ ...first, id: '../../etc' }] : page.files.slice(0, 1)
      return Response.json({ ...page, files: [...bad, null, ...rest] })
    })
    const one = puller(proxy, box)
    await one.start()
    await expect.poll(() => one.pulled.map(({ id }) => id)).toEqual([files[1]])
    expect(one.reports[0]?.message).toBe('the inbox listed 2 invalid files')
  })

  test('B7 a rotated token is read again: from a file, and from a function', async () => {
    const scene = getScene()
    const box = await mailbox(scene)
    await box.sent('one')
    const file = path.join(freshFolder(), 'token')
    writeFileSync(file, 'jmu_wrong\n')
    let token = 'jmu_wrong'
    const byFile = puller(scene, box, { token: { file }, onFile: () => Promise.reject(new Error('keep it')) })
    const byFunction = puller(scene, box, { token: async () => token, by: 'events' })
    await byFile.start()
    await byFunction.start()
    for (const { reports } of [byFile, byFunction])
      await expect.poll(() => reports[0]).toMatchObject({ code: 'TOKEN_REFUSED', uri: null })
    rmSync(file)
    await expect.poll(() => byFile.reports.at(-1)?.message).toContain('cannot be read')
    writeFileSync(file, `${box.token}\n`)
    await expect.poll(() => byFile.reports.at(-1)?.code).toBe('LISTENER_FAILED')
    token = box.token
    await expect.poll(() => byFunction.pulled).toHaveLength(1)
  })

  test('pullOnce reports an unreachable inbox', async () => {
    const { box } = await setUp('one')
    const options = optionsFor({ url: 'http://127.0.0.1:1' }, box, { onTrouble: () => {} })
    await expect(pullOnce(options)).rejects.toMatchObject({ code: 'UNREACHABLE' })
    const wrong = optionsFor(getScene(), box, { token: 'jmu_wrong', onTrouble: () => {} })
    await expect(pullOnce(wrong)).rejects.toMatchObject({ code: 'REFUSED', status: 401 })
  })
})
