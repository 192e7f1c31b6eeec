// A path that leads through a symbolic link, which is changed while the file is open.
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { aJob } from '../../../conformance/src/factories.ts'
import { freshFile, openStore } from './support.ts'

interface Scene {
  readonly path: string
  /** The file that the path leads to at first. */
  readonly old: string
  readonly copy: string
  readonly point: (release: 'r1' | 'r2') => void
}

const SCENES: Readonly<Record<string, (folder: string) => Pick<Scene, 'path' | 'point'>>> = {
  folder: (folder) => ({
    path: join(folder, 'current', 'jobs.db'),
    point: (release) => pointLink(join(folder, 'current'), release),
  }),
  file: (folder) => ({
    path: join(folder, 'current.db'),
    point: (release) => pointLink(join(folder, 'current.db'), join(release, 'jobs.db')),
  }),
}

const REMOVED: Readonly<Record<string, (old: string) => void>> = {
  'the old file is removed with its logs': (old) => rmSync(dirname(old), { recursive: true }),
  'only the old file is removed': (old) => rmSync(old),
  'another file takes the place of the old one': (old) => {
    rmSync(dirname(old), { recursive: true })
    mkdirSync(dirname(old))
    new Database(old).exec('CREATE TABLE person (name TEXT)').close()
  },
}

describe.each(Object.keys(SCENES))('sqlite through a link to a %s', (kind) => {
  test.for(Object.entries(REMOVED))(
    'D3 the link leads to a copy, and %s: the next call opens the copy',
    async ([, remove]) => {
      const { path, old, copy, point } = scene(kind)
      const store = await openStore(path)
      const before = aJob()
      await store.enqueue([before])
      await copyThroughSqlite(old, copy)
      point('r2')
      remove(old)
      await expect(store.counts()).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('Retry the call: it opens the new file') as string,
      })
      const after = aJob()
      await store.enqueue([after])
      expect(jobsIn(copy)).toEqual([before.id, after.id].toSorted())
    },
  )

  test('D3 the old file is removed first: calls are refused until the link leads to a copy', async () => {
    const { path, old, copy, point } = scene(kind)
    const store = await openStore(path)
    const before = aJob()
    await store.enqueue([before])
    await copyThroughSqlite(old, copy)
    rmSync(old)
    await expect(store.counts()).rejects.toThrow(/there is no file at its path/)
    await expect(store.counts()).rejects.toThrow(/there is no file at its path/)
    point('r2')
    const after = aJob()
    await store.enqueue([after])
    expect(jobsIn(copy)).toEqual([before.id, after.id].toSorted())
  })

  test('D3 the logs of the copy are deleted: a store continues while another of its process is idle', async () => {
    const { path, old, copy, point } = scene(kind)
    const stores = [await openStore(path), await openStore(path)]
    await copyThroughSqlite(old, copy)
    point('r2')
    for (const store of stores) await store.counts().catch(() => store.counts())
    for (const log of ['-wal', '-shm']) rmSync(`${copy}${log}`)
    await expect(stores[0]?.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await stores[0]?.counts()).toEqual([])
  })
})

function scene(kind: string): Scene {
  const folder = dirname(freshFile())
  const [old, copy] = [join(folder, 'r1', 'jobs.db'), join(folder, 'r2', 'jobs.db')]
  for (const file of [old, copy]) mkdirSync(dirname(file))
  const made = SCENES[kind]?.(folder)
  if (made === undefined) throw new Error(kind)
  made.point('r1')
  return { ...made, old, copy }
}

/** In one step, as a release does it. */
function pointLink(link: string, target: string): void {
  symlinkSync(target, `${link}.new`)
  renameSync(`${link}.new`, link)
}

async function copyThroughSqlite(from: string, to: string): Promise<void> {
  const handle = new Database(from)
  await handle.backup(to)
  handle.close()
}

function jobsIn(file: string): string[] {
  const db = new Database(file, { fileMustExist: true })
  try {
    const rows = db.prepare('SELECT id FROM jobmill_job ORDER BY id').all() as { readonly id: string }[]
    return rows.map(({ id }) => id)
  } finally {
    db.close()
  }
}
