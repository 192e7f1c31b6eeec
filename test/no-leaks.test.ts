// Tests the leak check: each kind of leak is planted here, reported, and removed again.
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { defineJob, jobmill, type FullStore } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { faultyStore, testMill } from 'jobmill/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { systemPlatform } from '../packages/jobmill/src/platform/platform.ts'
import { sleep } from '../packages/jobmill/src/platform/sleep.ts'
import { freshFile, freshSchema } from './support/databases.ts'
import { begin, patience } from './support/leaks/check.ts'
import { aliveInFile, aliveInSchema } from './support/leaks/instance-rows.ts'

const usual = patience.ms
beforeAll(() => void (patience.ms = 100))
afterAll(() => void (patience.ms = usual))

type TakeAway = () => unknown

const ignore = (): void => {}
const job = defineJob({ kind: 'any', run: () => {} })

async function listening(): Promise<{ port: number; close: TakeAway }> {
  const server = createServer((socket) => socket.resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

const leaks: readonly (readonly [
  what: string,
  message: RegExp,
  plant: () => TakeAway | Promise<TakeAway>,
])[] = [
  [
    'a timer',
    /^timer: setTimeout of 60000 ms, made at .*no-leaks\.test\.ts/,
    () => {
      const timer = setTimeout(() => {}, 60_000)
      return () => clearTimeout(timer)
    },
  ],
  [
    'a timer of the platform that keeps nothing alive',
    /^timer: setTimeout of 60000 ms, made at .*platform\.ts/,
    () => {
      const timer = systemPlatform.timer(60_000, () => {}, { unref: true })
      return () => timer.cancel()
    },
  ],
  [
    'an interval',
    /^timer: setInterval of 60000 ms/,
    () => {
      const timer = setInterval(() => {}, 60_000)
      return () => clearInterval(timer)
    },
  ],
  [
    'a socket and a server',
    /^server: listening on .*127\.0\.0\.1/,
    async () => {
      const { port, close } = await listening()
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return () => (socket.destroy(), close())
    },
  ],
  [
    'a connection to PostgreSQL',
    /^socket: to 127\.0\.0\.1 port \d+/,
    async () => {
      const client = new pg.Client({ connectionString: inject('postgresUrl') })
      await client.connect()
      return () => client.end()
    },
  ],
  [
    'a listener of the process',
    /^listener: 1 more of the process for SIGTERM/,
    () => {
      process.on('SIGTERM', ignore)
      return () => process.off('SIGTERM', ignore)
    },
  ],
  [
    'many listeners on one thing',
    /^listener: Possible EventEmitter memory leak detected/,
    async () => {
      const emitter = new EventEmitter()
      for (let n = 0; n < 11; n += 1) emitter.on('any', () => {})
      await nextTurn()
      return () => {}
    },
  ],
  [
    'a listener of the product on a signal',
    /^abort listener: on a signal that has not fired, made at .*sleep\.ts/,
    () => {
      const stop = new AbortController()
      void sleep(systemPlatform, 60_000, stop.signal)
      return () => stop.abort()
    },
  ],
  [
    'a child',
    /^child: process \d+, sleep 60/,
    () => {
      const child = spawn('sleep', ['60'], { stdio: 'ignore' })
      child.unref()
      return async () => (child.kill(), void (await once(child, 'exit')))
    },
  ],
  [
    'a thread',
    /^thread: thread \d+/,
    async () => {
      const thread = new Worker('setInterval(() => {}, 1000)', { eval: true })
      await once(thread, 'online')
      return () => thread.terminate()
    },
  ],
  [
    'an open file',
    /^file: .*jobmill-left-open is open/,
    () => {
      const file = opened('left-open')
      return () => closeSync(file)
    },
  ],
  [
    'a store in memory',
    /^SQLite handle: :memory:, made at /,
    async () => {
      const store = sqlite(':memory:')
      await store.open()
      return () => store.close()
    },
  ],
  [
    'a mill',
    /^mill: \S+, started and not stopped/,
    async () => {
      const mill = await testMill({ jobs: [job] })
      return () => mill.stop()
    },
  ],
  [
    'what measures the event loop',
    /^gauge: of the event loop/,
    () => {
      const gauges = systemPlatform.gauges()
      return () => gauges.stop()
    },
  ],
  [
    'a timer on the clock of a test',
    /^test clock: 1 timers, with all its mills stopped/,
    async () => {
      const mill = await testMill({ jobs: [job] })
      await mill.stop()
      const timer = mill.platform.timer(1_000, () => {})
      return () => timer.cancel()
    },
  ],
]

const opened = (name: string): number => openSync(join(tmpdir(), `jobmill-${name}`), 'w')

describe('the check after each test', () => {
  test.each(leaks)('reports %s, and nothing once it is gone', async (_, message, plant) => {
    const check = begin()
    const takeAway = await plant()
    const left = await check.left()
    await takeAway()
    expect(left).toContainEqual(expect.stringMatching(message))
    patience.ms = usual
    expect(await check.left()).toEqual([])
    patience.ms = 100
  })

  test('skips what a file shares among its tests, until its end', async () => {
    const ofFile = begin()
    const { port, close } = await listening()
    const ofTest = begin()
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    const timer = setTimeout(() => {}, 60_000)
    const left = [await ofTest.left(), await ofFile.left()]
    clearTimeout(timer)
    socket.destroy()
    close()
    expect(left[0]).not.toContainEqual(expect.stringMatching(/^timer|^server/))
    expect(left[1]).toContainEqual(expect.stringMatching(/^timer/))
  })

  test('does not report descriptors that SQLite keeps for a closed handle while another is open', async () => {
    const file = freshFile()
    const first = new DatabaseSync(file)
    first.exec('PRAGMA journal_mode = WAL; CREATE TABLE any (a)')
    const check = begin()
    const second = new DatabaseSync(file)
    second.exec('INSERT INTO any VALUES (1)')
    const left = await check.left()
    second.close()
    expect(left).toEqual([`file: ${file}-wal is open`])
    expect(await check.left()).toEqual([])
    first.close()
  })

  test('recognizes a file that was opened in the place of another before the test', async () => {
    const before = opened('before')
    begin()
    closeSync(before)
    const instead = opened('instead')
    const check = begin()
    const later = opened('later')
    const left = await check.left()
    for (const file of [instead, later]) closeSync(file)
    expect(left).toEqual([expect.stringContaining('jobmill-later is open')])
  })

  test('kills the processes of a failed test, including a stopped one, and no others', async () => {
    const earlier = spawn('sleep', ['60'])
    const check = begin()
    const child = spawn('sleep', ['60'])
    child.kill('SIGSTOP')
    const ended = once(child, 'exit')
    check.breakOff()
    expect(await ended).toEqual([null, 'SIGKILL'])
    expect(earlier.signalCode).toBeNull()
    earlier.kill()
    await once(earlier, 'exit')
  })

  let forgotten: NodeJS.Timeout
  // oxlint-disable-next-line vitest/expect-expect -- that it fails is what is expected
  test.fails('is made: a test that leaves a timer fails', () => {
    forgotten = setTimeout(() => {}, 60_000)
  })
  afterAll(() => clearTimeout(forgotten))
})

/** A mill that was stopped but could not write that to the database. */
async function stoppedUnheard(plain: FullStore<never>): Promise<string> {
  const store = faultyStore(plain)
  const mill = jobmill({ store, jobs: [job], log: 'silent' })
  await mill.start()
  store.fail('instances.deregister', { times: Infinity })
  await mill.stop({ grace: 0 })
  return mill.instance.id
}

describe('the check at the end of a file reports an instance that is alive after its mill stopped', () => {
  test('in a SQLite file', async () => {
    const file = freshFile()
    const id = await stoppedUnheard(sqlite(file))
    expect(aliveInFile(file)).toEqual([expect.stringContaining(`instance: ${id} in ${file} is alive`)])
    const store = sqlite(file)
    await store.open()
    await store.instances.deregister(id)
    await store.close()
    expect(aliveInFile(file)).toEqual([])
  })

  test('in a schema', async () => {
    const url = inject('postgresUrl')
    const schema = freshSchema(url, 'leaks')
    const id = await stoppedUnheard(postgres(url, { schema }))
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const left = await aliveInSchema(client, schema)
    await client.query(`update ${schema}.instance set ended_at = 1`)
    expect([left, await aliveInSchema(client, schema)]).toEqual([
      [expect.stringContaining(`instance: ${id} in ${schema} is alive`)],
      [],
    ])
    await client.end()
  })
})
