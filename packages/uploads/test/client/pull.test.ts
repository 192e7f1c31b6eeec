/**
 * The happy path of the client on both stores: list, fetch, store with its hash, index, acknowledge; by
 * polling and by events.
 */
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { pullOnce } from 'jobmill-uploads/client'
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { mailbox, pending, sceneForAll, sha256, STORES } from '../support/inboxes.ts'
import { indexOf, namesIn } from './support/folders.ts'
import { optionsFor, puller } from './support/pullers.ts'

describe.each(STORES)('a puller on %s', (store) => {
  const test = inTurns(store, STORES)
  const getScene = sceneForAll(store)

  test.each(['poll', 'events'] as const)('B10 pulls existing and new files, by %s', async (by) => {
    const scene = getScene()
    const box = await mailbox(scene)
    const large = new Uint8Array(3_000_000).map((_, at) => at % 251)
    await box.upload([
      { name: 'hello world!.pdf', type: 'application/pdf', bytes: large },
      { name: 'b.txt', bytes: 'two' },
    ])
    const one = puller(scene, box, { by })
    await one.start()
    await one.start()
    await expect.poll(() => one.pulled).toHaveLength(2)
    await box.sent('three')
    await expect.poll(() => one.pulled).toHaveLength(3)
    await expect.poll(async () => (await pending(box)).files).toEqual([])
    for (const file of one.pulled) {
      const bytes = readFileSync(file.path)
      expect(sha256(bytes)).toBe(file.sha256)
      expect(bytes).toHaveLength(file.size)
      expect(statSync(file.path).mode & 0o777).toBe(0o600)
    }
    const first = one.pulled.find(({ size }) => size === large.length)
    expect(path.basename(first?.path ?? '')).toBe(`${first?.id}-hello_world_.pdf`)
    expect(first).toMatchObject({ mimeType: 'application/pdf', sha256: sha256(large) })
    expect(namesIn(one.folder)).toHaveLength(3)
    await expect.poll(() => indexOf(one.folder).filter(({ doneAt }) => doneAt !== null)).toHaveLength(3)
    expect(one.reports).toEqual([])
    await one.stop()
    await one.stop()
  })

  test('pullOnce pulls the pending files and returns them', async () => {
    const scene = getScene()
    const box = await mailbox(scene)
    await box.sent('a', 'b', 'c')
    const options = optionsFor(scene, box)
    const first = await pullOnce(options)
    expect(first).toMatchObject({ isComplete: true, troubles: [], cleaned: 0 })
    expect(first.files.map((file) => readFileSync(file.path, 'utf8')).toSorted()).toEqual(['a', 'b', 'c'])
    expect((await pending(box)).files).toEqual([])
    expect(await pullOnce(options)).toEqual({ isComplete: true, files: [], troubles: [], cleaned: 0 })
  })

  // The list is the same on the other store, and flushing so many files is slow.
  test.runIf(store === 'sqlite')('more than a page of files, without duplicates', async () => {
    const scene = getScene()
    const box = await mailbox(scene)
    for (const at of [0, 1]) await box.sent(...Array.from({ length: 51 }, (_, n) => `${at} ${n}`))
    const { files } = await pullOnce(optionsFor(scene, box, { concurrency: 16 }))
    expect(files).toHaveLength(102)
    expect(new Set(files.map(({ id }) => id)).size).toBe(102)
  })
})

test('the client needs only Node', () => {
  const files = new Set<string>()
  const others = new Set<string>()
  const read = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/from '([^']+)'/g)) {
      if (name.startsWith('.')) read(path.join(path.dirname(file), name))
      else if (!name.startsWith('node:')) others.add(name)
    }
  }
  read(path.join(import.meta.dirname, '../../src/client.ts'))
  expect(files.size).toBeGreaterThan(15)
  expect([...others]).toEqual([])
})
