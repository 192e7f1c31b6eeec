/** The connection pool under faults, against a real server and against sockets that do not answer. */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { postgres } from '../../src/postgres.ts'
import { pool, type Pool, type PoolOptions } from '../../src/store-postgres/connection/pool.ts'
import { testPlatform } from '../../src/testing/kit/test-platform.ts'
import { aJob } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')

function aPool(options: Partial<PoolOptions> = {}): Pool {
  const made = pool({ url, most: 2, waitMs: 10_000, platform: systemPlatform, ...options })
  onTestFinished(() => made.end())
  return made
}

/** A server that accepts connections and handles them as the test says. */
async function aSocketServer(greet: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  // It closes no connection on its own.
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.resume()
    greet(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `postgres://me@127.0.0.1:${(server.address() as { port: number }).port}/db`
}

/** The greeting of a server that asks for no password, followed by "ready". */
const READY = Buffer.from('5200000008000000005a0000000549', 'hex')

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

describe('postgres pool', () => {
  test('returns a free connection synchronously, and the last used first', async () => {
    const clients = aPool()
    const [one, two] = [await clients.take(), await clients.take()]
    clients.give(one, true)
    clients.give(two, true)
    expect(clients.take()).toBe(two)
    expect(clients.take()).toBe(one)
    clients.give(one, true)
    clients.give(two, true)
  })

  test('makes callers wait for a returned connection when all are in use, in order of arrival', async () => {
    const clients = aPool({ most: 1 })
    const first = await clients.take()
    const got: number[] = []
    const waiting = [1, 2, 3].map(async (n) => {
      const client = await clients.take()
      got.push(n)
      clients.give(client, true)
    })
    clients.give(first, true)
    await Promise.all(waiting)
    expect(got).toEqual([1, 2, 3])
  })

  test('reports that all connections stay in use, and does not blame the server', async () => {
    const platform = testPlatform()
    const clients = aPool({ most: 1, platform })
    const inUse = await clients.take()
    const late = Promise.resolve(clients.take()).then(() => 'got one', messageOf)
    await platform.advance('10s')
    const said = await late
    clients.give(inUse, true)
    expect(said).toBe(
      'no connection was free within 10000 ms. ' +
        'Retry. If the error persists, end long transactions, or raise the option connections.',
    )
  })

  test('P16 opens another connection for one that was returned in an unknown state, or dropped by the server', async () => {
    const clients = aPool({ most: 1 })
    const first = await clients.take()
    clients.give(first, false)
    const second = await clients.take()
    expect(second).not.toBe(first)
    clients.give(second, true)
    const ended = new Promise<void>((resolve) => void second.once('end', resolve))
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    const { processID } = second as unknown as { processID: number }
    await admin.query('SELECT pg_terminate_backend($1)', [processID])
    await admin.end()
    await ended
    const third = await clients.take()
    expect(third).not.toBe(second)
    await third.query('SELECT 1')
    clients.give(third, true)
  })

  test('P16 reports at once that a client cannot be created, and survives', async () => {
    const missing = path.join(import.meta.dirname, 'no-such-certificate.pem')
    const clients = aPool({ url: `${url}?sslmode=verify-full&sslrootcert=${missing}` })
    await expect(Promise.resolve(clients.take())).rejects.toThrow('no-such-certificate')
    const store = postgres(`${url}?sslmode=verify-full&sslrootcert=${missing}`)
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  test('P16 does not hand out a connection that fails during its greeting', async () => {
    const fatal = Buffer.concat([Buffer.from('E\0\0\0\x1bSFATAL\0C57P01\0Mover\0\0', 'latin1')])
    fatal.writeUInt32BE(fatal.length - 1, 1)
    const clients = aPool({
      url: await aSocketServer((socket) => {
        socket.once('data', () => socket.end(Buffer.concat([READY, fatal])))
      }),
    })
    await expect(Promise.resolve(clients.take())).rejects.toThrow('over')
  })

  test('a failed connect rejects the caller it was made for, and no later one', async () => {
    const sockets: Socket[] = []
    const clients = aPool({ url: await aSocketServer((socket) => void sockets.push(socket)), most: 1 })
    const early = Promise.resolve(clients.take()).then(() => 'got one', messageOf)
    while (sockets.length === 0) await new Promise((resolve) => void setImmediate(resolve))
    const late = Promise.resolve(clients.take()).then(() => 'got one', messageOf)
    sockets[0]?.destroy()
    expect(await early).toMatch(/terminated|ECONNRESET/)
    // Another connection was made for the other call.
    while (sockets.length < 2) await new Promise((resolve) => void setImmediate(resolve))
    sockets[1]?.destroy()
    expect(await late).toMatch(/terminated|ECONNRESET/)
  })

  test('a failed connect is ignored if its caller got another connection', async () => {
    const sockets: Socket[] = []
    const clients = aPool({
      url: await aSocketServer((socket) => {
        sockets.push(socket)
        if (sockets.length !== 2) socket.once('data', () => socket.write(READY))
      }),
    })
    const first = await clients.take()
    const second = clients.take()
    while (sockets.length < 2) await new Promise((resolve) => void setImmediate(resolve))
    clients.give(first, true)
    expect(await second).toBe(first)
    const third = clients.take()
    sockets[1]?.destroy()
    const another = await third
    expect(another).not.toBe(first)
    clients.give(first, true)
    clients.give(another, true)
  })

  test('P16 a connection that was taken before the end works until it is returned', async () => {
    const clients = aPool()
    const client = await clients.take()
    const ended = clients.end()
    expect((await client.query('SELECT 1')).rowCount).toBe(1)
    clients.give(client, true)
    await ended
  })

  test('P16 ends while a server does not answer, including connections in progress', async () => {
    const sockets: Socket[] = []
    const clients = aPool({ url: await aSocketServer((socket) => void sockets.push(socket)) })
    const attempt = Promise.resolve(clients.take()).then(() => 'got one', messageOf)
    while (sockets.length === 0) await new Promise((resolve) => void setImmediate(resolve))
    const gone = once(sockets[0] as Socket, 'end')
    await clients.end()
    expect(await attempt).toBe('the connection pool is closed')
    await gone
    await expect(Promise.resolve(clients.take())).rejects.toThrow('the connection pool is closed')
  })

  test('P16 ends while a server does not answer, including idle connections', async () => {
    const sockets: Socket[] = []
    const clients = aPool({
      url: await aSocketServer((socket) => {
        sockets.push(socket)
        socket.once('data', () => socket.write(READY))
      }),
    })
    clients.give(await clients.take(), true)
    // The server receives the Terminate message, and does not close its side.
    await clients.end()
    expect(sockets[0]?.destroyed).toBe(false)
  })

  test('P16 a release that changes the return type of a function does not stop a running process', async () => {
    const schema = freshSchema(url, 'changed')
    const store = postgres(url, { schema, connections: 1, notifier: false })
    await store.open()
    onTestFinished(() => store.close())
    await store.enqueue([aJob()])
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    onTestFinished(() => admin.end())
    const { rows } = await admin.query<{ types: string; count: number }>(
      `SELECT (SELECT string_agg(format_type(t, NULL), ', ' ORDER BY n) FROM unnest(p.proargtypes) WITH ORDINALITY AS a(t, n)) AS types,
              p.pronargs::int4 AS count
         FROM pg_proc AS p WHERE p.proname = 'enqueue' AND p.pronamespace = '${schema}'::regnamespace ORDER BY p.pronargs DESC`,
    )
    const { types = '', count = 0 } = rows[0] ?? {}
    const passed = Array.from({ length: count }, (_, n) => `$${n + 1}`).join(', ')
    await admin.query(`ALTER FUNCTION ${schema}.enqueue(${types}) RENAME TO enqueue_before`)
    await admin.query(`
      CREATE FUNCTION ${schema}.enqueue(${types})
      RETURNS TABLE (the_jobs int4, at_ms int8, the_token int8, the_leased int4, the_walked jsonb, the_placed json, more int4) LANGUAGE sql AS $$
        SELECT o.*, 1 FROM ${schema}.enqueue_before(${passed}) AS o $$`)
    await store.enqueue([aJob()])
    expect((await store.counts())[0]).toMatchObject({ ready: 2 })
  })

  test('P15 a job whose statement lost its name is still notified', async () => {
    const schema = freshSchema(url, 'names')
    // So that no notification is delayed for being too soon after another.
    const platform = { ...systemPlatform, monotonic: () => systemPlatform.monotonic() * 1_000 }
    const here = postgres(url, { schema, connections: 1, platform })
    await here.open()
    onTestFinished(() => here.close())
    const there = new pg.Client({ connectionString: url })
    await there.connect()
    onTestFinished(() => there.end())
    await there.query(`LISTEN "jobmill ${schema}"`)
    const messages: unknown[] = []
    there.on('notification', (notify) => void messages.push(notify))
    const notifications = async (count: number): Promise<void> => {
      while (messages.length < count) await new Promise((resolve) => void setImmediate(resolve))
    }
    await here.enqueue([aJob()])
    await notifications(1)
    // What a pooler does between two of its clients.
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its own client below
    const original = pg.Client.prototype.query
    let isForgotten = false
    pg.Client.prototype.query = function forgets(this: pg.Client, ...args: unknown[]): unknown {
      if (!isForgotten && (args[0] as { name?: string }).name !== undefined) {
        isForgotten = true
        Reflect.apply(original, this, [{ text: 'DISCARD ALL' }, () => {}])
      }
      return Reflect.apply(original, this, args)
    } as typeof original
    onTestFinished(() => void (pg.Client.prototype.query = original))
    const warned = new Promise<Error>((resolve) => void process.once('warning', resolve))
    await here.enqueue([aJob()])
    expect(isForgotten).toBe(true)
    expect(await warned).toMatchObject({
      name: 'JobmillWarning',
      code: 'STATEMENT_NAMES_LOST',
      message: expect.stringContaining('Named statements are now disabled') as string,
    })
    // The first of two followed the statement that failed, the second the one that made the job.
    await notifications(3)
    await here.enqueue([aJob()])
    await notifications(4)
    expect((await here.counts())[0]).toMatchObject({ ready: 3 })
  })
})
