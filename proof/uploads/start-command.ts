/**
 * Starts the inbox through `jobmill-uploads start`, with existing mailboxes, to measure the memory of the
 * command alone.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, type Schema, STEPS, uploads } from 'jobmill-uploads'
import { memoryOf, type Place, type Running } from './start-server.ts'
import { endChild } from '../end-child.ts'

const COMMAND = fileURLToPath(new URL('../../packages/uploads/bin/jobmill-uploads.js', import.meta.url))

export async function startCommand(
  { database, blobs }: Pick<Place, 'database' | 'blobs'>,
  mailboxes: number,
): Promise<Pick<Running, 'url' | 'mailboxes' | 'memory' | 'stop'>> {
  const made = await makeMailboxes(database, mailboxes)
  const child = spawn(process.execPath, [COMMAND, 'start', '--port', '0', '--admin-port', '0'], {
    env: { ...process.env, DATABASE_URL: database, UPLOADS_BLOBS: blobs },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let url = ''
  for await (const line of createInterface(child.stdout)) {
    url = /^ready\s+(\S+);/.exec(line)?.[1] ?? ''
    if (url !== '') break
  }
  if (url === '') throw new Error('the inbox ended before it was ready')
  return {
    url,
    mailboxes: made,
    memory: () => memoryOf(child.pid),
    stop: () => endChild(child),
  }
}

async function makeMailboxes(database: string, count: number): Promise<Running['mailboxes']> {
  const { store, tables } = await openTables<Schema>(database, { app: 'uploads', steps: STEPS })
  // No files are uploaded here, so the blob store does not matter.
  const inbox = uploads({ tables, blobs: { ...directoryBlobs('.'), open: async () => {} } })
  await inbox.start()
  const made: { id: string; token: string }[] = []
  for (let n = 0; n < count; n += 1) {
    const { id } = await inbox.mailboxes.add({ name: `mailbox ${n}` })
    made.push({ id, token: (await inbox.tokens.add(id)).token })
  }
  await inbox.stop()
  await tables.close()
  await store.close?.()
  return made
}
