/**
 * The folder of a puller: hostile names, links, full disks, other processes, torn lines, retention, and
 * `rewrite`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { pull, type PullOptions, pullOnce } from 'jobmill-uploads/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { type Box, mailbox, type Page, pending, sceneForAll, STORES } from '../support/inboxes.ts'
import { proxyForAll } from './support/inbox-proxy.ts'
import { freshFolder, indexOf, namesIn } from './support/folders.ts'
import { optionsFor, puller } from './support/pullers.ts'

const HOLDER = path.join(import.meta.dirname, 'support/holder-child.ts')
const DAY_MS = 86_400_000
const throwNotNow = (): never => {
  throw new Error('not now')
}
const throwDiskFull = (): never => {
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
}

describe.each(STORES)('the folder of a puller on %s', (store) => {
  const test = inTurns(store, STORES)
  const getScene = sceneForAll(store)
  const getProxy = proxyForAll(() => getScene().url)

  async function mailboxWith(...contents: string[]): Promise<{ box: Box; files: string[] }> {
    const box = await mailbox(getScene())
    return { box, files: await box.sent(...contents) }
  }

  test('B7 E42 hostile names stay inside the folder, prefixed with their file id', async () => {
    const { box, files } = await mailboxWith('1', '2', '3', '4', '5')
    const names = [
      '../../../etc/passwd',
      '..',
      'C:\\x\\a\u0000\u202E.exe',
      '/abs/olute',
      `${'x'.repeat(900)}.pdf`,
    ]
    const proxy = getProxy()
    proxy.override(async ({ method, path: at, forward }) => {
      if (method !== 'GET' || !at.startsWith('/uploads?')) return null
      const page = (await (await forward()).json()) as Page
      const named = page.files.map((file) => ({ ...file, name: names[files.indexOf(file.id)] ?? '' }))
      return Response.json({ ...page, files: named })
    })
    const options = optionsFor(proxy, box)
    expect(await pullOnce(options)).toMatchObject({ isComplete: true })
    expect(namesIn(options.folder)).toEqual(
      files
        .map((id, n) => `${id}-${['passwd', 'file', 'a__.exe', 'olute', `${'x'.repeat(96)}.pdf`][n]}`)
        .toSorted(),
    )
  })

  test.each(['a link', 'a folder', 'another file'])(
    'B7 %s with the name of a file is neither followed nor changed',
    async (what) => {
      const { box, files } = await mailboxWith('new')
      const options = optionsFor(getScene(), box, { onTrouble: () => {} })
      const elsewhere = path.join(freshFolder(), 'elsewhere')
      writeFileSync(elsewhere, 'new')
      const name = path.join(options.folder, `${files[0]}-0.txt`)
      if (what === 'a link') symlinkSync(elsewhere, name)
      else if (what === 'a folder') mkdirSync(name)
      else writeFileSync(name, 'mine')
      expect(await pullOnce(options)).toMatchObject({ isComplete: false, troubles: [{ code: 'NAME_TAKEN' }] })
      expect(readFileSync(elsewhere, 'utf8')).toBe('new')
      expect(namesIn(options.folder)).toHaveLength(1)
      expect((await pending(box)).files).toHaveLength(1)
    },
  )

  test.each(['pull:opened', 'pull:half', 'pull:written', 'pull:renamed', 'pull:kept', 'pull:acked'] as const)(
    'the disk is full at %s: it is reported, fetching pauses, and resumes when there is space',
    async (point) => {
      const { box } = await mailboxWith('1', '2', '3')
      let isFull = true
      const one = puller(getScene(), box, {
        concurrency: 2,
        backoff: { first: 30, most: 30 },
        fault: (at) => void (isFull && at === point && throwDiskFull()),
      })
      await one.start()
      await expect.poll(() => one.reports.length).toBeGreaterThanOrEqual(2)
      expect(new Set(one.reports.map(({ code }) => code))).toEqual(new Set(['DISK_FULL']))
      isFull = false
      await expect.poll(async () => (await pending(box)).files).toEqual([])
      await expect.poll(() => one.troubles()).toEqual([])
      expect(namesIn(one.folder).filter((name) => name.endsWith('.part'))).toEqual([])
      expect(namesIn(one.folder)).toHaveLength(3)
    },
  )

  test('B7 a file that takes the name during a fetch is not overwritten', async () => {
    const { box, files } = await mailboxWith('new')
    const options = optionsFor(getScene(), box, { onTrouble: () => {} })
    const name = path.join(options.folder, `${files[0]}-0.txt`)
    const fault = (at: string): void => void (at === 'pull:flushed' && writeFileSync(name, 'mine'))
    expect(await pullOnce({ ...options, fault })).toMatchObject({ troubles: [{ code: 'NAME_TAKEN' }] })
    expect(readFileSync(name, 'utf8')).toBe('mine')
    expect(namesIn(options.folder)).toHaveLength(1)
  })

  test('the disk is full for one file: the next one is tried, and then none if that fails too', async () => {
    const { box } = await mailboxWith('1', '2', '3')
    const proxy = getProxy()
    const backoff = { first: '1h', most: '1h' }
    const one = puller(proxy, box, {
      concurrency: 1,
      backoff,
      fault: (at) => void (at === 'pull:half' && throwDiskFull()),
    })
    await one.start()
    await expect.poll(() => one.reports.length).toBe(2)
    expect(await one.settled({ withinMs: 100 })).toMatchObject({ isComplete: false })
    expect(proxy.requests.filter((at) => at.endsWith('/content'))).toHaveLength(2)
  })

  test('the disk is full: pullOnce reports it after two attempts', async () => {
    const { box } = await mailboxWith(...Array.from({ length: 12 }, String))
    const proxy = getProxy()
    const summary = await pullOnce({
      ...optionsFor(proxy, box, { onTrouble: () => {} }),
      concurrency: 1,
      backoff: { first: 20, most: 40 },
      fault: (at) => void (at === 'pull:half' && throwDiskFull()),
    })
    expect(summary).toMatchObject({ isComplete: false, files: [] })
    expect(summary.troubles.map(({ code }) => code)).toEqual(Array.from({ length: 12 }, () => 'DISK_FULL'))
    expect(proxy.requests.filter((at) => at.endsWith('/content')).length).toBeLessThan(12)
  })

  test('a file that does not fit on the disk delays no other file', async () => {
    const { box, files } = await mailboxWith('too large', '2', '3')
    const [large = ''] = files
    let isFirst = true
    const one = puller(getScene(), box, {
      concurrency: 1,
      backoff: { first: '1h', most: '1h' },
      fault(point) {
        if (point !== 'pull:half' || !isFirst) return
        isFirst = false
        throwDiskFull()
      },
    })
    await one.start()
    await expect.poll(() => one.pulled.length).toBe(2)
    expect(one.pulled.map(({ id }) => id)).not.toContain(large)
  })

  test('E42 a second puller on the folder is refused, and the lock of a dead one is broken', async () => {
    const box = await mailbox(getScene())
    const one = puller(getScene(), box)
    await one.start()
    const options = optionsFor(getScene(), box, { folder: one.folder })
    await expect(pullOnce(options)).rejects.toMatchObject({ code: 'FOLDER_BUSY', field: 'folder' })
    const name = `${one.folder}-by-another-name`
    symlinkSync(one.folder, name)
    onTestFinished(() => rmSync(name))
    await expect(pullOnce({ ...options, folder: name })).rejects.toMatchObject({ code: 'FOLDER_BUSY' })
    await one.stop()
    const own = path.join(one.folder, '.jobmill-uploads')
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8')
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    writeFileSync(path.join(own, 'lock'), `${process.ppid} ${startTime}`)
    await expect(pullOnce(options)).rejects.toThrow(`process ${process.ppid}`)
    for (const lock of ['999999999 123', `${process.pid} 1`, `1 not-when-it-began`, 'nonsense']) {
      writeFileSync(path.join(own, 'lock'), lock)
      expect(await pullOnce(options)).toMatchObject({ isComplete: true })
    }
    // A lock from another machine is valid as long as it is touched.
    const elsewhere = `${process.pid} 1 another-machine 5`
    writeFileSync(path.join(own, 'lock'), elsewhere)
    await expect(pullOnce(options)).rejects.toMatchObject({ code: 'FOLDER_BUSY' })
    const before = new Date(Date.now() - 60_000)
    utimesSync(path.join(own, 'lock'), before, before)
    expect(await pullOnce(options)).toMatchObject({ isComplete: true })
    writeFileSync(path.join(one.folder, `.${box.id}.0123456789abcdef.part`), 'half')
    writeFileSync(path.join(one.folder, '.mine.part'), 'mine')
    await pullOnce(options)
    expect(namesIn(one.folder)).toEqual(['.mine.part'])
  })

  test('E42 the index survives: torn lines are ignored, and foreign lines lead nowhere', async () => {
    const { box } = await mailboxWith('one')
    const options = optionsFor(getScene(), box)
    const { files } = await pullOnce(options)
    const index = path.join(options.folder, '.jobmill-uploads/index.jsonl')
    const [line = ''] = readFileSync(index, 'utf8').split('\n')
    const other = line.replace(/"file":"[^"]*"/, '"file":"../../secret"')
    appendFileSync(index, `${other.replace(/"uri":"[^"]*"/, '"uri":"x"')}\nnot json\n${line.slice(0, 40)}`)
    const again = pull(options)
    await again.start()
    const uri = files[0]?.uri ?? ''
    expect(again.pathOf(uri)).toBe(files[0]?.path)
    expect(again.pathOf('x')).toBeNull()
    await again.stop()
    expect(
      readFileSync(index, 'utf8')
        .split('\n')
        .map((one) => one.slice(0, 1)),
    ).toEqual(['{', ''])
  })

  test('E42 retention: a file and its entry are deleted after their time, counted from the acknowledgement; forever keeps them', async () => {
    const { box } = await mailboxWith('one')
    let nowMs = Date.now()
    const options: PullOptions = optionsFor(getScene(), box, { keepFor: '2d', clock: () => nowMs })
    const { files } = await pullOnce(options)
    await box.sent('two')
    nowMs += DAY_MS
    await pullOnce(options)
    writeFileSync(path.join(options.folder, 'mine.txt'), 'mine')
    nowMs += DAY_MS
    expect(await pullOnce({ ...options, keepFor: 'forever' })).toMatchObject({ cleaned: 0 })
    expect(await pullOnce(options)).toMatchObject({ cleaned: 1 })
    expect(existsSync(files[0]?.path ?? '')).toBe(false)
    expect(namesIn(options.folder)).toHaveLength(2)
    expect(indexOf(options.folder)).toHaveLength(1)
  })

  test('a file from before the clock was set gets its full retention', async () => {
    const { box } = await mailboxWith('one')
    let nowMs = 1_000
    const options: PullOptions = optionsFor(getScene(), box, { keepFor: '2d', clock: () => nowMs })
    await pullOnce(options)
    nowMs = Date.now()
    expect(await pullOnce(options)).toMatchObject({ cleaned: 0 })
    nowMs += 2 * DAY_MS - 1
    expect(await pullOnce(options)).toMatchObject({ cleaned: 0 })
    nowMs += 1
    expect(await pullOnce(options)).toMatchObject({ cleaned: 1 })
  })

  test('unfinished files of another mailbox are neither reported nor acknowledged', async () => {
    const { box } = await mailboxWith('one')
    const { box: other } = await mailboxWith('two')
    const folder = freshFolder()
    await pullOnce(optionsFor(getScene(), box, { folder, onFile: throwNotNow, onTrouble: () => {} }))
    const reports: string[] = []
    await pullOnce(optionsFor(getScene(), other, { folder, onFile: ({ uri }) => void reports.push(uri) }))
    expect(reports).toEqual([expect.stringContaining(other.id)])
    expect((await pending(box)).files).toHaveLength(1)
    expect(await pullOnce(optionsFor(getScene(), box, { folder }))).toMatchObject({ isComplete: true })
    expect((await pending(box)).files).toEqual([])
  })

  test('B7 the barrier: settled comes after every fetch, so that rewrite finds all; E42 and after a new start', async () => {
    const { box, files } = await mailboxWith('1', '2', '3')
    const uris = files.map((id) => `jobmill-upload:${box.id}/${id}`)
    const message = {
      parts: [{ uri: uris[0] }, `see ${uris[1]} and ${uris[2]?.toUpperCase()}`],
      n: 1,
      none: null,
    }
    const one = puller(getScene(), box, { concurrency: 1 })
    expect(() => one.rewrite(message)).toThrow('start()')
    await one.start()
    await one.settled()
    const paths = files.map((id, n) => path.join(one.folder, `${id}-${n}.txt`))
    const unknown = `jobmill-upload:${box.id}/${box.id}`
    expect(one.rewrite([message, unknown])).toEqual([
      { parts: [{ uri: paths[0] }, `see ${paths[1]} and ${paths[2]}`], n: 1, none: null },
      unknown,
    ])
    expect(message.parts[0]).toEqual({ uri: uris[0] })
    await one.stop()
    await one.start()
    expect(one.rewrite(uris)).toEqual(paths)
  })

  test('B7 the barrier has an end of its own', async () => {
    const { box } = await mailboxWith('1')
    const proxy = getProxy()
    proxy.override(({ path: at }) => (at.endsWith('/content') ? 'hang' : null))
    const one = puller(proxy, box)
    await one.start()
    await expect.poll(() => proxy.requests.filter((at) => at.endsWith('/content'))).toHaveLength(1)
    expect(await one.settled({ withinMs: 100 })).toMatchObject({ isComplete: false, files: [] })
    proxy.override(() => new Response('no', { status: 500 }))
    expect(await one.settled()).toMatchObject({ isComplete: false, troubles: [{ code: 'LIST_FAILED' }] })
  })
})

test('E42 exactly one of several concurrent processes gets the folder, even after a dead one left its lock', async () => {
  const folder = freshFolder()
  const children = [1, 2, 3].map(() => fork(HOLDER, { stdio: 'inherit' }))
  onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')))
  const nextMessages = (): Promise<string[]> =>
    Promise.all(children.map(async (child) => String((await once(child, 'message'))[0])))
  async function sendAll(word: string): Promise<string[]> {
    const replies = nextMessages()
    for (const child of children) child.send(word)
    return replies
  }
  expect(await nextMessages()).toEqual(['ready', 'ready', 'ready'])
  for (let round = 0; round < inFull(150, 60); round += 1) {
    const lock = path.join(folder, `${round}`)
    if (round % 3 > 0) writeFileSync(lock, '999999999 123')
    const replies = await sendAll(lock)
    expect({ round, replies: replies.toSorted() }).toEqual({ round, replies: ['busy', 'busy', 'got'] })
    await sendAll('release')
  }
  expect(readdirSync(folder)).toEqual([])
}, 60_000)

test('rewrite handles deep and cyclic values, and prototype keys', async () => {
  const { rewrite } = await import('../../src/client/rewrite.ts')
  const uri = 'jobmill-upload:00000000-0000-7000-8000-000000000000/00000000-0000-7000-8000-000000000001'
  let deep: unknown = uri
  for (let n = 0; n < 100_000; n += 1) deep = [deep]
  let found: unknown = rewrite(deep, () => '/here')
  while (Array.isArray(found)) [found] = found as unknown[]
  expect(found).toBe('/here')
  const hostile = JSON.parse(`{"__proto__":{"uri":"${uri}"},"constructor":"${uri}"}`) as object
  expect(JSON.stringify(rewrite(hostile, () => '/here'))).toBe(
    '{"__proto__":{"uri":"/here"},"constructor":"/here"}',
  )
  const round: { self?: unknown; uri: string } = { uri }
  round.self = round
  const copy = rewrite(round, () => '/here')
  expect(copy.self).toBe(copy)
  expect(copy.uri).toBe('/here')
  const date = new Date(0)
  expect(rewrite({ date }, () => '/here').date).toBe(date)
})

test.each([
  [{ url: 'ftp://x' }, 'url'],
  [{ url: 'http://a:b@x' }, 'url'],
  [{ mailbox: 'm' }, 'mailbox'],
  [{ token: '' }, 'token'],
  [{ folder: '' }, 'folder'],
  [{ concurrency: 0 }, 'concurrency'],
  [{ keepFor: '-1d' }, 'keepFor'],
  [{ wait: '2m' }, 'wait'],
  [{ by: 'mail' as 'poll' }, 'by'],
  [{ bogus: 1 }, 'bogus'],
])('an invalid option is refused by name: %o', (options, field) => {
  const usual = { url: 'http://x', mailbox: '00000000-0000-7000-8000-000000000000', token: 't', folder: 'f' }
  expect(() => pull({ ...usual, ...options })).toThrow(
    expect.objectContaining({ code: 'OPTION_INVALID', field }),
  )
})
