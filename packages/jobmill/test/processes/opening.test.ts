/** A process that is terminated while its start waits for a database that never answers. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { type Started, startProcess } from './children.ts'
import type { OpeningProcess } from './opening-process.ts'

/** AuthenticationOk and ReadyForQuery. */
const WELCOME = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1')

const startOpening = (task: OpeningProcess): Started => startProcess('opening-process.ts', task)

/**
 * A server that sends these replies, one for each packet, and then nothing. It closes its connections only at
 * the end of the test. `silent` resolves when a packet gets no reply.
 */
async function silentServer(replies: readonly Buffer[]): Promise<{ url: string; silent: Promise<void> }> {
  const sockets = new Set<Socket>()
  const silent = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const left = [...replies]
    socket.on('error', () => {})
    socket.on('data', () => {
      const reply = left.shift()
      if (reply === undefined) silent.resolve()
      else socket.write(reply)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return { url: `postgres://ada@127.0.0.1:${port}/shop`, silent: silent.promise }
}

/** The failure of these tests is a process that does not end. */
const timeout = 30_000

test(
  'D9 P6 SIGTERM ends a process whose PostgreSQL server never answers, or answers no statement',
  async () => {
    const servers = [await silentServer([]), await silentServer([WELCOME])]
    const processes = servers.map(({ url }) => startOpening({ store: 'postgres', at: url }))
    await Promise.all(servers.map(({ silent }) => silent))
    for (const { child } of processes) child.kill('SIGTERM')
    await Promise.all(processes.map(({ ended }) => ended))
    for (const { messages } of processes) expect(messages).toEqual(['starting', 'rejected MILL_STOPPED'])
  },
  timeout,
)

test(
  'D9 P6 SIGTERM ends a process whose SQLite file is locked',
  async () => {
    const file = freshFile()
    const other = new Database(file)
    onTestFinished(() => void other.close())
    other.exec('BEGIN EXCLUSIVE')
    const process = startOpening({ store: 'sqlite', at: file })
    await process.untilMessages((messages) => messages.includes('starting'))
    process.child.kill('SIGTERM')
    await process.ended
    expect(process.messages).toEqual(['starting', 'rejected MILL_STOPPED'])
  },
  timeout,
)
