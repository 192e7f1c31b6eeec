/**
 * The SQLite file changes while a real inbox runs on it: every acknowledged upload is in the file at its
 * path, also after the process is killed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshFile } from '../../../test/support/databases.ts'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { bundled } from '../../../test/support/programs/programs.ts'
import { kill, startProcess } from '../../jobmill/test/processes/children.ts'
import { formOf } from './support/inboxes.ts'
import { type } from './support/type.ts'

const MAIN = path.join(import.meta.dirname, '../src/cli/main.ts')
const PATIENCE = { timeout: 20_000, interval: 20 }

function envOf(file: string): Record<string, string> {
  return { DATABASE_URL: file, UPLOADS_BLOBS: path.join(path.dirname(file), 'blobs') }
}

interface Running {
  /** The id of the acknowledged file, or the status of the refusal. */
  readonly upload: () => Promise<string | number>
  /** Retries until an upload is acknowledged. */
  readonly uploaded: () => Promise<string>
  readonly isReady: () => Promise<boolean>
  readonly kill: () => Promise<void>
}

/** An inbox with its mill, in a process of its own. */
async function running(file: string): Promise<Running> {
  const child = spawn(process.execPath, [bundled(MAIN), 'start', '--port', '0', '--admin-port', '0'], {
    cwd: path.dirname(file),
    env: { ...process.env, ...envOf(file) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'close')
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(end)
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  await vi.waitUntil(() => /^ready /m.test(out), PATIENCE)
  const url = /^ready {3}(\S+);/m.exec(out)?.[1] ?? ''
  const added = await type(['mailboxes', 'add', 'box', '--json'], envOf(file))
  const { id, token } = JSON.parse(added.out) as { id: string; token: string }
  async function upload(): Promise<string | number> {
    const response = await fetch(`${url}/mailboxes/${id}/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, connection: 'close' },
      body: formOf([{ bytes: 'hello' }]),
    })
    const { files } = (await response.json()) as { files?: { id: string }[] }
    return files?.[0]?.id ?? response.status
  }
  return {
    upload,
    uploaded: () =>
      vi.waitFor(async () => {
        const id = await upload()
        if (typeof id === 'number') throw new Error(`refused with ${id}`)
        return id
      }, PATIENCE),
    isReady: async () => (await fetch(`${url}/readyz`, { headers: { connection: 'close' } })).ok,
    kill: end,
  }
}

function backUp(file: string): string {
  const database = new Database(file)
  database.exec(`VACUUM INTO '${file}.bak'`)
  database.close()
  return `${file}.bak`
}

/** The ids that are not in the file, which must be intact. */
function lostFrom(file: string, ids: readonly string[]): string[] {
  const database = new Database(file)
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    const there = new Set(database.prepare('SELECT id FROM uploads_file').pluck().all())
    return ids.filter((id) => !there.has(id))
  } finally {
    database.close()
  }
}

function lostLogs(file: string): string[] {
  return ['-wal', '-shm'].filter((log) => !existsSync(`${file}${log}`))
}

const CHANGES: Readonly<Record<string, (file: string) => void>> = {
  'a backup is moved into place': (file) => renameSync(backUp(file), file),
  'the -wal file is deleted': (file) => rmSync(`${file}-wal`),
  'the -shm file is deleted': (file) => rmSync(`${file}-shm`),
  'both logs are deleted': (file) => ['-wal', '-shm'].forEach((log) => rmSync(`${file}${log}`)),
}

describe('D3 P1 the file of a running inbox', { timeout: 60_000 }, () => {
  test.each(inFull(Object.entries(CHANGES), Object.entries(CHANGES).slice(0, 2)))(
    '%s: no acknowledged upload is lost, and its mill continues',
    async (_name, change) => {
      const file = freshFile()
      const inbox = await running(file)
      const before = [await inbox.uploaded(), await inbox.uploaded()]
      change(file)
      // Each call is refused, or what it acknowledges is in the file.
      const answers = [await inbox.upload(), await inbox.uploaded(), await inbox.uploaded()]
      await vi.waitUntil(inbox.isReady, PATIENCE)
      await inbox.kill()
      const acknowledged = answers.filter((id) => typeof id === 'string')
      expect(lostFrom(file, [...before, ...acknowledged])).toEqual([])
    },
  )

  test('both logs are deleted while the inbox is idle: its mill continues', async () => {
    const file = freshFile()
    const inbox = await running(file)
    const before = await inbox.uploaded()
    for (const log of ['-wal', '-shm']) rmSync(`${file}${log}`)
    // The mill creates the new logs when it reopens the file.
    await vi.waitUntil(() => lostLogs(file).length === 0, PATIENCE)
    await vi.waitUntil(inbox.isReady, PATIENCE)
    const after = await inbox.uploaded()
    await inbox.kill()
    expect(lostFrom(file, [before, after])).toEqual([])
  })

  test('a command refuses a file with logs that were deleted under another process', async () => {
    const file = freshFile()
    const add = (): ReturnType<typeof type> => type(['mailboxes', 'add', 'box'], envOf(file))
    await add()
    const other = startProcess('store-process.ts', {
      place: { store: 'sqlite', at: file },
      task: 'enqueue-on-request',
    })
    await other.untilMessages(({ length }) => length === 1)
    other.tell({})
    await other.untilMessages(({ length }) => length === 2)
    for (const log of ['-wal', '-shm']) rmSync(`${file}${log}`)
    const { code, err } = await add()
    expect([code, err]).toEqual([
      4,
      expect.stringContaining(`process ${other.child.pid} still has the old one open`),
    ])
    expect(lostLogs(file)).toEqual(['-wal', '-shm'])
    // The process continues, and nothing that it acknowledged is lost.
    other.tell({})
    await other.untilMessages(({ length }) => length === 3)
    other.tell({})
    await other.untilMessages(({ length }) => length === 4)
    await kill(other)
    expect((await add()).code).toBe(0)
    const database = new Database(file)
    const ids = database.prepare('SELECT id FROM jobmill_job').pluck().all()
    database.close()
    expect(ids).toEqual(expect.arrayContaining([other.messages[1], other.messages[3]]))
  })
})
