/**
 * A backup is moved over the file while another process has it open and makes no call. The log of the old
 * file is then at the path of the new one, and SQLite would use it for both.
 */
import { renameSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { aJob } from '../../../conformance/src/factories.ts'
import { sqlite } from '../../src/sqlite.ts'
import { startProcess } from '../processes/children.ts'
import { openStore } from './support.ts'

/** Another process with the file open. `enqueue` answers with the id of a job, or with an error code. */
async function idleProcess(file: string) {
  const started = startProcess('store-process.ts', {
    place: { store: 'sqlite', at: file },
    task: 'enqueue-on-request',
  })
  const { messages } = started
  await started.untilMessages(({ length }) => length === 1)
  return {
    first: messages[0] ?? '',
    pid: started.child.pid ?? 0,
    signal: (name: 'SIGSTOP' | 'SIGCONT') => started.child.kill(name),
    async enqueue(): Promise<string> {
      const before = messages.length
      started.tell({})
      await started.untilMessages(({ length }) => length > before)
      return messages.at(-1) ?? ''
    },
    async stop() {
      started.tell({ end: true })
      await started.ended
    },
  }
}

function backUp(file: string): string {
  const copy = `${file}.backup`
  const database = new Database(file)
  database.exec(`VACUUM INTO '${copy}'`)
  database.close()
  return copy
}

function idsIn(file: string): unknown[] {
  const database = new Database(file)
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    return database.prepare('SELECT id FROM jobmill_job').pluck().all()
  } finally {
    database.close()
  }
}

describe('a file that is replaced while a process with a log is idle', () => {
  test.each(['a call', 'its stop'])(
    'D6 P1 a store that opens the backup loses no acknowledged job to %s of that process',
    async (what) => {
      const file = freshFile()
      const idle = await idleProcess(file)
      const kept = await idle.enqueue()
      const backup = backUp(file)
      const removed = [await idle.enqueue(), await idle.enqueue()]
      renameSync(backup, file)

      const store = await openStore(file)
      const acknowledged: unknown[] = [kept]
      for (let n = 0; n < 5; n += 1) {
        const job = aJob()
        await store.enqueue([job])
        acknowledged.push(job.id)
      }
      // Its first call may be refused, because it notices the change. The next one uses the new file.
      const answers = what === 'a call' ? [await idle.enqueue(), await idle.enqueue()] : [aJob().id]
      expect(answers.at(-1)).toContain('-')
      if (what === 'a call') acknowledged.push(...answers.filter((answer) => answer.includes('-')))
      await idle.stop()
      await store.close()

      expect(idsIn(file)).toEqual(expect.arrayContaining(acknowledged))
      // The backup does not have them, and the log of the old file is not applied to it.
      for (const id of removed) expect(idsIn(file)).not.toContain(id)
    },
  )

  test('D6 P1 while that process stands still, the backup is not opened, and the error names the process', async () => {
    const file = freshFile()
    const idle = await idleProcess(file)
    onTestFinished(() => void idle.signal('SIGCONT'))
    await idle.enqueue()
    const backup = backUp(file)
    await idle.enqueue()
    idle.signal('SIGSTOP')
    renameSync(backup, file)

    const store = sqlite(file, { busyDeadline: '200ms' })
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining(`process ${idle.pid} still has the replaced file open`) as string,
    })
  })
})
