/**
 * Durability: the order in which files, their names and their folders are flushed before a response is sent.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { pullOnce } from 'jobmill-uploads/client'
import { directoryBlobs } from 'jobmill-uploads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFolder, namesIn } from './client/support/folders.ts'
import { optionsFor } from './client/support/pullers.ts'
import { hold } from '../src/client/folder/hold.ts'
import { watchDisk } from './support/disk.ts'
import { mailbox, pending, sceneForAll } from './support/inboxes.ts'

let log: string[] = []
const sharedScene = sceneForAll('sqlite', { fault: (point) => void log.push(point) })

test('E35 every file is flushed before it has its name, and its folders before the upload is committed', async () => {
  const box = await mailbox(sharedScene())
  const disk = await watchDisk()
  ;({ log } = disk)
  await box.sent('one', 'two')
  const [upload = ''] = log.flatMap((line) => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(line) ?? [])
  const root = path.dirname(path.dirname(log.find((line) => line.endsWith('/0.part'))?.slice(6) ?? ''))
  const above = path.dirname(root)
  const folder = path.join(root, upload)
  const file = (n: number): string[] => [
    `flush ${folder}/${n}.part`,
    `rename ${folder}/${n}.part ${folder}/${n}`,
    `flush ${folder}`,
    'receive:written',
  ]
  expect(log).toEqual([
    'receive:staged',
    `flush ${root}`,
    `flush ${above}`,
    ...file(0),
    ...file(1),
    'receive:complete',
    'receive:rows',
    'receive:committed',
  ])
})

test('E35 a new blob folder is flushed in its parents before it has content', async () => {
  const above = mkdtempSync(path.join(tmpdir(), 'jobmill-above-'))
  onTestFinished(() => rmSync(above, { recursive: true, force: true }))
  const { log: asked } = await watchDisk()
  const blobs = directoryBlobs(path.join(above, 'a', 'b'))
  const inbox = randomUUID()
  await blobs.open(inbox)
  expect(asked.slice(0, 2)).toEqual([`flush ${path.join(above, 'a')}`, `flush ${above}`])
  expect(asked.slice(2).filter((line) => !line.includes(path.join(above, 'a', 'b')))).toEqual([])
  const before = asked.length
  await blobs.open(inbox)
  expect(asked).toHaveLength(before)
})

test('D4 a relative blob folder stays the same after the process changes its working directory', async () => {
  const before = process.cwd()
  const folder = freshFolder()
  onTestFinished(() => process.chdir(before))
  process.chdir(folder)
  const blobs = directoryBlobs('blobs')
  await blobs.open(randomUUID())
  process.chdir(freshFolder())
  const id = `${randomUUID()}/0`
  const bytes = (async function* () {
    yield Buffer.from('hello')
  })()
  await blobs.write(id, bytes, new AbortController().signal)
  const [upload = ''] = id.split('/')
  expect(existsSync(path.join(folder, 'blobs', upload.slice(-2), id))).toBe(true)
})

test('E36 B7 a puller acknowledges a file after its name and index entry are flushed', async () => {
  const box = await mailbox(sharedScene())
  const [id = ''] = await box.sent('one')
  const above = freshFolder()
  const folder = path.join(above, 'new')
  const disk = await watchDisk()
  ;({ log } = disk)
  await pullOnce(optionsFor(sharedScene(), box, { folder }))
  const acked = log.indexOf('ack:before')
  const before = log.slice(0, acked).map((line) => line.replace(/\.[0-9a-f]{16}\.part/g, '.X.part'))
  const part = `${folder}/.${id}.X.part`
  const name = `${folder}/${id}-0.txt`
  const own = `${folder}/.jobmill-uploads`
  expect(acked).toBeGreaterThan(0)
  expect(before.filter((line) => line.includes(above) && !line.includes('/lock'))).toEqual([
    `flush ${above}`,
    // Once for its own subfolder, and once for the partial files it removed.
    `flush ${folder}`,
    `flush ${folder}`,
    `flush ${own}`,
    `flush ${part}`,
    `link ${part} ${name}`,
    `flush ${folder}`,
    `flush ${own}/index.jsonl`,
  ])
})

test('E42 a folder has one puller, even without hard links', async () => {
  const file = path.join(freshFolder(), 'lock')
  const disk = await watchDisk()
  disk.instead('link', () => Promise.reject(Object.assign(new Error('ENOTSUP: link'), { code: 'ENOTSUP' })))
  const release = await hold(file, 'here')
  expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid} `))
  await release()
  writeFileSync(file, '1 not-when-it-began')
  await (
    await hold(file, 'here')
  )()
  // An empty lock is being written; it is stale only when its writer is gone.
  writeFileSync(file, '')
  await expect(hold(file, 'here')).rejects.toMatchObject({ code: 'FOLDER_BUSY' })
  utimesSync(file, new Date(), new Date(Date.now() - 31_000))
  await (
    await hold(file, 'here')
  )()
  const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8')
  const begin = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  writeFileSync(file, `${process.ppid} ${begin}`)
  await expect(hold(file, 'here')).rejects.toMatchObject({ code: 'FOLDER_BUSY' })
  expect(namesIn(path.dirname(file))).toEqual(['lock'])
})

async function fetched(
  how: (name: string, real: () => Promise<void>) => Promise<void>,
  rename?: (name: string, real: () => Promise<void>) => Promise<void>,
) {
  const box = await mailbox(sharedScene())
  const [id = ''] = await box.sent('new')
  const folder = freshFolder()
  const disk = await watchDisk()
  const { link } = disk.real
  // The lock keeps using the real call.
  disk.instead('link', (from, to) => (to.endsWith('/lock') ? link(from, to) : how(to, () => link(from, to))))
  const renameReal = disk.real.rename
  if (rename !== undefined) disk.instead('rename', (from, to) => rename(to, () => renameReal(from, to)))
  const { troubles } = await pullOnce(optionsFor(sharedScene(), box, { folder, onTrouble: () => {} }))
  const [pendingOne] = (await pending(box)).files
  const name = `${id}-0.txt`
  return {
    troubles: troubles.map(({ code }) => code),
    content: readFileSync(path.join(folder, name), 'utf8'),
    names: namesIn(folder).filter((one) => one !== name),
    isAcked: pendingOne === undefined,
    log: disk.log.filter((line) => line.includes(name) || line === `flush ${folder}`),
  }
}
const none = (code: string) => Object.assign(new Error(`${code}: link`), { code })

describe('B7 the name of a file that was fetched', () => {
  const whole = { troubles: [], content: 'new', names: [], isAcked: true }
  const nameTaken = { troubles: ['NAME_TAKEN'], content: 'mine', names: [], isAcked: false }

  test.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])(
    'is given by a rename without hard links (%s), and flushed',
    async (code) => {
      const { log: asked, ...result } = await fetched(() => Promise.reject(none(code)))
      expect(result).toEqual(whole)
      expect(asked.slice(-2)).toEqual([expect.stringMatching(/^rename /), expect.stringMatching(/^flush /)])
    },
  )

  test('never replaces a file that took it before the link', async () => {
    const result = await fetched(async (name, link) => {
      writeFileSync(name, 'mine')
      await link()
    })
    expect(result).toMatchObject(nameTaken)
  })

  test('never replaces a file that took it before the rename, without hard links', async () => {
    const result = await fetched(async (name) => {
      writeFileSync(name, 'mine')
      throw none('EPERM')
    })
    expect(result).toMatchObject(nameTaken)
  })

  test('is claimed before the rename, without hard links: another writer finds it taken', async () => {
    const late: unknown[] = []
    const result = await fetched(
      () => Promise.reject(none('EPERM')),
      async (name, rename) => {
        if (name.endsWith('.txt'))
          await fs.writeFile(name, 'mine', { flag: 'wx' }).catch((error: unknown) => void late.push(error))
        await rename()
      },
    )
    expect(result).toMatchObject(whole)
    expect(late).toMatchObject([{ code: 'EEXIST' }])
  })

  test('is given by the next attempt after a failure between claim and rename', async () => {
    let renames = 0
    const result = await fetched(
      async (name, link) => (existsSync(name) ? link() : Promise.reject(none('EPERM'))),
      async (name, rename) => {
        renames += name.endsWith('.txt') ? 1 : 0
        if (renames === 1) throw Object.assign(new Error('EIO: rename'), { code: 'EIO' })
        await rename()
      },
    )
    expect(result).toMatchObject({ ...whole, troubles: [] })
    expect(renames).toBe(2)
  })
})

test('E35 a blob folder takes no options, which would be ignored', () => {
  const blobs = directoryBlobs as (folder: string, options: unknown) => unknown
  for (const options of [{ mode: 0o644 }, 'more', null])
    expect(() => blobs('blobs', options)).toThrow(/^options: are not supported .*Pass only the folder/)
})
