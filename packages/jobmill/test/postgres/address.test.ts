/** N7: the address and login of a pool, of connection settings and of URLs. Runs without a database. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../src/postgres.ts'
import { newClient } from '../../src/store-postgres/connection/driver.ts'
import { addressOf, secondAddress } from '../../src/store-postgres/connection/server-address.ts'
import { rejection } from '../unit/support.ts'

/** A server that records the first byte of each connection, and closes it. */
async function recorder(): Promise<{ readonly port: number; readonly first: number[] }> {
  const first: number[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => {
      first.push(data[0] ?? -1)
      socket.destroy()
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, first }
}

const TLS_HANDSHAKE = 0x16
const fresh = (): string => 'fresh'

test('N7 direct TLS negotiation of a pool and of connection settings is used', async () => {
  const { port, first } = await recorder()
  const ssl = { rejectUnauthorized: false }
  const settings = { host: '127.0.0.1', port, user: 'u', database: 'd', password: 'x', ssl }
  const direct = { ...settings, sslnegotiation: 'direct' as const }
  const open = async (options: Parameters<typeof postgres>[0]): Promise<number[]> => {
    const store = postgres(options)
    await rejection(() => store.open())
    await store.close()
    return [...new Set(first.splice(0))]
  }
  expect(await open({ pool: new pg.Pool(direct), notifier: false })).toEqual([TLS_HANDSHAKE])
  expect(await open({ connection: direct, notifier: false })).toEqual([TLS_HANDSHAKE])
  // Without it, the client asks for TLS in the PostgreSQL protocol first.
  expect(await open({ connection: settings, notifier: false })).toEqual([0])
})

test('N7 the notifier uses the TLS negotiation and channel binding of the pool', () => {
  const pool = new pg.Pool({
    host: 'h',
    user: 'u',
    password: 'x',
    ssl: true,
    sslnegotiation: 'direct',
    enableChannelBinding: true,
  })
  expect(secondAddress('postgres://u@direct/d', addressOf({ pool }), {})).toMatchObject({
    ssl: true,
    sslnegotiation: 'direct',
    enableChannelBinding: true,
  })
  const own = secondAddress('postgres://u@direct/d?sslmode=require', addressOf({ pool }), {})
  expect(own).toMatchObject({ enableChannelBinding: true })
  expect(own).not.toHaveProperty('sslnegotiation')
})

test('N7 channel binding of a pool and of connection settings is used', () => {
  const settings = { host: 'h', user: 'u', enableChannelBinding: true }
  for (const given of [{ pool: new pg.Pool(settings) }, { connection: settings }])
    expect(newClient(addressOf(given))).toMatchObject({ enableChannelBinding: true })
})

test('N7 invalid TLS negotiation and channel binding are refused by name', () => {
  expect(() => postgres({ connection: { sslnegotiation: 'directly' } as object })).toThrow(
    'connection.sslnegotiation: must be "postgres" or "direct" (got "directly")',
  )
  expect(() => postgres({ connection: { enableChannelBinding: 'yes' } as object })).toThrow(
    'connection.enableChannelBinding: must be a boolean (got "yes")',
  )
})

test('N7 ssl next to TLS parameters in the URL of connection is refused', () => {
  for (const parameter of ['sslmode=disable', 'ssl=false', 'application_name=a&sslmode=require'])
    expect(() =>
      postgres({ connection: { connectionString: `postgres://u@h/d?${parameter}`, ssl: { ca: 'x' } } }),
    ).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', field: 'connection.ssl' }))
})

test('N7 the password of connection wins over the one in its URL, as the option password does', () => {
  const connectionString = 'postgres://u:static@h/d'
  const password = fresh
  expect(newClient(addressOf({ connection: { connectionString, password } }))).toMatchObject({ password })
  expect(newClient(addressOf({ connection: { connectionString }, password }))).toMatchObject({ password })
  // A pool connects with the password in its URL, so the store does too.
  const pool = new pg.Pool({ connectionString, password })
  expect(newClient(addressOf({ pool }))).toMatchObject({ password: 'static' })
})

test('N7 a URL whose password has an unencoded # or ? is refused without its parts', () => {
  for (const url of ['postgres://app:1234#Zk9@db/x', 'postgres://app:1234?Zk9@db/x']) {
    for (const call of [
      (): unknown => postgres(url),
      (): unknown => postgres({ connection: { connectionString: url } }),
      (): unknown => postgres('postgres://app@db/x', { notifier: url }),
    ]) {
      expect(call).toThrow('is not the URL of a PostgreSQL server')
      expect(call).not.toThrow(/1234|Zk9/)
    }
  }
  expect(postgres('postgres://app@db/x?application_name=a%40b').name).toBe('postgres app@db/x')
})

test('N7 the error for a password function that returns no string names only the type', async () => {
  for (const [answer, type] of [
    [83_741_234, 'number'],
    [{ Zk9xQ2pLm: 83_741_234 }, 'object'],
    [null, 'null'],
  ] as const) {
    const password = (): string => answer as unknown as string
    const store = postgres('postgres://app@127.0.0.1/x', { password, notifier: false })
    const { message } = await rejection(() => store.open())
    await store.close()
    expect(message).toContain(`the password function did not return a string (got ${type})`)
    expect(message).not.toMatch(/83741234|Zk9/)
  }
})
